// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"encoding/json"
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	upstreamapps "k8s.io/kubernetes/pkg/apis/apps"
	appsfuzzer "k8s.io/kubernetes/pkg/apis/apps/fuzzer"
	corefuzzer "k8s.io/kubernetes/pkg/apis/core/fuzzer"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/randfill"
)

// minimal is the shortest DaemonSet that is valid, as clients send it.
func minimal() *appsv1.DaemonSet {
	return &appsv1.DaemonSet{
		TypeMeta:   metav1.TypeMeta{APIVersion: "apps/v1", Kind: "DaemonSet"},
		ObjectMeta: metav1.ObjectMeta{Name: "d", Namespace: namespace, ResourceVersion: "1"},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
			},
		},
	}
}

// mutation is one thing that clients do to a DaemonSet. n is a random number for mutations that want one.
type mutation func(ds *appsv1.DaemonSet, n int)

// harmless mutations keep a valid object valid.
func harmless() []mutation {
	return slices.Concat(harmlessMetadata(), harmlessSpec(), harmlessTemplate())
}

func harmlessMetadata() []mutation {
	return []mutation{
		func(ds *appsv1.DaemonSet, _ int) { ds.Annotations = map[string]string{"a": "b"} },
		func(ds *appsv1.DaemonSet, n int) { annotate(ds, fmt.Sprint(n%20-3)) },
		func(ds *appsv1.DaemonSet, n int) { annotate(ds, fmt.Sprintf("+00%d", n%20)) },
		func(ds *appsv1.DaemonSet, _ int) { annotate(ds, "9223372036854775807") },
		func(ds *appsv1.DaemonSet, n int) { ds.Generation = int64(n % 60) },
		func(ds *appsv1.DaemonSet, n int) { ds.Labels = map[string]string{"l": fmt.Sprint(n % 3)} },
		func(ds *appsv1.DaemonSet, _ int) { ds.SelfLink = "/apis/apps/v1/x" },
		func(ds *appsv1.DaemonSet, _ int) { ds.SelfLink = "deprecated.daemonset.template.generation=44;x" },
		func(ds *appsv1.DaemonSet, n int) {
			ds.Annotations = map[string]string{"big": strings.Repeat("x", 256<<10-len("big")-n%60)}
		},
		func(ds *appsv1.DaemonSet, n int) {
			ds.Status = appsv1.DaemonSetStatus{NumberReady: int32(n % 5), DesiredNumberScheduled: 7, CollisionCount: ptr.To(int32(n % 4))}
		},
		func(ds *appsv1.DaemonSet, n int) {
			ds.Status.Conditions = []appsv1.DaemonSetCondition{{Type: "X", Status: "maybe", Message: fmt.Sprint(n)}}
		},
		func(ds *appsv1.DaemonSet, n int) {
			ds.Status.ObservedGeneration, ds.Status.UpdatedNumberScheduled = int64(n%9), int32(n%3)
			ds.Status.NumberAvailable, ds.Status.NumberUnavailable, ds.Status.NumberMisscheduled, ds.Status.CurrentNumberScheduled = 1, 2, 3, 4
		},
	}
}

func harmlessSpec() []mutation {
	return []mutation{
		func(ds *appsv1.DaemonSet, n int) { ds.Spec.MinReadySeconds = int32(n % 4) },
		func(ds *appsv1.DaemonSet, n int) { ds.Spec.RevisionHistoryLimit = ptr.To(int32(n % 12)) },
		func(ds *appsv1.DaemonSet, _ int) {
			ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: "OnDelete"}
		},
		func(ds *appsv1.DaemonSet, n int) {
			strategy(ds, "OnDelete", intOrPercent(n), intOrPercent(n/7))
		},
		func(ds *appsv1.DaemonSet, _ int) { strategy(ds, "OnDelete", nil, nil) },
		func(ds *appsv1.DaemonSet, _ int) { strategy(ds, "RollingUpdate", nil, nil) },
		func(ds *appsv1.DaemonSet, n int) {
			strategy(ds, "RollingUpdate", ptr.To(intstr.FromInt32(int32(1+n%5))), nil)
		},
		func(ds *appsv1.DaemonSet, _ int) {
			strategy(ds, "RollingUpdate", ptr.To(intstr.FromString("0%")), ptr.To(intstr.FromString("25%")))
		},
		func(ds *appsv1.DaemonSet, _ int) {
			strategy(ds, "", ptr.To(intstr.FromInt32(0)), ptr.To(intstr.FromInt32(2)))
		},
	}
}

func harmlessTemplate() []mutation {
	return []mutation{
		template(func(t *corev1.PodTemplateSpec, n int) {
			t.Spec.Containers[0].Image = []string{"img:1", "img:2", "img", "img:latest", "img@sha256:" + strings.Repeat("a", 64)}[n%5]
		}),
		template(func(t *corev1.PodTemplateSpec, n int) {
			t.Spec.Containers = append(t.Spec.Containers, corev1.Container{Name: fmt.Sprintf("c%d", n%3), Image: "other:1"})
		}),
		template(func(t *corev1.PodTemplateSpec, n int) {
			t.Annotations = map[string]string{"restartedAt": fmt.Sprint(n % 4)}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Annotations = map[string]string{"pod.beta.kubernetes.io/init-container-statuses": "[]"}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Spec.DeprecatedServiceAccount = "old" }),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Spec.ServiceAccountName = "sa" }),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.NodeSelector = map[string]string{"beta.kubernetes.io/arch": "x"}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Spec.NodeSelector = map[string]string{} }),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Spec.Containers[0].Args = []string{} }),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("0.1m")}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.Volumes = append(t.Spec.Volumes, corev1.Volume{Name: "v"})
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.Volumes = []corev1.Volume{{Name: "h", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/x"}}}}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.Containers[0].LivenessProbe = &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Port: intstr.FromInt32(80)}}}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.HostNetwork = true
			t.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.SecurityContext = &corev1.PodSecurityContext{RunAsUser: ptr.To[int64](1)}
		}),
	}
}

// harmful mutations break a rule, at least in most objects.
func harmful() []mutation {
	return slices.Concat(harmfulOutside(), harmfulStrategy(), harmfulTemplate())
}

func harmfulOutside() []mutation {
	return []mutation{
		func(ds *appsv1.DaemonSet, _ int) { annotate(ds, "abc") },
		func(ds *appsv1.DaemonSet, _ int) { annotate(ds, "") },
		func(ds *appsv1.DaemonSet, _ int) { ds.Name = "Not_A_Name" },
		func(ds *appsv1.DaemonSet, _ int) { ds.Namespace = "elsewhere" },
		func(ds *appsv1.DaemonSet, _ int) { ds.Labels = map[string]string{"-": "-"} },
		func(ds *appsv1.DaemonSet, _ int) { ds.Annotations = map[string]string{"/": ""} },
		func(ds *appsv1.DaemonSet, n int) {
			ds.Annotations = map[string]string{"big": strings.Repeat("x", 256<<10-len("big")+1+n%60)}
		},
		func(ds *appsv1.DaemonSet, _ int) { ds.Finalizers = []string{"x"} },
		func(ds *appsv1.DaemonSet, _ int) { ds.ResourceVersion = "" },
		func(ds *appsv1.DaemonSet, _ int) { ds.UID = "3c5f6f2e-0d5e-4f6c-9d8a-000000000002" },
		func(ds *appsv1.DaemonSet, _ int) { ds.OwnerReferences = []metav1.OwnerReference{{Name: "o"}} },
		func(ds *appsv1.DaemonSet, _ int) {
			ds.ManagedFields = []metav1.ManagedFieldsEntry{{Operation: "Guess"}}
		},
		func(ds *appsv1.DaemonSet, _ int) { ds.Spec.Selector = nil },
		func(ds *appsv1.DaemonSet, _ int) { ds.Spec.Selector = &metav1.LabelSelector{} },
		func(ds *appsv1.DaemonSet, _ int) {
			ds.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": "-bad-"}}
		},
		func(ds *appsv1.DaemonSet, n int) {
			operator := []metav1.LabelSelectorOperator{"In", "NotIn", "Exists", "DoesNotExist", "Like"}[n%5]
			ds.Spec.Selector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: operator, Values: []string{"x", "bad value"}[:n%3]}}}
		},
		func(ds *appsv1.DaemonSet, _ int) { ds.Spec.MinReadySeconds = -1 },
		func(ds *appsv1.DaemonSet, _ int) { ds.Spec.RevisionHistoryLimit = ptr.To[int32](-1) },
		func(ds *appsv1.DaemonSet, n int) {
			ds.Status = appsv1.DaemonSetStatus{NumberReady: -int32(n % 2), NumberAvailable: -1, CollisionCount: ptr.To(int32(n%5 - 2))}
		},
	}
}

func harmfulStrategy() []mutation {
	return []mutation{
		func(ds *appsv1.DaemonSet, n int) { strategy(ds, "RollingUpdate", intOrPercent(n), intOrPercent(n/7)) },
		func(ds *appsv1.DaemonSet, n int) { strategy(ds, "RollingUpdate", nil, intOrPercent(n)) },
		func(ds *appsv1.DaemonSet, n int) { strategy(ds, "Sometimes", intOrPercent(n), nil) },
		func(ds *appsv1.DaemonSet, _ int) {
			ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{Type: "Sometimes"}
		},
	}
}

func harmfulTemplate() []mutation {
	return []mutation{
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Labels = nil }),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Labels = map[string]string{"app": "y"} }),
		template(func(t *corev1.PodTemplateSpec, n int) {
			t.Spec.RestartPolicy = []corev1.RestartPolicy{"Never", "OnFailure", "Maybe"}[n%3]
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Spec.ActiveDeadlineSeconds = ptr.To[int64](5) }),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Spec.Containers = nil }),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.Containers = append(t.Spec.Containers, t.Spec.Containers...)
		}),
		template(func(t *corev1.PodTemplateSpec, n int) {
			t.Spec.HostNetwork = true
			for i := range t.Spec.Containers {
				t.Spec.Containers[i].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: int32(8080 + n%2)}}
			}
		}),
		template(func(t *corev1.PodTemplateSpec, n int) {
			for i := 0; i < 9+n%4; i++ {
				t.Spec.EvictionResponders = append(t.Spec.EvictionResponders, corev1.EvictionResponder{Name: fmt.Sprintf("example.com/r%d", i)})
			}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) { t.Spec.Tolerations = []corev1.Toleration{{Operator: "Maybe"}} }),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", Image: "img"}}}
		}),
		template(func(t *corev1.PodTemplateSpec, _ int) {
			t.Spec.Affinity = &corev1.Affinity{PodAntiAffinity: &corev1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey:   "zone",
				LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In", Values: []string{"bad value"}}}},
			}}}}
		}),
	}
}

// template is a mutation of the pod template. A container is there to be changed, whatever happened before.
func template(change func(t *corev1.PodTemplateSpec, n int)) mutation {
	return func(ds *appsv1.DaemonSet, n int) {
		if len(ds.Spec.Template.Spec.Containers) == 0 {
			ds.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c", Image: "img:1"}}
		}
		change(&ds.Spec.Template, n)
	}
}

func annotate(ds *appsv1.DaemonSet, templateGeneration string) {
	if ds.Annotations == nil {
		ds.Annotations = map[string]string{}
	}
	ds.Annotations[appsv1.DeprecatedTemplateGeneration] = templateGeneration
}

func strategy(ds *appsv1.DaemonSet, kind appsv1.DaemonSetUpdateStrategyType, maxUnavailable, maxSurge *intstr.IntOrString) {
	ds.Spec.UpdateStrategy = appsv1.DaemonSetUpdateStrategy{
		Type: kind, RollingUpdate: &appsv1.RollingUpdateDaemonSet{MaxUnavailable: maxUnavailable, MaxSurge: maxSurge},
	}
}

// intOrPercent returns one of the values that clients try, nil among them.
func intOrPercent(n int) *intstr.IntOrString {
	values := []*intstr.IntOrString{
		nil, ptr.To(intstr.FromInt32(0)), ptr.To(intstr.FromInt32(1)), ptr.To(intstr.FromInt32(-4)), ptr.To(intstr.FromString("0%")), ptr.To(intstr.FromString("25%")),
		ptr.To(intstr.FromString("150%")), ptr.To(intstr.FromString("5")), ptr.To(intstr.FromString("x")), ptr.To(intstr.FromString("99999999999999999999%")),
	}
	return values[n%len(values)]
}

// mutated applies up to most of the mutations, at least one.
func mutated(random *rand.Rand, ds *appsv1.DaemonSet, most int, mutations []mutation) *appsv1.DaemonSet {
	for range 1 + random.Intn(most) {
		mutations[random.Intn(len(mutations))](ds, random.Intn(1000))
	}
	return ds
}

// fuzzedDaemonSets fills DaemonSets with anything that the internal type can hold. Maps have at most one key, since
// upstream reports on maps in random order.
type fuzzedDaemonSets struct{ filler *randfill.Filler }

func newFuzzedDaemonSets(seed int64) fuzzedDaemonSets {
	funcs := fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, corefuzzer.Funcs, appsfuzzer.Funcs)
	return fuzzedDaemonSets{filler: fuzzer.FuzzerFor(funcs, rand.NewSource(seed), legacyscheme.Codecs)}
}

func (f fuzzedDaemonSets) next(t testing.TB) *appsv1.DaemonSet {
	t.Helper()
	internal := &upstreamapps.DaemonSet{}
	f.filler.Fill(internal)
	thinMaps(reflect.ValueOf(internal))
	v1, err := legacyscheme.Scheme.ConvertToVersion(internal, appsv1.SchemeGroupVersion)
	if err != nil {
		t.Fatal(err)
	}
	ds := v1.(*appsv1.DaemonSet)
	ds.Namespace, ds.ResourceVersion = namespace, "1"
	ds.DeletionTimestamp, ds.DeletionGracePeriodSeconds = nil, nil
	return ds
}

// thinMaps leaves one key in every map below v.
func thinMaps(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			thinMaps(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				thinMaps(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			thinMaps(v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for i := 1; i < len(keys); i++ {
			v.SetMapIndex(keys[i], reflect.Value{})
		}
	}
}

// body is what a client sends for ds.
func body(t testing.TB, ds *appsv1.DaemonSet) []byte {
	t.Helper()
	text, err := json.Marshal(ds)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
