// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package toys

import (
	toysv1 "github.com/pinnace-io/pinnace/cmd/registry-gen/internal/generate/testdata/api/v1"
)

// Widget is namespaced and uses what can be declared about a resource that has all verbs.
//
// +pinnace:resource=widgets
// +pinnace:scope=Namespaced
// +pinnace:shortName=wd
// +pinnace:shortName=wdg
// +pinnace:category=all
// +pinnace:resetFields=status
// +pinnace:selectableField=status.phase
// +pinnace:selectableField=spec.color
// +pinnace:selectableField=spec.size
// +pinnace:selectableField=spec.finish
// +pinnace:garbageCollection=OrphanDependents
// +pinnace:normalize=NormalizeWidget
// +pinnace:new=NewWidget
// +pinnace:metadataView=MetadataOfWidget
// +pinnace:decodedVersion=v1beta1
// +pinnace:decodedVersion=v1beta2
// +pinnace:columns
// +pinnace:subresource=status,resetFields=spec;metadata.labels
// +pinnace:subresource=paint,table=false
type Widget = toysv1.Widget

type (
	// Gadget is cluster-scoped, has not all verbs and uses every hook.
	//
	// +pinnace:resource=gadgets
	// +pinnace:scope=Cluster
	// +pinnace:verbs=create,delete,get,list,patch,update
	// +pinnace:selectableField=name=metadata.name
	// +pinnace:hook=Delete
	// +pinnace:hook=ReturnDeletedObject
	// +pinnace:hook=ShouldDeleteDuringUpdate
	// +pinnace:subresource=finalize,resetFields=status,get=false,table=false
	Gadget = toysv1.Gadget

	// Gizmo can be read and deleted only.
	//
	// +pinnace:resource=gizmos
	// +pinnace:scope=Cluster
	// +pinnace:category=readonly
	// +pinnace:verbs=delete,deletecollection,get
	// +pinnace:resetFields=status
	// +pinnace:metadataView=MetadataOfGizmo
	// +pinnace:columns
	Gizmo = toysv1.Gizmo
)
