// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package toys

import (
	"k8s.io/apimachinery/pkg/runtime"

	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"
)

// RegisterDefaults stands for what defaulter-gen would write.
func RegisterDefaults(*runtime.Scheme) error {
	return nil
}

// RegisterValidations has none.
func RegisterValidations(*runtime.Scheme) error {
	return nil
}

// NormalizeWidget leaves a widget as it is.
func NormalizeWidget(*toysv1.Widget) error {
	return nil
}

// NewWidget makes an empty widget.
func NewWidget() *toysv1.Widget {
	return &toysv1.Widget{}
}

// MetadataOfWidget shows a widget as it is.
func MetadataOfWidget(widget *toysv1.Widget) *toysv1.Widget {
	return widget
}

// MetadataOfGizmo shows a gizmo as it is.
func MetadataOfGizmo(gizmo *toysv1.Gizmo) *toysv1.Gizmo {
	return gizmo
}
