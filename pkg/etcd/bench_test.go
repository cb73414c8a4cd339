// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/apis/example"
	"k8s.io/apiserver/pkg/registry/generic"
	"k8s.io/apiserver/pkg/storage"
)

// benchPod is a pod of some 2 KiB, as a certificate signing request is.
func benchPod(name string) *example.Pod {
	return &example.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, Annotations: map[string]string{"request": strings.Repeat("r", 2000)},
	}}
}

// overBoth runs a benchmark over the etcd3 storage in process, and over gRPC on a unix socket to the same etcd in the same
// process, so that the difference is the way alone.
func overBoth(b *testing.B, run func(b *testing.B, s storage.Interface)) {
	b.Helper()
	b.Run("way=process", func(b *testing.B) {
		e := start(b)
		s, destroy, err := e.newStorage(podConfig(b, false), podsPrefix, newPod, newPodList)
		must(b, err)
		defer destroy()
		run(b, s)
	})
	b.Run("way=unix", func(b *testing.B) {
		socket := url.URL{Scheme: "unix", Path: filepath.Join(b.TempDir(), "etcd.sock")}
		server(b, socket)
		config := podConfig(b, false)
		config.Transport.ServerList = []string{socket.String()}
		config.Prefix = DefaultPrefix
		s, destroy, err := generic.NewRawStorage(config, newPod, newPodList, podsPrefix)
		must(b, err)
		defer destroy()
		run(b, s)
	})
}

// inParallel calls f with increasing numbers from some goroutines for each processor.
func inParallel(b *testing.B, goroutines int, f func(n int64) error) {
	b.Helper()
	var next atomic.Int64
	b.SetParallelism(goroutines)
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(next.Add(1)); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func BenchmarkCreate(b *testing.B) {
	for _, goroutines := range []int{1, 8, 32} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			overBoth(b, func(b *testing.B, s storage.Interface) {
				b.Helper()
				inParallel(b, goroutines, func(n int64) error {
					pod := benchPod(fmt.Sprintf("pod-%d", n))
					return s.Create(b.Context(), fmt.Sprintf("%sns/%d-%s", podsPrefix, b.N, pod.Name), pod, &example.Pod{}, 0)
				})
			})
		})
	}
}

func BenchmarkGet(b *testing.B) {
	for _, goroutines := range []int{1, 32} {
		b.Run(fmt.Sprintf("goroutines=%d", goroutines), func(b *testing.B) {
			overBoth(b, func(b *testing.B, s storage.Interface) {
				b.Helper()
				key := podsPrefix + "ns/pod"
				must(b, s.Create(b.Context(), key, benchPod("pod"), &example.Pod{}, 0))
				inParallel(b, goroutines, func(int64) error {
					return s.Get(b.Context(), key, storage.GetOptions{}, &example.Pod{})
				})
			})
		})
	}
}

// BenchmarkStart is the time from an empty data directory to ready.
func BenchmarkStart(b *testing.B) {
	for b.Loop() {
		e := start(b)
		b.StopTimer()
		closeBackend(b, e)
		b.StartTimer()
	}
}
