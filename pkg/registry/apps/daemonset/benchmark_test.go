// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// The benchmarks take a DaemonSet of two containers through what is ours of a request, on our strategies and on
// upstream's: decoding with defaults, the strategy with the library's validation around it, and the way back to v1.
// Encoding, admission and storage are the library's on both sides, and are left out.

func twoContainers() *appsv1.DaemonSet {
	ds := minimal()
	ds.Labels = map[string]string{"app": "x", "tier": "node"}
	ds.Annotations = map[string]string{"example.com/owner": "team"}
	container := func(name string) corev1.Container {
		return corev1.Container{
			Name: name, Image: "registry.example.com/" + name + ":v1.2.3", Args: []string{"--v=2", "--port=8080"},
			Ports: []corev1.ContainerPort{{Name: name, ContainerPort: 8080}},
			Env: []corev1.EnvVar{
				{Name: "NODE", ValueFrom: &corev1.EnvVarSource{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "spec.nodeName"}}},
				{Name: "MODE", Value: "fast"},
			},
			Resources: corev1.ResourceRequirements{
				Requests: corev1.ResourceList{"cpu": resource.MustParse("100m"), "memory": resource.MustParse("200Mi")},
				Limits:   corev1.ResourceList{"memory": resource.MustParse("500Mi")},
			},
			VolumeMounts:  []corev1.VolumeMount{{Name: "logs", MountPath: "/var/log"}},
			LivenessProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/healthz", Port: intstr.FromInt32(8080)}}},
		}
	}
	pod := &ds.Spec.Template.Spec
	pod.Containers = []corev1.Container{container("agent"), container("sidecar")}
	pod.Volumes = []corev1.Volume{{Name: "logs", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/var/log"}}}}
	pod.Tolerations = []corev1.Toleration{{Key: "node-role.kubernetes.io/control-plane", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}}
	pod.ServiceAccountName = "agent"
	return ds
}

// servers are what a benchmark compares.
func servers(b *testing.B) map[string]server {
	b.Helper()
	return map[string]server{"ours": newOurs(b), "upstream": newOracle()}
}

func BenchmarkDecode(b *testing.B) {
	data := body(b, twoContainers())
	for name, server := range servers(b) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := server.decode(data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkCreate(b *testing.B) {
	data := body(b, twoContainers())
	for name, server := range servers(b) {
		b.Run(name, func(b *testing.B) {
			ctx := requestContext(b.Context(), &warnings{}, "")
			b.ReportAllocs()
			for b.Loop() {
				obj, err := server.decode(data)
				if err != nil {
					b.Fatal(err)
				}
				fillSystemFields(obj)
				if err := server.create(ctx, obj); err != nil {
					b.Fatal(err)
				}
				if _, err := server.encode(obj); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkUpdate changes an image, BenchmarkUpdateOfMetadata a label, BenchmarkUpdateOfStatus a counter.
func BenchmarkUpdate(b *testing.B) {
	benchmarkUpdate(b, "", func(ds *appsv1.DaemonSet) {
		ds.Spec.Template.Spec.Containers[1].Image = "registry.example.com/sidecar:v1.2.4"
	})
}

func BenchmarkUpdateOfMetadata(b *testing.B) {
	benchmarkUpdate(b, "", func(ds *appsv1.DaemonSet) { ds.Labels["tier"] = "edge" })
}

func BenchmarkUpdateOfStatus(b *testing.B) {
	benchmarkUpdate(b, "status", func(ds *appsv1.DaemonSet) { ds.Status.NumberReady = 7 })
}

func benchmarkUpdate(b *testing.B, subresource string, change func(*appsv1.DaemonSet)) {
	for name, server := range servers(b) {
		b.Run(name, func(b *testing.B) {
			old := createdFrom(b, server, body(b, twoContainers()))
			stored, err := server.encode(old)
			if err != nil {
				b.Fatal(err)
			}
			changed := stored.DeepCopy()
			changed.TypeMeta = twoContainers().TypeMeta
			change(changed)
			data, ctx := body(b, changed), requestContext(b.Context(), &warnings{}, subresource)
			b.ReportAllocs()
			for b.Loop() {
				obj, err := server.decode(data)
				if err != nil {
					b.Fatal(err)
				}
				if err := server.update(ctx, subresource, obj, old); err != nil {
					b.Fatal(err)
				}
				if _, err := server.encode(obj); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkStrategyUpdate is BenchmarkUpdate without decoding and encoding.
func BenchmarkStrategyUpdate(b *testing.B) {
	for name, server := range servers(b) {
		b.Run(name, func(b *testing.B) {
			old := createdFrom(b, server, body(b, twoContainers()))
			changed := twoContainers()
			changed.Spec.Template.Spec.Containers[1].Image = "registry.example.com/sidecar:v1.2.4"
			obj, err := server.decode(body(b, changed))
			if err != nil {
				b.Fatal(err)
			}
			ctx := requestContext(b.Context(), &warnings{}, "")
			b.ReportAllocs()
			for b.Loop() {
				if err := server.update(ctx, "", obj, old); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func createdFrom(b *testing.B, server server, data []byte) runtime.Object {
	b.Helper()
	obj, err := server.decode(data)
	if err != nil {
		b.Fatal(err)
	}
	fillSystemFields(obj)
	if err := server.create(requestContext(b.Context(), &warnings{}, ""), obj); err != nil {
		b.Fatal(err)
	}
	return obj
}
