// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
)

// TestDaemonSetDefaults compares whole objects: want is what changes in the minimal one that was sent with changes.
func TestDaemonSetDefaults(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ sent, want []change }{
		"nothing but what is needed": {},
		"everything of spec given": {
			sent: []change{spec("{minReadySeconds: 5, revisionHistoryLimit: 0, updateStrategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}}")},
			want: []change{spec("{minReadySeconds: 5, revisionHistoryLimit: 0, updateStrategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}}")},
		},
		"nulls and empty values in spec": {
			sent: []change{func(_ *testing.T, object map[string]any) {
				object["spec"].(map[string]any)["updateStrategy"] = map[string]any{"type": "", "rollingUpdate": nil}
				object["spec"].(map[string]any)["revisionHistoryLimit"] = nil
				object["spec"].(map[string]any)["minReadySeconds"] = 0
			}},
		},
		"an empty rolling update": {sent: []change{spec("updateStrategy: {rollingUpdate: {}}")}},
		"a rolling update with maxUnavailable alone": {
			sent: []change{spec("updateStrategy: {rollingUpdate: {maxUnavailable: 3}}")},
			want: []change{spec("updateStrategy: {rollingUpdate: {maxUnavailable: 3}}")},
		},
		"OnDelete": {
			sent: []change{spec("updateStrategy: {type: OnDelete}")},
			want: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: null}")},
		},
		"OnDelete with an empty rolling update: zeros appear": {
			sent: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: {}}")},
			want: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}")},
		},
		"OnDelete with a rolling update that would be refused: kept": {
			sent: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 150%, maxSurge: -4}}")},
			want: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 150%, maxSurge: -4}}")},
		},
		"status and what only the server sets: dropped": {
			sent: []change{
				root("status: {numberReady: 3, observedGeneration: 9, conditions: [{type: A, status: 'True'}]}"),
				meta("{generation: 7, uid: x, creationTimestamp: '2001-01-01T00:00:00Z', deletionTimestamp: '2001-01-01T00:00:00Z', deletionGracePeriodSeconds: 3, selfLink: /a}"),
			},
		},
		"metadata": {
			sent: []change{meta(`{labels: {a: b}, annotations: {c: d}, finalizers: [example.com/a],
				ownerReferences: [{apiVersion: v1, kind: Node, name: foo, uid: u, controller: true, blockOwnerDeletion: false}]}`)},
			want: []change{meta(`{labels: {a: b}, annotations: {c: d}, finalizers: [example.com/a],
				ownerReferences: [{apiVersion: v1, kind: Node, name: foo, uid: u, controller: true, blockOwnerDeletion: false}]}`)},
		},
		"metadata of the template: only labels and annotations mean something, the rest is kept": {
			sent: []change{template("metadata: {name: foo, namespace: other, annotations: {a: b}, generateName: g, creationTimestamp: null, finalizers: [example.com/a]}")},
			want: []change{template("metadata: {name: foo, namespace: other, annotations: {a: b}, generateName: g, finalizers: [example.com/a]}")},
		},
		"image without a tag": {
			sent: []change{container("image: img")}, want: []change{container("{image: img, imagePullPolicy: Always}")},
		},
		"image latest": {
			sent: []change{container("image: 'img:latest'")}, want: []change{container("{image: 'img:latest', imagePullPolicy: Always}")},
		},
		"image of a registry with a port": {
			sent: []change{container("image: 'host:5000/img'")}, want: []change{container("{image: 'host:5000/img', imagePullPolicy: Always}")},
		},
		"image by digest": {
			sent: []change{container("image: 'img@sha256:0000000000000000000000000000000000000000000000000000000000000000'")},
			want: []change{container("image: 'img@sha256:0000000000000000000000000000000000000000000000000000000000000000'")},
		},
		"image latest by digest": {
			sent: []change{container("image: 'img:latest@sha256:0000000000000000000000000000000000000000000000000000000000000000'")},
			want: []change{container("{image: 'img:latest@sha256:0000000000000000000000000000000000000000000000000000000000000000', imagePullPolicy: Always}")},
		},
		"image that is no reference": {
			sent: []change{container("image: IMG")}, want: []change{container("image: IMG")},
		},
		"host network: no host ports": {
			sent: []change{pod("hostNetwork: true"), container("ports: [{containerPort: 8080}]")},
			want: []change{pod("hostNetwork: true"), container("ports: [{containerPort: 8080, protocol: TCP}]")},
		},
		"host port and surge": {
			sent: []change{spec("updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"), container("ports: [{containerPort: 8080, hostPort: 54323}]")},
			want: []change{spec("updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"), container("ports: [{containerPort: 8080, hostPort: 54323, protocol: TCP}]")},
		},
		"serviceAccount names the account, too": {
			sent: []change{pod("serviceAccount: robot")}, want: []change{pod("{serviceAccount: robot, serviceAccountName: robot}")},
		},
		"serviceAccountName wins": {
			sent: []change{pod("{serviceAccount: other, serviceAccountName: robot}")}, want: []change{pod("{serviceAccount: robot, serviceAccountName: robot}")},
		},
		"containers":      {sent: []change{container(sentContainer)}, want: []change{container(wantContainer)}},
		"init containers": {sent: []change{pod(sentInitContainers)}, want: []change{pod(wantInitContainers)}},
		"pod":             {sent: []change{pod(sentPod)}, want: []change{pod(wantPod)}},
		"volumes":         {sent: []change{pod(sentVolumes)}, want: []change{pod(wantVolumes)}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			created := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "d", test.sent...)})
			wantDaemonSet(t, created, http.StatusCreated, ns, test.want...)
			// What is read, through storage, is the same; and sending it back changes nothing.
			read := mustSend(t, get(daemonSetPath(ns, "d")))
			unchanged(t, created, read)
			unchanged(t, read, mustSend(t, call{method: http.MethodPut, path: daemonSetPath(ns, "d"), body: read.object}))
		})
	}
}

const (
	sentContainer = `
ports: [{containerPort: 80}, {containerPort: 81, protocol: UDP, hostPort: 82, name: u}]
env:
- {name: A, value: a}
- {name: B, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}
- {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu}}}
- {name: D, valueFrom: {configMapKeyRef: {name: foo, key: k}}}
- {name: E, valueFrom: {secretKeyRef: {name: foo, key: k, optional: true}}}
envFrom: [{configMapRef: {name: foo}}, {prefix: p, secretRef: {name: foo}}]
livenessProbe: {httpGet: {port: 80}}
readinessProbe: {grpc: {port: 80}}
startupProbe: {tcpSocket: {port: p}, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 1, failureThreshold: 5}
lifecycle: {postStart: {httpGet: {port: p, scheme: HTTPS, path: /p}}, preStop: {sleep: {seconds: 1}}}
resources: {limits: {cpu: 1.5, memory: 1.5Gi, example.com/x: 1}, requests: {cpu: 0.1m, memory: '100e3'}}
securityContext: {privileged: false, capabilities: {add: [NET_ADMIN]}, seccompProfile: {type: RuntimeDefault}}
resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
terminationMessagePolicy: FallbackToLogsOnError
imagePullPolicy: Never
stdin: false
tty: true
`
	wantContainer = `
ports: [{containerPort: 80, protocol: TCP}, {containerPort: 81, protocol: UDP, hostPort: 82, name: u}]
env:
- {name: A, value: a}
- {name: B, valueFrom: {fieldRef: {apiVersion: v1, fieldPath: spec.nodeName}}}
- {name: C, valueFrom: {resourceFieldRef: {resource: limits.cpu, divisor: "0"}}}
- {name: D, valueFrom: {configMapKeyRef: {name: foo, key: k}}}
- {name: E, valueFrom: {secretKeyRef: {name: foo, key: k, optional: true}}}
envFrom: [{configMapRef: {name: foo}}, {prefix: p, secretRef: {name: foo}}]
livenessProbe: {httpGet: {port: 80, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}
readinessProbe: {grpc: {port: 80, service: ""}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}
startupProbe: {tcpSocket: {port: p}, timeoutSeconds: 2, periodSeconds: 3, successThreshold: 1, failureThreshold: 5}
lifecycle: {postStart: {httpGet: {port: p, scheme: HTTPS, path: /p}}, preStop: {sleep: {seconds: 1}}}
resources: {limits: {cpu: 1500m, memory: 1536Mi, example.com/x: "1"}, requests: {cpu: 1m, memory: '100e3'}}
securityContext: {privileged: false, capabilities: {add: [NET_ADMIN]}, seccompProfile: {type: RuntimeDefault}}
resizePolicy: [{resourceName: cpu, restartPolicy: NotRequired}]
terminationMessagePolicy: FallbackToLogsOnError
imagePullPolicy: Never
tty: true
`
	sentInitContainers = `
initContainers:
- {name: i, image: 'i:1', restartPolicy: Always}
- {name: j, image: j, imagePullPolicy: Never, terminationMessagePath: /m}
`
	wantInitContainers = `
initContainers:
- {name: i, image: 'i:1', restartPolicy: Always, resources: {}, terminationMessagePath: /dev/termination-log,
   terminationMessagePolicy: File, imagePullPolicy: IfNotPresent}
- {name: j, image: j, resources: {}, terminationMessagePath: /m, terminationMessagePolicy: File, imagePullPolicy: Never}
`
	sentPod = `
dnsPolicy: Default
schedulerName: mine
terminationGracePeriodSeconds: 0
nodeSelector: {disk: ssd}
hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
overhead: {cpu: 0.1m, memory: 1.5Gi}
resources: {limits: {cpu: 1.5}}
tolerations: [{operator: Exists, key: a}, {operator: Exists, effect: NoExecute, tolerationSeconds: 5}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
securityContext: {sysctls: [{name: kernel.shm_rmid_forced, value: '0'}], runAsUser: 5}
shareProcessNamespace: false
hostPID: false
enableServiceLinks: false
setHostnameAsFQDN: false
os: {name: linux}
`
	wantPod = `
dnsPolicy: Default
schedulerName: mine
terminationGracePeriodSeconds: 0
nodeSelector: {disk: ssd}
hostAliases: [{ip: 10.0.0.1, hostnames: [a]}]
overhead: {cpu: 1m, memory: 1536Mi}
resources: {limits: {cpu: 1500m}}
tolerations: [{operator: Exists, key: a}, {operator: Exists, effect: NoExecute, tolerationSeconds: 5}]
topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {a: b}}}]
affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: a, operator: Exists}]}]}}}
securityContext: {sysctls: [{name: kernel.shm_rmid_forced, value: '0'}], runAsUser: 5}
shareProcessNamespace: false
enableServiceLinks: false
setHostnameAsFQDN: false
os: {name: linux}
`
	sentVolumes = `
volumes:
- {name: nothing}
- {name: empty-dir, emptyDir: {sizeLimit: 1.5Gi}}
- {name: secret, secret: {secretName: s}}
- {name: config-map, configMap: {name: c, defaultMode: 256}}
- {name: projected, projected: {sources: [{serviceAccountToken: {path: t}}, {secret: {name: s}},
    {downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}}]}}, {clusterTrustBundle: {name: b, path: c}}]}}
- {name: downward, downwardAPI: {items: [{path: p, fieldRef: {fieldPath: metadata.name}},
    {path: q, resourceFieldRef: {containerName: c, resource: limits.cpu}}]}}
- {name: host-path, hostPath: {path: /h}}
- {name: iscsi, iscsi: {targetPortal: 1.2.3.4, iqn: 'iqn.2001-04.com.example:storage.disk2.sys1.xyz', lun: 0}}
- {name: azure, azureDisk: {diskName: d, diskURI: 'https://x/y'}}
- {name: scale-io, scaleIO: {gateway: g, system: s, secretRef: {name: s}, volumeName: v}}
- {name: rbd, rbd: {monitors: [m], image: i}}
- {name: ephemeral, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1}}}}}}
- {name: image, image: {reference: 'a:1'}}
- {name: image-latest, image: {reference: a}}
- {name: csi, csi: {driver: x.io}}
`
	wantVolumes = `
volumes:
- {name: nothing, emptyDir: {}}
- {name: empty-dir, emptyDir: {sizeLimit: 1536Mi}}
- {name: secret, secret: {secretName: s, defaultMode: 420}}
- {name: config-map, configMap: {name: c, defaultMode: 256}}
- {name: projected, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}, {secret: {name: s}},
    {downwardAPI: {items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}}]}}, {clusterTrustBundle: {name: b, path: c}}]}}
- {name: downward, downwardAPI: {defaultMode: 420, items: [{path: p, fieldRef: {apiVersion: v1, fieldPath: metadata.name}},
    {path: q, resourceFieldRef: {containerName: c, resource: limits.cpu, divisor: "0"}}]}}
- {name: host-path, hostPath: {path: /h, type: ""}}
- {name: iscsi, iscsi: {targetPortal: 1.2.3.4, iqn: 'iqn.2001-04.com.example:storage.disk2.sys1.xyz', lun: 0, iscsiInterface: default}}
- {name: azure, azureDisk: {diskName: d, diskURI: 'https://x/y', cachingMode: ReadWrite, fsType: ext4, kind: Shared, readOnly: false}}
- {name: scale-io, scaleIO: {gateway: g, system: s, secretRef: {name: s}, volumeName: v, fsType: xfs, storageMode: ThinProvisioned}}
- {name: rbd, rbd: {monitors: [m], image: i, pool: rbd, user: admin, keyring: /etc/ceph/keyring}}
- {name: ephemeral, ephemeral: {volumeClaimTemplate: {metadata: {}, spec: {accessModes: [ReadWriteOnce], volumeMode: Filesystem,
    resources: {requests: {storage: "1"}}}}}}
- {name: image, image: {reference: 'a:1', pullPolicy: IfNotPresent}}
- {name: image-latest, image: {reference: a, pullPolicy: Always}}
- {name: csi, csi: {driver: x.io}}
`
)
