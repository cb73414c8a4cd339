// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/internal/kube"
	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// play runs the script in a new namespace.
func play(t *testing.T, config *rest.Config, namespace string) string {
	t.Helper()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	object := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	if _, err := client.CoreV1().Namespaces().Create(t.Context(), object, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	transcript, err := Run(ctx, config, namespace)
	if err != nil {
		t.Fatalf("%v, after\n%s", err, transcript)
	}
	return transcript
}

func startPinnace(t *testing.T) *rest.Config {
	t.Helper()
	environment := &envtest.Environment{}
	if _, err := environment.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	config, err := environment.AddUser("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	return config
}

func TestScript(t *testing.T) {
	config := startPinnace(t)
	first, second := play(t, config, "clients-first"), play(t, config, "clients-second")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Errorf("the same script gives another transcript (-first +second):\n%s", diff)
	}
	for what, line := range map[string]string{
		"informers ask for initial events": "the informer [watches with initial events]",
		"an informer is told of changes":   "spec: updated a map[app:a more:yes], generation 2",
		"all writers count":                "count to iiiii, generation 1",
		"conflicts are refused":            "refused: 409 Conflict",
		"the certificate is rotated":       "the manager has certificate 2 of CN=robot-17,O=dev-team, issued by CN=throwaway",
		"pages follow each other":          "2 pages, <nil>",
	} {
		if !strings.Contains(first, line) {
			t.Errorf("%s: there is no %q in the transcript", what, line)
		}
	}
}

func TestServersAreAlike(t *testing.T) {
	assets, err := kube.Assets()
	if err != nil {
		t.Skipf("kube-apiserver is not compared with: %v", err)
	}
	cluster := &kube.Cluster{Assets: assets}
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	theirs, err := cluster.User("admin", "system:masters")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(play(t, theirs, "clients-alike"), play(t, startPinnace(t), "clients-alike")); diff != "" {
		t.Errorf("the transcripts differ (-kube-apiserver +Pinnace):\n%s", diff)
	}
}

func TestScriptThatCanNotGoOn(t *testing.T) {
	config := startPinnace(t)
	transcript, err := Run(t.Context(), config, "nowhere")
	if err == nil || !strings.Contains(err.Error(), "typed clients with JSON: ") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(transcript, `create: refused: 404 NotFound: namespaces "<namespace>" not found`) {
		t.Errorf("the transcript is\n%s", transcript)
	}
}
