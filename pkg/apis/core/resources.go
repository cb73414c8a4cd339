// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package core

import (
	corev1 "k8s.io/api/core/v1"
)

// Namespace is the scope that names of namespaced objects are unique in. Deleting one takes two steps: the first
// request marks it as terminating, and it goes when a controller has emptied it and, through /finalize, taken the
// last finalizer out of spec. That is why deletion is a hook, why an update may end in a deletion, and why there
// is no deletion of a collection.
//
// Stored namespaces also match the label "name", as upstream's do; no client can select by it, for the API knows
// it by metadata.name only. Upstream serves no GET and no table at /finalize.
//
// +pinnace:resource=namespaces
// +pinnace:scope=Cluster
// +pinnace:shortName=ns
// +pinnace:verbs=create,delete,get,list,patch,update,watch
// +pinnace:resetFields=status
// +pinnace:selectableField=status.phase
// +pinnace:selectableField=name=metadata.name
// +pinnace:columns
// +pinnace:hook=Delete
// +pinnace:hook=ReturnDeletedObject
// +pinnace:hook=ShouldDeleteDuringUpdate
// +pinnace:subresource=status,resetFields=spec
// +pinnace:subresource=finalize,resetFields=status,get=false,table=false
type Namespace = corev1.Namespace
