// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package envtest

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

func TestAddUser(t *testing.T) {
	environment := &Environment{}
	if _, err := environment.AddUser("early"); err == nil {
		t.Error("there is a user before the server has started")
	}
	if _, err := environment.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := environment.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	if _, err := environment.AddUser(""); err == nil {
		t.Error("there is a user without a name")
	}
	for name, user := range map[string]struct {
		groups []string
		may    bool
	}{
		"someone with no rights":   {nil, false},
		"someone of another group": {[]string{"dev-team"}, false},
		"another administrator":    {[]string{"dev-team", "system:masters"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			config, err := environment.AddUser("robot-17", user.groups...)
			if err != nil {
				t.Fatal(err)
			}
			client, err := kubernetes.NewForConfig(config)
			if err != nil {
				t.Fatal(err)
			}
			_, err = client.CoreV1().Namespaces().List(t.Context(), metav1.ListOptions{})
			if user.may && err != nil || !user.may && !apierrors.IsForbidden(err) {
				t.Errorf("listing namespaces: %v", err)
			}
		})
	}
}
