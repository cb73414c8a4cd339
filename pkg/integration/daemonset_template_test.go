// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
)

// TestDaemonSetWarnings creates, and then updates: a change of the template warns as creation does, any other doesn't.
func TestDaemonSetWarnings(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	tests := map[string]struct {
		sent     []change
		warnings []string
	}{
		"a deprecated node label to select by": {
			[]change{pod("nodeSelector: {beta.kubernetes.io/os: linux}")},
			[]string{
				`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
			},
		},
		"a deprecated node label for the zone": {
			[]change{pod("nodeSelector: {failure-domain.beta.kubernetes.io/zone: z}")},
			[]string{
				`spec.template.spec.nodeSelector[failure-domain.beta.kubernetes.io/zone]: deprecated since v1.17; use "topology.kubernetes.io/zone" instead`,
			},
		},
		"deprecated node labels in affinity": {
			[]change{pod(`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: [{matchExpressions: [{key: beta.kubernetes.io/arch, operator: Exists}]}]}, preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, preference: {matchExpressions: [{key: kubernetes.io/os, operator: In, values: [""]}, {key: beta.kubernetes.io/os, operator: Exists}]}}]}}`)},
			[]string{
				`spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0].key: beta.kubernetes.io/arch is deprecated since v1.14; use "kubernetes.io/arch" instead`,
				`spec.template.spec.affinity.nodeAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].preference.matchExpressions[1].key: beta.kubernetes.io/os is deprecated since v1.14; use "kubernetes.io/os" instead`,
			},
		},
		"a deprecated topology and no selector": {
			[]change{pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: failure-domain.beta.kubernetes.io/region, whenUnsatisfiable: DoNotSchedule}]")},
			[]string{
				`spec.template.spec.topologySpreadConstraints[0].topologyKey: failure-domain.beta.kubernetes.io/region is deprecated since v1.17; use "topology.kubernetes.io/region" instead`,
				"spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector results in matching no pod",
			},
		},
		"pod affinity without selectors": {
			[]change{pod("affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: z}]}, podAntiAffinity: {preferredDuringSchedulingIgnoredDuringExecution: [{weight: 1, podAffinityTerm: {topologyKey: z}}]}}")},
			[]string{
				"spec.template.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector: a null labelSelector results in matching no pod",
				"spec.template.spec.affinity.podAntiAffinity.preferredDuringSchedulingIgnoredDuringExecution[0].podAffinityTerm.labelSelector: a null labelSelector results in matching no pod",
			},
		},
		"the annotation of critical pods": {
			[]change{template(`metadata: {annotations: {scheduler.alpha.kubernetes.io/critical-pod: ""}}`)},
			[]string{
				`spec.template.metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use the "priorityClassName" field instead`,
			},
		},
		"the annotation of sysctls": {
			[]change{template("metadata: {annotations: {security.alpha.kubernetes.io/sysctls: a}}")},
			[]string{
				`spec.template.metadata.annotations[security.alpha.kubernetes.io/sysctls]: non-functional in v1.11+; use the "sysctls" field instead`,
			},
		},
		"the annotation of unsafe sysctls": {
			[]change{template("metadata: {annotations: {security.alpha.kubernetes.io/unsafe-sysctls: a}}")},
			[]string{
				`spec.template.metadata.annotations[security.alpha.kubernetes.io/unsafe-sysctls]: non-functional in v1.11+; use the "sysctls" field instead`,
			},
		},
		"the seccomp annotation of a pod": {
			[]change{template("metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: runtime/default}}")},
			[]string{
				`spec.template.metadata.annotations[seccomp.security.alpha.kubernetes.io/pod]: non-functional in v1.27+; use the "seccompProfile" field instead`,
			},
		},
		"the seccomp annotation of a container": {
			[]change{template("metadata: {annotations: {container.seccomp.security.alpha.kubernetes.io/c: runtime/default}}")},
			[]string{
				`spec.template.metadata.annotations[container.seccomp.security.alpha.kubernetes.io/c]: non-functional in v1.27+; use the "seccompProfile" field instead`,
			},
		},
		"the AppArmor annotation of a container": {
			[]change{template("metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/c: runtime/default}}")},
			[]string{
				`spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/c]: deprecated since v1.30; use the "appArmorProfile" field instead`,
			},
		},
		"the AppArmor annotation beside the same field": {
			[]change{template("metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/c: runtime/default}}"), container("securityContext: {appArmorProfile: {type: RuntimeDefault}}")},
			nil,
		},
		"volumes that are no more": {
			[]change{pod("volumes: [{name: a, photonPersistentDisk: {pdID: x}}, {name: b, gitRepo: {repository: 'https://x'}}, {name: c, scaleIO: {gateway: g, system: s, secretRef: {name: s}, volumeName: v}}, {name: d, flocker: {datasetName: d}}, {name: e, storageos: {volumeName: v}}, {name: f, quobyte: {registry: 'r:1', volume: v}}, {name: g, glusterfs: {endpoints: e, path: p}}, {name: h, cephfs: {monitors: [m]}}, {name: i, rbd: {monitors: [m], image: i}}, {name: j, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1m}}}}}}]")},
			[]string{
				"spec.template.spec.volumes[0].photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+",
				"spec.template.spec.volumes[1].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
				"spec.template.spec.volumes[2].scaleIO: deprecated in v1.16, non-functional in v1.22+",
				"spec.template.spec.volumes[3].flocker: deprecated in v1.22, non-functional in v1.25+",
				"spec.template.spec.volumes[4].storageOS: deprecated in v1.22, non-functional in v1.25+",
				"spec.template.spec.volumes[5].quobyte: deprecated in v1.22, non-functional in v1.25+",
				"spec.template.spec.volumes[6].glusterfs: deprecated in v1.25, non-functional in v1.26+",
				"spec.template.spec.volumes[7].cephfs: deprecated in v1.28, non-functional in v1.31+",
				"spec.template.spec.volumes[8].rbd: deprecated in v1.28, non-functional in v1.31+",
				`spec.template.spec.volumes[9].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: fractional byte value "1m" is invalid, must be an integer`,
			},
		},
		"paths of a volume that overlap": {
			[]change{pod("volumes: [{name: v, configMap: {name: c, items: [{key: a, path: p}, {key: b, path: p/q}]}}]")},
			[]string{
				`volume "v" (ConfigMap "c"): overlapping paths: "p/q" with "p"`,
			},
		},
		"sources of a volume that overlap, and an empty one": {
			[]change{pod("volumes: [{name: v, projected: {sources: [{secret: {name: s, items: [{key: a, path: t}]}}, {serviceAccountToken: {path: t}}, {}]}}]")},
			[]string{
				`volume "v" (Projected): overlapping paths: "t" (ServiceAccountToken) with "t" (Secret "s")`,
				`volume "v" (Projected) has no sources provided`,
			},
		},
		"a host alias twice": {
			[]change{pod("hostAliases: [{ip: 10.0.0.1, hostnames: [a]}, {ip: 10.0.0.1, hostnames: [b]}]")},
			[]string{
				`spec.template.spec.hostAliases[1].ip: duplicate ip "10.0.0.1"`,
			},
		},
		"an address that is not in its usual form": {
			[]change{pod(`dnsConfig: {nameservers: ["2001:db8:0:0::1"]}`)},
			[]string{
				`spec.template.spec.dnsConfig.nameservers[0]: IPv6 address "2001:db8:0:0::1" should be in RFC 5952 canonical format ("2001:db8::1")`,
			},
		},
		"a pull secret twice and one without a name": {
			[]change{pod(`imagePullSecrets: [{name: a}, {name: a}, {name: ""}]`)},
			[]string{
				`spec.template.spec.imagePullSecrets[1].name: duplicate name "a"`,
				`spec.template.spec.imagePullSecrets[2].name: invalid empty name ""`,
			},
		},
		"part of a byte of overhead": {
			[]change{pod("overhead: {memory: 1500m}")},
			[]string{
				`spec.template.spec.overhead[memory]: fractional byte value "1500m" is invalid, must be an integer`,
			},
		},
		"parts of a byte": {
			[]change{container("resources: {limits: {memory: 1.5}, requests: {ephemeral-storage: 100m}}")},
			[]string{
				`spec.template.spec.containers[0].resources.limits[memory]: fractional byte value "1500m" is invalid, must be an integer`,
				`spec.template.spec.containers[0].resources.requests[ephemeral-storage]: fractional byte value "100m" is invalid, must be an integer`,
			},
		},
		"part of a byte in Gi": {
			[]change{container("resources: {requests: {memory: 0.9Gi}}")},
			[]string{
				`spec.template.spec.containers[0].resources.requests[memory]: fractional byte value "966367641600m" is invalid, must be an integer`,
			},
		},
		"memory in thousandths": {
			[]change{container("resources: {requests: {memory: 400m}}")},
			[]string{
				`spec.template.spec.containers[0].resources.requests[memory]: fractional byte value "400m" is invalid, must be an integer`,
			},
		},
		"a variable twice": {
			[]change{container("env: [{name: FOO, value: a}, {name: FOO, value: b}]")},
			[]string{
				`spec.template.spec.containers[0].env[1]: hides previous definition of "FOO", which may be dropped when using apply`,
			},
		},
		"a variable twice, the second made from the first": {
			[]change{container(`env: [{name: FOO, value: a}, {name: FOO, value: "$(FOO)b"}]`)},
			nil,
		},
		"a port twice": {
			[]change{container("ports: [{containerPort: 80}, {containerPort: 80}]")},
			[]string{
				"spec.template.spec.containers[0].ports[1]: duplicate port definition with spec.template.spec.containers[0].ports[0]",
			},
		},
		"a port twice, once of the host": {
			[]change{container("ports: [{containerPort: 80, hostPort: 81}, {containerPort: 80}]")},
			[]string{
				"spec.template.spec.containers[0].ports[1]: overlapping port definition with spec.template.spec.containers[0].ports[0]",
			},
		},
		"a host address without a host port": {
			[]change{container("ports: [{containerPort: 80, hostIP: 1.2.3.4}]")},
			[]string{
				"spec.template.spec.containers[0].ports[0]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:80 Protocol:TCP HostIP:1.2.3.4}",
			},
		},
		"a host port with and without an address": {
			[]change{container("ports: [{containerPort: 80, hostPort: 81, hostIP: 1.2.3.4}, {containerPort: 80, hostPort: 81}]")},
			[]string{
				"spec.template.spec.containers[0].ports[1]: dangerously ambiguous port definition with spec.template.spec.containers[0].ports[0]",
			},
		},
		"a port name in two containers": {
			[]change{pod("containers: [{name: a, image: i, ports: [{containerPort: 1, name: p}]}, {name: b, image: i, ports: [{containerPort: 2, name: p}]}]")},
			[]string{
				`spec.template.spec.containers[1].ports[0]: duplicate port name "p" with spec.template.spec.containers[0].ports[0], services and probes that select ports by name will use spec.template.spec.containers[0].ports[0]`,
			},
		},
		"a negative grace period": {
			[]change{pod("terminationGracePeriodSeconds: -1")},
			[]string{
				"spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
			},
		},
		"a host port and surge, which nobody warns of": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}"), container("ports: [{containerPort: 8080, hostPort: 54323}]")},
			nil,
		},
		"several, in order": {
			[]change{container("env: [{name: A, value: a}, {name: A, value: b}]"), pod("{terminationGracePeriodSeconds: -1, nodeSelector: {beta.kubernetes.io/os: linux}}")},
			[]string{
				`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
				`spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply`,
				"spec.template.spec.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := daemonSetPath(ns, unique("d"))
			created := createDaemonSet(t, ns, path[len(daemonSetsPath(ns))+1:], test.sent...)
			wantWarnings(t, created, test.warnings...)
			wantWarnings(t, mustSend(t, patch(mergePatch, path, `{"spec":{"minReadySeconds":1},"metadata":{"labels":{"a":"b"}}}`)))
			wantWarnings(t, mustSend(t, patch(mergePatch, path+"/status", `{"status":{"numberReady":1}}`)))
			template := mustSend(t, patch(mergePatch, path, `{"spec":{"template":{"metadata":{"labels":{"a":"b"}}}}}`))
			wantWarnings(t, template, test.warnings...)
			wantField(t, template, "metadata.generation", "3")
		})
	}
}

// TestDaemonSetDisabledFields sends fields whose feature is off by default: they are dropped without a word, on creation
// and on update, where they are no change of the template.
func TestDaemonSetDisabledFields(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ without, sent, want []change }{
		"stop signal": {
			sent: []change{pod("os: {name: linux}"), container("lifecycle: {stopSignal: SIGUSR1}")}, want: []change{pod("os: {name: linux}")},
			without: []change{pod("os: {name: linux}")},
		},
		"stop signal beside a hook": {
			sent:    []change{container("lifecycle: {stopSignal: SIGUSR1, preStop: {sleep: {seconds: 1}}}")},
			without: []change{container("lifecycle: {preStop: {sleep: {seconds: 1}}}")},
			want:    []change{container("lifecycle: {preStop: {sleep: {seconds: 1}}}")},
		},
		"mode of an empty directory": {
			sent:    []change{pod("volumes: [{name: v, emptyDir: {mode: 448}}]")},
			without: []change{pod("volumes: [{name: v, emptyDir: {}}]")},
			want:    []change{pod("volumes: [{name: v, emptyDir: {}}]")},
		},
		"options of a mount": {
			sent:    []change{pod("volumes: [{name: v, emptyDir: {}}]"), container("volumeMounts: [{name: v, mountPath: /v, bindMountOptions: [noexec]}]")},
			without: []change{pod("volumes: [{name: v, emptyDir: {}}]"), container("volumeMounts: [{name: v, mountPath: /v}]")},
			want:    []change{pod("volumes: [{name: v, emptyDir: {}}]"), container("volumeMounts: [{name: v, mountPath: /v}]")},
		},
		"users of files": {
			sent: []change{pod(`volumes: [{name: s, secret: {secretName: s, defaultUser: 5, items: [{key: a, path: b, user: 6}]}},
				{name: p, projected: {defaultUser: 5, sources: [{serviceAccountToken: {path: t, user: 5}}]}}]`)},
			without: []change{pod("volumes: [{name: s, secret: {secretName: s, items: [{key: a, path: b}]}}, {name: p, projected: {sources: [{serviceAccountToken: {path: t}}]}}]")},
			want: []change{pod(`volumes: [{name: s, secret: {secretName: s, defaultMode: 420, items: [{key: a, path: b}]}},
				{name: p, projected: {defaultMode: 420, sources: [{serviceAccountToken: {path: t, expirationSeconds: 3600}}]}}]`)},
		},
		"scheduling group":    {sent: []change{pod("schedulingGroup: {podGroupName: g}")}},
		"eviction responders": {sent: []change{pod("evictionResponders: [{name: example.com/a, priority: 5}]")}},
		"protocol of an HTTP probe": {
			sent:    []change{container("livenessProbe: {httpGet: {port: 80, protocol: HTTP2}}")},
			without: []change{container("livenessProbe: {httpGet: {port: 80}}")},
			want:    []change{container("livenessProbe: {httpGet: {port: 80, path: /, scheme: HTTP}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}")},
		},
		"mode of a gRPC probe": {
			sent:    []change{container("livenessProbe: {grpc: {port: 80, mode: TLS}}")},
			without: []change{container("livenessProbe: {grpc: {port: 80}}")},
			want:    []change{container(`livenessProbe: {grpc: {port: 80, service: ""}, timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3}`)},
		},
		"annotations that once were init containers": {
			sent: []change{template(`metadata: {annotations: {pod.beta.kubernetes.io/init-containers: "[]", pod.alpha.kubernetes.io/init-containers: "[]",
				pod.beta.kubernetes.io/init-container-statuses: x, pod.alpha.kubernetes.io/init-container-statuses: x, keep: me}}`)},
			without: []change{template("metadata: {annotations: {keep: me}}")},
			want:    []change{template("metadata: {annotations: {keep: me}}")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			created := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "d", test.sent...)})
			wantDaemonSet(t, created, http.StatusCreated, ns, test.want...)
			wantWarnings(t, created)

			createDaemonSet(t, ns, "e", test.without...)
			replaced := send(t, call{method: http.MethodPut, path: daemonSetPath(ns, "e"), body: daemonSet(t, "e", test.sent...)})
			wantDaemonSet(t, replaced, http.StatusOK, ns, append(test.want, meta("name: e"))...)
			wantWarnings(t, replaced)
		})
	}
}

// TestDaemonSetEnabledFields sends fields of recent features that are on by default.
func TestDaemonSetEnabledFields(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ sent, want []change }{
		"override of the host name": {sent: []change{pod("hostnameOverride: a.b")}, want: []change{pod("hostnameOverride: a.b")}},
		"restart policy of a container": {
			sent: []change{container("{restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]}")},
			want: []change{container("{restartPolicy: Never, restartPolicyRules: [{action: Restart, exitCodes: {operator: In, values: [1]}}]}")},
		},
		"variable from a file": {
			sent: []change{pod("volumes: [{name: v, emptyDir: {}}]"), container("env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k}}}]")},
			want: []change{pod("volumes: [{name: v, emptyDir: {}}]"), container("env: [{name: A, valueFrom: {fileKeyRef: {volumeName: v, path: p, key: k, optional: false}}}]")},
		},
		"users of the pod's own": {sent: []change{pod("hostUsers: false")}, want: []change{pod("hostUsers: false")}},
		"resources of the pod":   {sent: []change{pod("resources: {requests: {cpu: 1}}")}, want: []change{pod("resources: {requests: {cpu: '1'}}")}},
		"policies of the security context": {
			sent: []change{pod("securityContext: {supplementalGroupsPolicy: Strict, seLinuxChangePolicy: Recursive}")},
			want: []change{pod("securityContext: {supplementalGroupsPolicy: Strict, seLinuxChangePolicy: Recursive}")},
		},
		"claims of resources": {
			sent: []change{pod("resourceClaims: [{name: k, resourceClaimName: r}]"), container("resources: {claims: [{name: k}]}")},
			want: []change{pod("resourceClaims: [{name: k, resourceClaimName: r}]"), container("resources: {claims: [{name: k}]}")},
		},
		"recursive read-only mount": {
			sent: []change{pod("volumes: [{name: v, emptyDir: {}}]"), container("volumeMounts: [{name: v, mountPath: /v, readOnly: true, recursiveReadOnly: IfPossible}]")},
			want: []change{pod("volumes: [{name: v, emptyDir: {}}]"), container("volumeMounts: [{name: v, mountPath: /v, readOnly: true, recursiveReadOnly: IfPossible}]")},
		},
		"label keys of topology": {
			sent: []change{pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {}, matchLabelKeys: [app], nodeTaintsPolicy: Honor}]")},
			want: []change{pod("topologySpreadConstraints: [{maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule, labelSelector: {}, matchLabelKeys: [app], nodeTaintsPolicy: Honor}]")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			created := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "d", test.sent...)})
			wantDaemonSet(t, created, http.StatusCreated, ns, test.want...)
			wantWarnings(t, created)
		})
	}
}
