// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"strings"
	"testing"
)

// Texts that many causes end with.
const (
	notSubdomain  = `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`
	notLabel      = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	notLabelValue = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	notKey        = "name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
	notPercent    = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
	notAddress    = "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
)

// TestDaemonSetCreateRefused checks every cause of a refusal, in order.
func TestDaemonSetCreateRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	tests := map[string]struct {
		sent   []change
		causes []string
	}{
		"no name": {
			[]change{meta("name: null")},
			[]string{
				"metadata.name: Required value: name or generateName is required",
			},
		},
		"a name in upper case with an underscore": {
			[]change{meta("name: D_1")},
			[]string{
				`metadata.name: Invalid value: "D_1": ` + notSubdomain,
			},
		},
		"a name of 254 characters": {
			[]change{meta("name: " + strings.Repeat("n", 254))},
			[]string{
				`metadata.name: Invalid value: "` + strings.Repeat("n", 254) + `": must be no more than 253 characters`,
			},
		},
		"a label with a bad key and a bad value": {
			[]change{meta(`labels: {"a b": "-"}`)},
			[]string{
				`metadata.labels: Invalid value: "a b": ` + notKey,
				`metadata.labels: Invalid value: "-": ` + notLabelValue,
			},
		},
		"an annotation with a bad key": {
			[]change{meta(`annotations: {"a b": c}`)},
			[]string{
				`metadata.annotations: Invalid value: "a b": ` + notKey,
			},
		},
		"finalizers: no domain, a bad domain, both ways of deleting": {
			[]change{meta(`finalizers: [nodomain, "a b/c", foregroundDeletion, orphan]`)},
			[]string{
				`metadata.finalizers: Invalid value: "a b/c": prefix part ` + notSubdomain,
				`metadata.finalizers: Invalid value: ["nodomain","a b/c","foregroundDeletion","orphan"]: finalizer orphan and foregroundDeletion cannot be both set`,
				`metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified`,
			},
		},
		"owners: an empty one, an event, two controllers": {
			[]change{meta(`ownerReferences: [{apiVersion: "", kind: "", name: "", uid: ""}, {apiVersion: v1, kind: Event, name: e, uid: u}, {apiVersion: v1, kind: Pod, name: p, uid: u, controller: true}, {apiVersion: v1, kind: Pod, name: q, uid: v, controller: true}]`)},
			[]string{
				"metadata.ownerReferences[0].apiVersion: Required value: must not be empty",
				"metadata.ownerReferences[0].kind: Required value: must not be empty",
				"metadata.ownerReferences[0].name: Required value: must not be empty",
				"metadata.ownerReferences[0].uid: Required value: must not be empty",
				`metadata.ownerReferences[1]: Invalid value: {"apiVersion":"v1","kind":"Event","name":"e","uid":"u"}: /v1, Kind=Event is disallowed from being an owner`,
				`metadata.ownerReferences: Invalid value: [{"apiVersion":"","kind":"","name":"","uid":""},{"apiVersion":"v1","kind":"Event","name":"e","uid":"u"},{"apiVersion":"v1","kind":"Pod","name":"p","uid":"u","controller":true},{"apiVersion":"v1","kind":"Pod","name":"q","uid":"v","controller":true}]: Only one reference can have Controller set to true. Found "true" in references for Pod/p and Pod/q`,
			},
		},
		"no selector": {
			[]change{root("{spec: {selector: null}}")},
			[]string{
				"spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`",
			},
		},
		"an empty selector": {
			[]change{spec("selector: {matchLabels: null}")},
			[]string{
				"spec.selector: Invalid value: {}: empty selector is invalid for daemonset",
			},
		},
		"an empty selector and no labels": {
			[]change{spec("selector: {matchLabels: null}"), template("metadata: null")},
			[]string{
				"spec.selector: Invalid value: {}: empty selector is invalid for daemonset",
			},
		},
		"a label that the selector does not match": {
			[]change{template("metadata: {labels: {app: z}}")},
			[]string{
				"spec.template.metadata.labels: Invalid value: {\"app\":\"z\"}: `selector` does not match template `labels`",
			},
		},
		"no labels": {
			[]change{template("metadata: {labels: null}")},
			[]string{
				"spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
			},
		},
		"a selector value that no label can have": {
			[]change{spec(`selector: {matchLabels: {app: "-bad-"}}`)},
			[]string{
				`spec.selector.matchLabels: Invalid value: "-bad-": ` + notLabelValue,
			},
		},
		"a selector value that no label can have, and a label that has it": {
			[]change{spec(`selector: {matchLabels: {app: "-bad-"}}`), template(`metadata: {labels: {app: "-bad-"}}`)},
			[]string{
				`spec.selector.matchLabels: Invalid value: "-bad-": ` + notLabelValue,
				`spec.template.labels: Invalid value: "-bad-": ` + notLabelValue,
			},
		},
		"a selector key that no label can have": {
			[]change{spec(`selector: {matchLabels: {app: x, "a b": x}}`)},
			[]string{
				`spec.selector.matchLabels: Invalid value: "a b": ` + notKey,
			},
		},
		"an expression without an operator": {
			[]change{spec("selector: {matchExpressions: [{key: app, values: [x]}]}")},
			[]string{
				`spec.selector.matchExpressions[0].operator: Invalid value: "": not a valid selector operator`,
			},
		},
		"an expression In without values": {
			[]change{spec("selector: {matchExpressions: [{key: app, operator: In}]}")},
			[]string{
				"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'",
			},
		},
		"an expression Exists with values": {
			[]change{spec("selector: {matchExpressions: [{key: app, operator: Exists, values: [x]}]}")},
			[]string{
				"spec.selector.matchExpressions[0].values: Forbidden: may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
			},
		},
		"expressions with bad keys, a bad operator and a bad value": {
			[]change{spec(`selector: {matchExpressions: [{key: "", operator: Near, values: [x]}, {key: "-", operator: In, values: ["-"]}]}`)},
			[]string{
				`spec.selector.matchExpressions[0].operator: Invalid value: "Near": not a valid selector operator`,
				`spec.selector.matchExpressions[0].key: Invalid value: "": name part must be non-empty`,
				`spec.selector.matchExpressions[0].key: Invalid value: "": ` + notKey,
				`spec.selector.matchExpressions[1].key: Invalid value: "-": ` + notKey,
				`spec.selector.matchExpressions[1].values[0]: Invalid value: "-": ` + notLabelValue,
			},
		},
		"an expression that excludes the labels": {
			[]change{spec("selector: {matchExpressions: [{key: app, operator: NotIn, values: [x]}]}")},
			[]string{
				"spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`",
			},
		},
		"negative numbers": {
			[]change{spec("{minReadySeconds: -1, revisionHistoryLimit: -2}")},
			[]string{
				"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
				"spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0",
			},
		},
		"an unknown strategy": {
			[]change{spec("updateStrategy: {type: Recreate}")},
			[]string{
				`spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`,
			},
		},
		"an unknown strategy with a rolling update": {
			[]change{spec("updateStrategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}")},
			[]string{
				`spec.updateStrategy: Unsupported value: {"Type":"Recreate","RollingUpdate":{"MaxUnavailable":0,"MaxSurge":1}}: supported values: "RollingUpdate", "OnDelete"`,
			},
		},
		"maxSurge and maxUnavailable 0": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}")},
			[]string{
				"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
			},
		},
		"maxSurge and maxUnavailable 0%": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 0%}}")},
			[]string{
				"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
			},
		},
		"maxSurge beside the default of maxUnavailable": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 1}}")},
			[]string{
				"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
			},
		},
		"maxSurge and maxUnavailable": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 1}}")},
			[]string{
				"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
			},
		},
		"percentages of more than 100": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 101%, maxUnavailable: 150%}}")},
			[]string{
				`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "150%": must not be greater than 100%`,
				`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "101%": must not be greater than 100%`,
				`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "101%": may not be set when maxUnavailable is non-zero`,
			},
		},
		"negative maxSurge and maxUnavailable": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: -1, maxUnavailable: -2}}")},
			[]string{
				"spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: -2: must be greater than or equal to 0",
				"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -1: must be greater than or equal to 0",
				"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -1: may not be set when maxUnavailable is non-zero",
			},
		},
		"strings that are no percentages": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: some, maxUnavailable: 1.5%}}")},
			[]string{
				`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "1.5%": ` + notPercent,
				`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "some": ` + notPercent,
				"spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
			},
		},
		"an empty string for maxSurge": {
			[]change{spec(`updateStrategy: {rollingUpdate: {maxSurge: "", maxUnavailable: 100%}}`)},
			[]string{
				`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "": ` + notPercent,
			},
		},
		"numbers in strings": {
			[]change{spec(`updateStrategy: {rollingUpdate: {maxSurge: "1", maxUnavailable: "0"}}`)},
			[]string{
				`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "0": ` + notPercent,
				`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "1": ` + notPercent,
			},
		},
		"restart policy OnFailure": {
			[]change{pod("restartPolicy: OnFailure")},
			[]string{
				`spec.template.spec.restartPolicy: Unsupported value: "OnFailure": supported values: "Always"`,
			},
		},
		"an unknown restart policy": {
			[]change{pod("restartPolicy: Sometimes")},
			[]string{
				`spec.template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always", "OnFailure", "Never"`,
				`spec.template.spec.restartPolicy: Unsupported value: "Sometimes": supported values: "Always"`,
			},
		},
		"a deadline": {
			[]change{pod("activeDeadlineSeconds: 5")},
			[]string{
				"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
			},
		},
		"a deadline of 0": {
			[]change{pod("activeDeadlineSeconds: 0")},
			[]string{
				"spec.template.spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive",
				"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
			},
		},
		"no containers": {
			[]change{pod("containers: []")},
			[]string{
				"spec.template.spec.containers: Required value",
			},
		},
		"a container without name and image": {
			[]change{pod("containers: [{}]")},
			[]string{
				"spec.template.spec.containers[0].name: Required value",
				"spec.template.spec.containers[0].image: Required value",
			},
		},
		"two containers of one name": {
			[]change{pod("containers: [{name: c, image: i}, {name: c, image: j}]")},
			[]string{
				`spec.template.spec.containers[1].name: Duplicate value: "c"`,
			},
		},
		"an init container with the name of a container": {
			[]change{pod("initContainers: [{name: c, image: i}]")},
			[]string{
				`spec.template.spec.initContainers[0].name: Duplicate value: "c"`,
			},
		},
		"an ephemeral container": {
			[]change{pod("ephemeralContainers: [{name: e, image: i}]")},
			[]string{
				"spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template",
			},
		},
		"a bad container name, pull policy and message policy": {
			[]change{container("{name: C_1, imagePullPolicy: Maybe, terminationMessagePolicy: Maybe}")},
			[]string{
				`spec.template.spec.containers[0].name: Invalid value: "C_1": ` + notLabel,
				`spec.template.spec.containers[0].terminationMessagePolicy: Unsupported value: "Maybe": supported values: "File", "FallbackToLogsOnError"`,
				`spec.template.spec.containers[0].imagePullPolicy: Unsupported value: "Maybe": supported values: "Always", "IfNotPresent", "Never"`,
			},
		},
		"host network and another host port": {
			[]change{pod("hostNetwork: true"), container("ports: [{containerPort: 8080, hostPort: 54323}]")},
			[]string{
				"spec.template.spec.containers[0].ports[0].hostPort: Invalid value: 54323: must match `containerPort` when `hostNetwork` is true",
			},
		},
		"ports: none, out of range, bad names, a name twice": {
			[]change{container("ports: [{containerPort: 0}, {containerPort: 70000, hostPort: -1, protocol: HTTP}, {containerPort: 1, name: TOOLONGNAMEOFPORT}, {containerPort: 2, name: m}, {containerPort: 3, name: m}]")},
			[]string{
				"spec.template.spec.containers[0].ports[0].containerPort: Required value",
				"spec.template.spec.containers[0].ports[1].containerPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
				"spec.template.spec.containers[0].ports[1].hostPort: Invalid value: -1: must be between 1 and 65535, inclusive",
				`spec.template.spec.containers[0].ports[1].protocol: Unsupported value: "HTTP": supported values: "SCTP", "TCP", "UDP"`,
				`spec.template.spec.containers[0].ports[2].name: Invalid value: "TOOLONGNAMEOFPORT": must be no more than 15 characters`,
				`spec.template.spec.containers[0].ports[2].name: Invalid value: "TOOLONGNAMEOFPORT": must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)`,
				`spec.template.spec.containers[0].ports[2].name: Invalid value: "TOOLONGNAMEOFPORT": must contain at least one letter (a-z)`,
				`spec.template.spec.containers[0].ports[4].name: Duplicate value: "m"`,
			},
		},
		"a host port twice": {
			[]change{container("ports: [{containerPort: 1, hostPort: 5}, {containerPort: 2, hostPort: 5}]")},
			[]string{
				`spec.template.spec.containers[0].ports[1].hostPort: Duplicate value: "TCP//5"`,
			},
		},
		"variables: no name, a bad name, two sources, none, an unknown field": {
			[]change{container(`env: [{name: ""}, {name: "a=b", value: x}, {name: A, value: x, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}, {name: B, valueFrom: {}}, {name: C, valueFrom: {fieldRef: {fieldPath: spec.bogus}}}]`)},
			[]string{
				"spec.template.spec.containers[0].env[0].name: Required value",
				`spec.template.spec.containers[0].env[1].name: Invalid value: "a=b": a valid environment variable name must consist only of printable ASCII characters other than '='`,
				"spec.template.spec.containers[0].env[2].valueFrom: Invalid value: \"\": may not be specified when `value` is not empty",
				"spec.template.spec.containers[0].env[3].valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef`, `secretKeyRef` or `fileKeyRef`",
				`spec.template.spec.containers[0].env[4].valueFrom.fieldRef.fieldPath: Invalid value: "spec.bogus": error converting fieldPath: field label not supported: spec.bogus`,
			},
		},
		"a mount of no volume, and one without anything": {
			[]change{container(`volumeMounts: [{name: v, mountPath: /a}, {name: "", mountPath: ""}]`)},
			[]string{
				`spec.template.spec.containers[0].volumeMounts[0].name: Not found: "v"`,
				"spec.template.spec.containers[0].volumeMounts[1].name: Required value",
				`spec.template.spec.containers[0].volumeMounts[1].name: Not found: ""`,
				"spec.template.spec.containers[0].volumeMounts[1].mountPath: Required value",
			},
		},
		"volumes: no name, no path, no secret, two sources, a bad name, a bad path": {
			[]change{pod(`volumes: [{name: ""}, {name: a, hostPath: {path: ""}}, {name: b, secret: {}}, {name: b, emptyDir: {}, hostPath: {path: /a}}, {name: C_, emptyDir: {}}, {name: e, hostPath: {path: "../a", type: Bogus}}]`)},
			[]string{
				"spec.template.spec.volumes[0].name: Required value",
				"spec.template.spec.volumes[1].hostPath.path: Required value",
				"spec.template.spec.volumes[2].secret.secretName: Required value",
				"spec.template.spec.volumes[3].hostPath: Forbidden: may not specify more than 1 volume type",
				`spec.template.spec.volumes[4].name: Invalid value: "C_": ` + notLabel,
				`spec.template.spec.volumes[5].hostPath.path: Invalid value: "../a": must not contain '..'`,
				`spec.template.spec.volumes[5].hostPath.type: Unsupported value: "Bogus": supported values: "", "BlockDevice", "CharDevice", "Directory", "DirectoryOrCreate", "File", "FileOrCreate", "Socket"`,
			},
		},
		"a git repository without an address": {
			[]change{pod(`volumes: [{name: g, gitRepo: {repository: ""}}]`)},
			[]string{
				"spec.template.spec.volumes[0].gitRepo.repository: Required value",
			},
		},
		"probes: a bad threshold and period, no command, no handler": {
			[]change{container("{livenessProbe: {httpGet: {port: 80}, successThreshold: 2, periodSeconds: -1}, readinessProbe: {exec: {command: []}}, startupProbe: {}}")},
			[]string{
				"spec.template.spec.containers[0].livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
				"spec.template.spec.containers[0].livenessProbe.successThreshold: Invalid value: 2: must be 1",
				"spec.template.spec.containers[0].readinessProbe.exec.command: Required value",
				"spec.template.spec.containers[0].startupProbe: Required value: must specify a handler type",
			},
		},
		"a request above the limit": {
			[]change{container("resources: {requests: {cpu: 2}, limits: {cpu: 1}}")},
			[]string{
				`spec.template.spec.containers[0].resources.requests: Invalid value: "2": must be less than or equal to cpu limit of 1`,
			},
		},
		"an unknown resource": {
			[]change{container("resources: {requests: {bogus: 1}}")},
			[]string{
				`spec.template.spec.containers[0].resources.requests[bogus]: Invalid value: "bogus": must be a standard resource type or fully qualified`,
				`spec.template.spec.containers[0].resources.requests[bogus]: Invalid value: "bogus": must be a standard resource for containers`,
			},
		},
		"a negative request": {
			[]change{container(`resources: {requests: {cpu: "-1"}}`)},
			[]string{
				`spec.template.spec.containers[0].resources.requests[cpu]: Invalid value: "-1": must be greater than or equal to 0`,
			},
		},
		"part of an extended resource": {
			[]change{container("resources: {limits: {example.com/x: 1.5}}")},
			[]string{
				`spec.template.spec.containers[0].resources.limits[example.com/x]: Invalid value: "1500m": must be an integer`,
			},
		},
		"a bad node selector": {
			[]change{pod(`nodeSelector: {"a b": c}`)},
			[]string{
				`spec.template.spec.nodeSelector: Invalid value: "a b": ` + notKey,
			},
		},
		"tolerations: a value for nothing, no key, a bad effect, seconds without effect, an operator that is off": {
			[]change{pod("tolerations: [{key: a, operator: Exists, value: v}, {operator: Equal}, {key: a, effect: Bogus}, {key: a, tolerationSeconds: 5}, {key: a, operator: Gt, value: x}]")},
			[]string{
				"spec.template.spec.tolerations[0].operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'",
				"spec.template.spec.tolerations[1].operator: Invalid value: \"Equal\": operator must be Exists when `key` is empty, which means \"match all values and all keys\"",
				`spec.template.spec.tolerations[2].effect: Unsupported value: "Bogus": supported values: "NoSchedule", "PreferNoSchedule", "NoExecute"`,
				"spec.template.spec.tolerations[3].effect: Invalid value: \"\": effect must be 'NoExecute' when `tolerationSeconds` is set",
				`spec.template.spec.tolerations[4].operator: Unsupported value: "Gt": supported values: "Equal", "Exists", "Lt", "Gt"`,
			},
		},
		"affinity without terms and without a topology": {
			[]change{pod(`affinity: {nodeAffinity: {requiredDuringSchedulingIgnoredDuringExecution: {nodeSelectorTerms: []}}, podAntiAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [{topologyKey: ""}]}}`)},
			[]string{
				"spec.template.spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have at least one node selector term",
				"spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Required value: can not be empty",
				`spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": name part must be non-empty`,
				`spec.template.spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].topologyKey: Invalid value: "": ` + notKey,
			},
		},
		"DNS policy None and a nameserver that is no address": {
			[]change{pod("{dnsPolicy: None, dnsConfig: {nameservers: [x]}}")},
			[]string{
				`spec.template.spec.dnsConfig.nameservers[0]: Invalid value: "x": ` + notAddress,
			},
		},
		"DNS policy None and no nameservers": {
			[]change{pod("dnsPolicy: None")},
			[]string{
				"spec.template.spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None",
			},
		},
		"an unknown DNS policy": {
			[]change{pod("dnsPolicy: Bogus")},
			[]string{
				`spec.template.spec.dnsPolicy: Unsupported value: "Bogus": supported values: "ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"`,
			},
		},
		"security: a bad user, a bad sysctl, namespaces both shared and the host's": {
			[]change{pod(`{securityContext: {runAsUser: -1, sysctls: [{name: "a..b", value: "1"}]}, hostPID: true, shareProcessNamespace: true}`)},
			[]string{
				"spec.template.spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
				`spec.template.spec.securityContext.sysctls[0].name: Invalid value: "a..b": must have at most 253 characters and match regex ^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$`,
				"spec.template.spec.shareProcessNamespace: Invalid value: true: ShareProcessNamespace and HostPID cannot both be enabled",
			},
		},
		"a privileged container, which the server has to be told to allow": {
			[]change{container("securityContext: {privileged: true}")},
			[]string{
				"spec.template.spec.containers[0].securityContext.privileged: Forbidden: disallowed by cluster policy",
			},
		},
		"bad names of all kinds": {
			[]change{pod("{serviceAccountName: A_, nodeName: B_, hostname: C_, subdomain: D_, priorityClassName: E_, runtimeClassName: F_, hostAliases: [{ip: x, hostnames: [_]}], preemptionPolicy: Bogus}")},
			[]string{
				`spec.template.spec.serviceAccountName: Invalid value: "A_": ` + notSubdomain,
				`spec.template.spec.nodeName: Invalid value: "B_": ` + notSubdomain,
				`spec.template.spec.hostname: Invalid value: "C_": ` + notLabel,
				`spec.template.spec.subdomain: Invalid value: "D_": ` + notLabel,
				`spec.template.spec.hostAliases[0].ip: Invalid value: "x": ` + notAddress,
				`spec.template.spec.hostAliases[0].hostnames[0]: Invalid value: "_": ` + notSubdomain,
				`spec.template.spec.priorityClassName: Invalid value: "E_": ` + notSubdomain,
				`spec.template.spec.runtimeClassName: Invalid value: "F_": ` + notSubdomain,
				`spec.template.spec.preemptionPolicy: Unsupported value: "Bogus": supported values: "PreemptLowerPriority", "Never"`,
			},
		},
		"topology: bad ones and one twice": {
			[]change{pod(`topologySpreadConstraints: [{maxSkew: 0, topologyKey: "", whenUnsatisfiable: Bogus}, {maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}, {maxSkew: 1, topologyKey: z, whenUnsatisfiable: DoNotSchedule}]`)},
			[]string{
				"spec.template.spec.topologySpreadConstraints[0].maxSkew: Invalid value: 0: must be greater than zero",
				"spec.template.spec.topologySpreadConstraints[0].topologyKey: Required value: can not be empty",
				`spec.template.spec.topologySpreadConstraints[0].whenUnsatisfiable: Unsupported value: "Bogus": supported values: "DoNotSchedule", "ScheduleAnyway"`,
				`spec.template.spec.topologySpreadConstraints[1].{topologyKey, whenUnsatisfiable}: Duplicate value: "{z, DoNotSchedule}"`,
			},
		},
		"Windows and the host's processes": {
			[]change{pod("{os: {name: windows}, hostPID: true}")},
			[]string{
				"spec.template.spec.hostPID: Forbidden: cannot be set for a windows pod",
			},
		},
		"an unknown operating system": {
			[]change{pod("os: {name: plan9}")},
			[]string{
				`spec.template.spec.os: Unsupported value: "plan9": supported values: "linux", "windows"`,
			},
		},
		"a bad label of the template": {
			[]change{template(`metadata: {labels: {app: x, "a b": c}}`)},
			[]string{
				`spec.template.labels: Invalid value: "a b": ` + notKey,
			},
		},
		"a bad annotation of the template": {
			[]change{template(`metadata: {annotations: {"a b": c}}`)},
			[]string{
				`spec.template.annotations: Invalid value: "a b": ` + notKey,
			},
		},
		"a bad AppArmor annotation": {
			[]change{template("metadata: {annotations: {container.apparmor.security.beta.kubernetes.io/c: bogus}}")},
			[]string{
				`spec.template.annotations[container.apparmor.security.beta.kubernetes.io/c]: Invalid value: "bogus": invalid AppArmor profile name: "bogus"`,
			},
		},
		"a bad seccomp annotation": {
			[]change{template("metadata: {annotations: {seccomp.security.alpha.kubernetes.io/pod: bogus}}")},
			[]string{
				`spec.template.annotations.seccomp.security.alpha.kubernetes.io/pod: Invalid value: "bogus": must be a valid seccomp profile`,
			},
		},
		"scheduling gates: a bad one and one twice": {
			[]change{pod(`schedulingGates: [{name: "a b"}, {name: c}, {name: c}]`)},
			[]string{
				`spec.template.spec.schedulingGates[0]: Invalid value: "a b": ` + notKey,
				`spec.template.spec.schedulingGates[2]: Duplicate value: "c"`,
			},
		},
		"users of its own and the host's network": {
			[]change{pod("{hostUsers: false, hostNetwork: true}")},
			[]string{
				"spec.template.spec.hostNetwork: Forbidden: when `hostUsers` is false",
			},
		},
		"pod resources below those of a container": {
			[]change{pod("resources: {limits: {cpu: 1}, requests: {cpu: 1}}"), container("resources: {requests: {cpu: 2}}")},
			[]string{
				`spec.template.spec.resources.requests[cpu]: Invalid value: "1": must be greater than or equal to aggregate container requests of 2`,
			},
		},
		"a resize policy for an unknown resource": {
			[]change{container("resizePolicy: [{resourceName: disk, restartPolicy: NotRequired}]")},
			[]string{
				`spec.template.spec.containers[0].resizePolicy: Unsupported value: "disk": supported values: "cpu", "memory"`,
			},
		},
		"a sidecar that never restarts": {
			[]change{pod("initContainers: [{name: i, image: i, restartPolicy: Bogus}]")},
			[]string{
				`spec.template.spec.initContainers[0].restartPolicy: Unsupported value: "Bogus": supported values: "Always", "Never", "OnFailure"`,
			},
		},
		"a claim that the pod does not have": {
			[]change{container("resources: {claims: [{name: k}]}")},
			[]string{
				`spec.template.spec.containers[0].resources.claims[0]: Not found: "k": must be one of the names in pod.spec.resourceClaims which is empty`,
			},
		},
		"something wrong everywhere": {
			[]change{meta("name: D_1"), spec("{minReadySeconds: -1, revisionHistoryLimit: -1, updateStrategy: {rollingUpdate: {maxSurge: 1}}, selector: {matchLabels: {app: z}}}"), pod("{restartPolicy: Never, activeDeadlineSeconds: 5}"), container(`name: ""`)},
			[]string{
				`metadata.name: Invalid value: "D_1": ` + notSubdomain,
				"spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`",
				"spec.template.spec.containers[0].name: Required value",
				`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
				"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
				"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
				"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
				"spec.revisionHistoryLimit: Invalid value: -1: must be greater than or equal to 0",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			sent := daemonSet(t, "d", test.sent...)
			name, _ := sent["metadata"].(map[string]any)["name"].(string)
			got := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: sent})
			wantFailure(t, got, invalid(t, "DaemonSet.apps", name, test.causes...))
		})
	}
}

// TestDaemonSetGenerateNameRefused: the name is generated first, so that the answer tells it.
func TestDaemonSetGenerateNameRefused(t *testing.T) {
	t.Parallel()
	path := daemonSetsPath(newNamespace(t))
	tests := map[string]struct {
		base string
		// kept is what is left of base in the name.
		kept   string
		causes func(name string) []string
	}{
		"bad characters": {"Bad_", "Bad_", func(name string) []string {
			return []string{
				`metadata.generateName: Invalid value: "Bad_": ` + notSubdomain,
				`metadata.name: Invalid value: "` + name + `": ` + notSubdomain,
			}
		}},
		"300 characters": {strings.Repeat("g", 300), strings.Repeat("g", 58), func(string) []string {
			return []string{`metadata.generateName: Invalid value: "` + strings.Repeat("g", 300) + `": must be no more than 253 characters`}
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := send(t, call{method: http.MethodPost, path: path, body: daemonSet(t, "d", meta("{name: null, generateName: "+test.base+"}"))})
			generated := got.text("details.name")
			if !generatedName(test.kept).MatchString(generated) {
				t.Errorf("the name is %q", generated)
			}
			wantFailure(t, got, invalid(t, "DaemonSet.apps", generated, test.causes(generated)...))
		})
	}
}

// TestDaemonSetCreateUndecodable is about bodies that are no DaemonSet.
func TestDaemonSetCreateUndecodable(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	badRequest := func(message string) failure {
		return failure{code: http.StatusBadRequest, reason: "BadRequest", message: message}
	}
	undecodable := func(cause string) failure {
		return badRequest(`DaemonSet in version "v1" cannot be handled as a DaemonSet: ` + cause)
	}
	const quantity = "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
	object := func(changes ...change) any { return daemonSet(t, "d", changes...) }
	nothing := invalid(t, "DaemonSet.apps", "", "metadata.name: Required value: name or generateName is required",
		"spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`",
		"spec.template.spec.containers: Required value")

	tests := map[string]struct {
		body any
		want failure
	}{
		"a string for a number": {object(spec(`minReadySeconds: "1"`)),
			undecodable("json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32")},
		"a fraction": {object(spec("minReadySeconds: 1.5")),
			undecodable("json: cannot unmarshal number 1.5 into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32")},
		"a number of more than 32 bits": {object(spec("minReadySeconds: 2147483648")),
			undecodable("json: cannot unmarshal number 2147483648 into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32")},
		"a list for a selector": {object(spec("selector: [a]")),
			undecodable("json: cannot unmarshal array into Go struct field DaemonSetSpec.spec.selector of type v1.LabelSelector")},
		"a number for a label": {object(meta("labels: {a: 1}")),
			undecodable("json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string")},
		"maxUnavailable of more than 32 bits": {object(spec("updateStrategy: {rollingUpdate: {maxUnavailable: 2147483648}}")),
			undecodable("json: cannot unmarshal number 2147483648 into Go struct field RollingUpdateDaemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable of type int32")},
		"maxUnavailable true": {object(spec("updateStrategy: {rollingUpdate: {maxUnavailable: true}}")),
			undecodable("json: cannot unmarshal bool into Go struct field RollingUpdateDaemonSet.spec.updateStrategy.rollingUpdate.maxUnavailable of type int32")},
		"memory 96MB":  {object(container(`resources: {requests: {memory: 96MB}}`)), undecodable(quantity)},
		"memory 1gi":   {object(container(`resources: {requests: {memory: 1gi}}`)), undecodable(quantity)},
		"cpu true":     {object(container(`resources: {requests: {cpu: true}}`)), undecodable(quantity)},
		"an empty cpu": {object(container(`resources: {requests: {cpu: ""}}`)), undecodable(quantity)},
		"a template generation that is no number": {object(meta("annotations: {deprecated.daemonset.template.generation: abc}")),
			undecodable(`strconv.ParseInt: parsing "abc": invalid syntax`)},
		"an empty template generation": {object(meta("annotations: {deprecated.daemonset.template.generation: ''}")),
			undecodable(`strconv.ParseInt: parsing "": invalid syntax`)},
		"a template generation of more than 64 bits": {object(meta("annotations: {deprecated.daemonset.template.generation: '9223372036854775808'}")),
			undecodable(`strconv.ParseInt: parsing "9223372036854775808": value out of range`)},
		"another version": {object(root("apiVersion: apps/v1beta2")),
			badRequest("the API version in the data (apps/v1beta2) does not match the expected API version (apps/v1)")},
		"another namespace": {object(meta("namespace: other")),
			badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		"no body":     {"", badRequest("the object provided is unrecognized (must be of type DaemonSet): couldn't get version/kind; json parse error: unexpected end of JSON input (<empty>)")},
		"half a body": {"{", badRequest("the object provided is unrecognized (must be of type DaemonSet): couldn't get version/kind; json parse error: unexpected end of JSON input ({)")},
		"YAML called JSON": {"a: b",
			badRequest("the object provided is unrecognized (must be of type DaemonSet): couldn't get version/kind; json parse error: invalid character 'a' looking for beginning of value (613a2062)")},
		"a list":             {"[]", badRequest(`the object provided is unrecognized (must be of type DaemonSet): couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" } (5b5d)`)},
		"null":               {"null", nothing},
		"nothing but a kind": {`{"kind":"DaemonSet"}`, nothing},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: test.body}), test.want)
		})
	}
	t.Run("another kind", func(t *testing.T) {
		t.Parallel()
		got := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: object(root("kind: Deployment"))})
		wantFields(t, got, http.StatusBadRequest, map[string]string{"reason": "BadRequest"})
		// What follows tells whether the server knows that kind.
		if prefix := `Deployment in version "v1" cannot be handled as a DaemonSet: `; !strings.HasPrefix(got.message(), prefix) {
			t.Errorf("the message is %q", got.message())
		}
	})
}

// TestDaemonSetCreateAccepted is about what looks wrong and is not.
func TestDaemonSetCreateAccepted(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	tests := map[string]struct {
		sent     []change
		want     map[string]string
		warnings []string
	}{
		"a selector of expressions": {
			[]change{spec("selector: {matchLabels: null, matchExpressions: [{key: app, operator: In, values: [z, x]}, {key: other, operator: DoesNotExist}]}")},
			map[string]string{"spec.selector": "{matchExpressions: [{key: app, operator: In, values: [z, x]}, {key: other, operator: DoesNotExist}]}"},
			nil,
		},
		"maxSurge in percent": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 10%, maxUnavailable: 0}}")},
			map[string]string{"spec.updateStrategy.rollingUpdate": "{maxSurge: 10%, maxUnavailable: 0}"},
			nil,
		},
		"maxSurge 0% beside maxUnavailable": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxSurge: 0%, maxUnavailable: 1}}")},
			map[string]string{"spec.updateStrategy.rollingUpdate": "{maxSurge: 0%, maxUnavailable: 1}"},
			nil,
		},
		"a maxUnavailable of 32 bits": {
			[]change{spec("updateStrategy: {rollingUpdate: {maxUnavailable: 2147483647}}")},
			map[string]string{"spec.updateStrategy.rollingUpdate": "{maxSurge: 0, maxUnavailable: 2147483647}"},
			nil,
		},
		"host network and the same host port": {
			[]change{pod("hostNetwork: true"), container("ports: [{containerPort: 8080, hostPort: 8080}]")},
			map[string]string{"spec.template.spec.containers.0.ports": "[{containerPort: 8080, hostPort: 8080, protocol: TCP}]"},
			nil,
		},
		"no kind and no version": {
			[]change{root("{kind: null, apiVersion: null}")},
			map[string]string{"kind": "DaemonSet", "apiVersion": "apps/v1"},
			nil,
		},
		"a quantity larger than a number can be": {
			[]change{container(`resources: {requests: {cpu: "9223372036854775808"}}`)},
			map[string]string{"spec.template.spec.containers.0.resources.requests.cpu": `"9223372036854775808"`},
			nil,
		},
		"malformed managedFields": {
			[]change{meta("managedFields: [{manager: m, operation: Frob, apiVersion: apps/v1, fieldsType: FieldsV1, fieldsV1: {}}]")},
			map[string]string{"metadata.managedFields.0.operation": "Update", "metadata.managedFields.1": "null"},
			nil,
		},
		"a quantity with a part of a byte": {
			[]change{container("resources: {requests: {memory: 0.9Gi}, limits: {memory: 1.5Gi}}")},
			map[string]string{"spec.template.spec.containers.0.resources": "{requests: {memory: 966367641600m}, limits: {memory: 1536Mi}}"},
			[]string{`spec.template.spec.containers[0].resources.requests[memory]: fractional byte value "966367641600m" is invalid, must be an integer`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, unique("d"), test.sent...)})
			wantFields(t, got, http.StatusCreated, test.want)
			wantWarnings(t, got, test.warnings...)
		})
	}
}

// TestDaemonSetUpdateRefused checks every cause of a refusal, in order.
func TestDaemonSetUpdateRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	const unequal = "spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`"
	surge := []change{spec("updateStrategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}")}
	tests := map[string]struct {
		// created are the changes to what is there already.
		created []change
		// patch is of strategicPatch when strategic, else of mergePatch.
		patch     string
		strategic bool
		causes    []string
	}{
		"another selector": {
			patch:  `{"spec":{"selector":{"matchLabels":{"app":"z"}}}}`,
			causes: []string{`spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable`, unequal},
		},
		"another selector and other labels": {
			patch:  `{"spec":{"selector":{"matchLabels":{"app":"z"}},"template":{"metadata":{"labels":{"app":"z"}}}}}`,
			causes: []string{`spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable`},
		},
		"a bad selector": {
			patch: `{"spec":{"selector":{"matchLabels":{"app":"-bad-"}}}}`,
			causes: []string{
				`spec.selector: Invalid value: {"matchLabels":{"app":"-bad-"}}: field is immutable`,
				`spec.selector.matchLabels: Invalid value: "-bad-": ` + notLabelValue,
			},
		},
		"no selector": {
			patch:  `{"spec":{"selector":null}}`,
			causes: []string{"spec.selector: Invalid value: null: field is immutable", unequal},
		},
		"the same selector in another order": {
			created: []change{spec("selector: {matchLabels: null, matchExpressions: [{key: app, operator: In, values: [x, z]}]}")},
			patch:   `{"spec":{"selector":{"matchExpressions":[{"key":"app","operator":"In","values":["z","x"]}]}}}`,
			causes:  []string{`spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In","values":["z","x"]}]}: field is immutable`},
		},
		"other labels": {
			patch:  `{"spec":{"template":{"metadata":{"labels":{"app":"z"}}}}}`,
			causes: []string{"spec.template.metadata.labels: Invalid value: {\"app\":\"z\"}: `selector` does not match template `labels`"},
		},
		"maxSurge beside maxUnavailable": {
			patch: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":"25%"}}}}`, strategic: true,
			causes: []string{`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "25%": may not be set when maxUnavailable is non-zero`},
		},
		"maxUnavailable removed, which defaults it": {
			created: surge,
			patch:   `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":null}}}}`, strategic: true,
			causes: []string{`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "25%": may not be set when maxUnavailable is non-zero`},
		},
		"back from OnDelete to bad values": {
			created: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 150%, maxSurge: -4}}")},
			patch:   `{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}`,
			causes: []string{
				"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -4: must be greater than or equal to 0",
				`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "150%": must not be greater than 100%`,
				"spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -4: may not be set when maxUnavailable is non-zero",
			},
		},
		"an unknown strategy": {
			patch:  `{"spec":{"updateStrategy":{"type":"Bogus"}}}`,
			causes: []string{`spec.updateStrategy: Unsupported value: {"Type":"Bogus","RollingUpdate":{"MaxUnavailable":1,"MaxSurge":0}}: supported values: "RollingUpdate", "OnDelete"`},
		},
		"negative numbers": {
			patch: `{"spec":{"minReadySeconds":-1,"revisionHistoryLimit":-2}}`,
			causes: []string{
				"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
				"spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0",
			},
		},
		"no containers": {
			patch: `{"spec":{"template":{"spec":{"containers":null}}}}`, strategic: true,
			causes: []string{"spec.template.spec.containers: Required value"},
		},
		"another restart policy and a deadline": {
			patch: `{"spec":{"template":{"spec":{"restartPolicy":"Never","activeDeadlineSeconds":5}}}}`,
			causes: []string{
				`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
				"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported",
			},
		},
		"another uid": {
			patch: `{"metadata":{"uid":"x"}}`, causes: []string{`metadata.uid: Invalid value: "x": field is immutable`},
		},
		"a time of deletion": {
			patch:  `{"metadata":{"deletionTimestamp":"2001-01-01T00:00:00Z"}}`,
			causes: []string{`metadata.deletionTimestamp: Invalid value: "2001-01-01T00:00:00Z": field is immutable`},
		},
		"a grace period": {
			patch: `{"metadata":{"deletionGracePeriodSeconds":3}}`, causes: []string{"metadata.deletionGracePeriodSeconds: Invalid value: 3: field is immutable"},
		},
		"a finalizer without a domain": {
			patch:  `{"metadata":{"finalizers":["nodomain"]}}`,
			causes: []string{`metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified`},
		},
		"a bad label": {
			patch: `{"metadata":{"labels":{"a b":"c"}}}`, causes: []string{`metadata.labels: Invalid value: "a b": ` + notKey},
		},
		"an owner without a uid": {
			patch:  `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"p","uid":""}]}}`,
			causes: []string{"metadata.ownerReferences[0].uid: Required value: must not be empty"},
		},
		"something wrong everywhere": {
			patch: `{"metadata":{"uid":"x","labels":{"a b":"c"}},"spec":{"selector":{"matchLabels":{"app":"z"}},"minReadySeconds":-1,"template":{"spec":{"restartPolicy":"Never"}}}}`,
			causes: []string{
				`metadata.labels: Invalid value: "a b": ` + notKey,
				`metadata.uid: Invalid value: "x": field is immutable`,
				`spec.selector: Invalid value: {"matchLabels":{"app":"z"}}: field is immutable`,
				unequal,
				`spec.template.spec.restartPolicy: Unsupported value: "Never": supported values: "Always"`,
				"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name := unique("d")
			before := createDaemonSet(t, ns, name, test.created...)
			contentType := mergePatch
			if test.strategic {
				contentType = strategicPatch
			}
			got := send(t, patch(contentType, daemonSetPath(ns, name), test.patch))
			wantFailure(t, got, invalid(t, "DaemonSet.apps", name, test.causes...))
			unchanged(t, before, mustSend(t, get(daemonSetPath(ns, name))))
		})
	}
}
