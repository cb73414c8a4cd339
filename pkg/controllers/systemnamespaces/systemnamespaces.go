// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package systemnamespaces keeps the namespaces that every Kubernetes user expects
// (pkg/controlplane/controller/systemnamespaces of k8s.io/kubernetes).
package systemnamespaces

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	corev1client "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/klog/v2"
)

// period is how often a namespace that somebody has removed past the server is made again.
const period = time.Minute

// manager owns the fields of the namespaces: what kube-apiserver is called there, whatever our own program is called.
const manager = "kube-apiserver"

// Names returns the namespaces, in the order in which they are made.
func Names() []string {
	return []string{metav1.NamespaceSystem, metav1.NamespacePublic, metav1.NamespaceDefault, corev1.NamespaceNodeLease}
}

// Run makes the namespaces that are missing, then looks again every minute in the background until ctx ends. The first
// round is over when it returns; the error tells what that could not make, the next round tries again.
func Run(ctx context.Context, client corev1client.NamespaceInterface) error {
	err := ensure(ctx, client)
	go wait.UntilWithContext(ctx, func(ctx context.Context) {
		select {
		case <-ctx.Done():
			return
		case <-time.After(period):
		}
		if err := ensure(ctx, client); err != nil && ctx.Err() == nil {
			klog.FromContext(ctx).Error(err, "Could not make the system namespaces")
		}
	}, 0)
	return err
}

func ensure(ctx context.Context, client corev1client.NamespaceInterface) error {
	var errs []error
	for _, name := range Names() {
		_, err := client.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			_, err = client.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{FieldManager: manager})
		}
		if err != nil && !apierrors.IsAlreadyExists(err) {
			errs = append(errs, fmt.Errorf("the namespace %s: %w", name, err))
		}
	}
	return errors.Join(errs...)
}
