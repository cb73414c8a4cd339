// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package systemnamespaces

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
)

// namespaces is a server with the namespaces in names; refused are those that it makes for nobody.
type namespaces struct {
	corev1client.NamespaceInterface
	lock    sync.Mutex
	names   []string
	refused map[string]error
	// raced are those that somebody else makes between the look and the creation.
	raced map[string]bool
}

func (n *namespaces) Get(_ context.Context, name string, _ metav1.GetOptions) (*corev1.Namespace, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	for _, known := range n.names {
		if known == name {
			return &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, nil
		}
	}
	return nil, apierrors.NewNotFound(corev1.Resource("namespaces"), name)
}

func (n *namespaces) Create(_ context.Context, namespace *corev1.Namespace, _ metav1.CreateOptions) (*corev1.Namespace, error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	if err := n.refused[namespace.Name]; err != nil {
		return nil, err
	}
	if n.raced[namespace.Name] {
		return nil, apierrors.NewAlreadyExists(corev1.Resource("namespaces"), namespace.Name)
	}
	n.names = append(n.names, namespace.Name)
	return namespace, nil
}

// set replaces what the server refuses and has.
func (n *namespaces) set(names []string, refused map[string]error) {
	n.lock.Lock()
	defer n.lock.Unlock()
	n.names, n.refused = names, refused
}

// all returns what is there.
func (n *namespaces) all() []string {
	n.lock.Lock()
	defer n.lock.Unlock()
	return slices.Clone(n.names)
}

func TestFirstRound(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		names   []string
		refused map[string]error
		raced   map[string]bool
		want    []string
		err     string
	}{
		"an empty server gets all, in upstream's order": {want: []string{"kube-system", "kube-public", "default", "kube-node-lease"}},
		"what is there stays": {
			names: []string{"default", "mine", "kube-public"},
			want:  []string{"default", "mine", "kube-public", "kube-system", "kube-node-lease"},
		},
		"another server may be quicker": {
			raced: map[string]bool{"kube-public": true}, want: []string{"kube-system", "default", "kube-node-lease"},
		},
		"one that fails doesn't keep the others away": {
			refused: map[string]error{"kube-system": errors.New("full")},
			want:    []string{"kube-public", "default", "kube-node-lease"}, err: "the namespace kube-system: full",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := &namespaces{names: test.names, refused: test.refused, raced: test.raced}
			got := ""
			if err := Run(t.Context(), server); err != nil {
				got = err.Error()
			}
			if got != test.err {
				t.Errorf("got the error %q, want %q", got, test.err)
			}
			if diff := cmp.Diff(test.want, server.all()); diff != "" {
				t.Errorf("namespaces (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLaterRounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		server := &namespaces{refused: map[string]error{"default": errors.New("full")}}
		if err := Run(ctx, server); err == nil {
			t.Fatal("no error")
		}
		synctest.Wait()
		server.set(nil, nil)
		time.Sleep(period - time.Second)
		synctest.Wait()
		if early := server.all(); len(early) > 0 {
			t.Errorf("made before its time: %v", early)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if diff := cmp.Diff(Names(), server.all()); diff != "" {
			t.Errorf("namespaces after a minute (-want +got):\n%s", diff)
		}
		cancel()
		synctest.Wait() // the goroutine has ended: synctest.Test would fail otherwise
	})
}
