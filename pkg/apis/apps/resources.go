// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps

import (
	appsv1 "k8s.io/api/apps/v1"
)

// DaemonSet runs one pod on every node that its template fits. Clients write spec and a controller writes status
// through /status. Its pods and revisions are deleted with it unless the client says otherwise.
//
// +pinnace:resource=daemonsets
// +pinnace:scope=Namespaced
// +pinnace:shortName=ds
// +pinnace:category=all
// +pinnace:resetFields=status
// +pinnace:garbageCollection=DeleteDependents
// +pinnace:normalize=NormalizeDaemonSet
// +pinnace:new=NewDaemonSet
// +pinnace:metadataView=WithoutTemplateGeneration
// +pinnace:decodedVersion=v1beta2
// +pinnace:columns
// +pinnace:subresource=status,resetFields=spec
type DaemonSet = appsv1.DaemonSet

// ControllerRevision is a snapshot of a controller's state, here of a DaemonSet's template, that a rollout can be
// undone to. Its data is written once; only the revision number changes.
//
// +pinnace:resource=controllerrevisions
// +pinnace:scope=Namespaced
// +pinnace:decodedVersion=v1beta1
// +pinnace:decodedVersion=v1beta2
// +pinnace:columns
type ControllerRevision = appsv1.ControllerRevision
