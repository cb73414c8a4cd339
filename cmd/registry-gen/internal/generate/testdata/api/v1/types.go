// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package v1 has API types for tests, written out like those of k8s.io/api but small.
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Widget has every kind of field that a marker can name, rightly or wrongly.
type Widget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   WidgetSpec   `json:"spec,omitempty"`
	Status WidgetStatus `json:"status,omitempty"`
}

// Size is a string with a name.
type Size string

// Inlined has fields that count as those of the struct around it.
type Inlined struct {
	Finish string `json:"finish,omitempty"`
}

// WidgetSpec is what is wanted.
type WidgetSpec struct {
	Inlined `json:",inline"`

	Color  string   `json:"color,omitempty"`
	Size   Size     `json:"size,omitempty"`
	Count  int32    `json:"count,omitempty"`
	Label  *string  `json:"label,omitempty"`
	Parent *Parent  `json:"parent,omitempty"`
	Tags   []string `json:"tags,omitempty"`
}

// Parent is what a widget is a part of.
type Parent struct {
	Name string `json:"name,omitempty"`
}

// WidgetStatus is what is there.
type WidgetStatus struct {
	Phase string `json:"phase,omitempty"`
}

// WidgetList is a list of widgets.
type WidgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Widget `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (in *Widget) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *WidgetList) DeepCopyObject() runtime.Object {
	out := *in
	return &out
}

// Gadget is a second kind.
type Gadget struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status WidgetStatus `json:"status,omitempty"`
}

// GadgetList is a list of them.
type GadgetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Gadget `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (in *Gadget) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *GadgetList) DeepCopyObject() runtime.Object {
	out := *in
	return &out
}

// Gizmo is a third kind.
type Gizmo struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Status WidgetStatus `json:"status,omitempty"`
}

// GizmoList is a list of them.
type GizmoList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Gizmo `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (in *Gizmo) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *GizmoList) DeepCopyObject() runtime.Object {
	out := *in
	return &out
}

// Box has metadata only.
type Box struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// BoxList is a list of them.
type BoxList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Box `json:"items"`
}

// DeepCopyObject implements runtime.Object.
func (in *Box) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// DeepCopyObject implements runtime.Object.
func (in *BoxList) DeepCopyObject() runtime.Object {
	out := *in
	return &out
}

// Lonely is an object without a list type.
type Lonely struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`
}

// DeepCopyObject implements runtime.Object.
func (in *Lonely) DeepCopyObject() runtime.Object {
	out := *in
	in.ObjectMeta.DeepCopyInto(&out.ObjectMeta)
	return &out
}

// Part is no object.
type Part struct {
	Name string `json:"name"`
}
