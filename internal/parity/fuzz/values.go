// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"strconv"
	"strings"
)

// choice is what a place may get, each as JSON.
type choice struct{ right, wrong []string }

// values are what generated objects are made of.
type values struct {
	// of has choices by "Type.field", by type, or by field.
	of map[string]choice
	// unions are types of which one member is there.
	unions map[string]bool
	// common are members of a union that come more often.
	common map[string][]string
	// required are optional fields that a rule wants; never those that a rule forbids here.
	required, never map[string]bool
}

func newValues() *values {
	v := &values{of: map[string]choice{}, common: map[string][]string{
		"VolumeSource":     {"emptyDir", "hostPath", "configMap", "secret", "projected", "downwardAPI", "csi", "ephemeral", "persistentVolumeClaim"},
		"EnvVarSource":     {"fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef"},
		"LifecycleHandler": {"exec", "httpGet"},
	}}
	v.unions = set("VolumeSource ProbeHandler LifecycleHandler EnvVarSource VolumeProjection EnvFromSource")
	v.required = set(`PodTemplateSpec.spec PodSpec.containers Container.image SecretVolumeSource.secretName ConfigMapVolumeSource.name EmptyDirVolumeSource.medium LocalObjectReference.name
		ConfigMapKeySelector.name SecretKeySelector.name ConfigMapEnvSource.name SecretEnvSource.name SecretProjection.name ConfigMapProjection.name
		ProjectedVolumeSource.sources DownwardAPIVolumeSource.items ImageVolumeSource.reference EphemeralVolumeSource.volumeClaimTemplate
		PersistentVolumeClaimSpec.accessModes PersistentVolumeClaimSpec.resources FCVolumeSource.targetWWNs FCVolumeSource.lun
		HTTPGetAction.path ExecAction.command SleepAction.seconds HostAlias.hostnames SeccompProfile.type FlockerVolumeSource.datasetName
		ISCSIVolumeSource.iqn ScaleIOVolumeSource.volumeName StorageOSVolumeSource.volumeName StorageOSVolumeSource.volumeNamespace
		PodAffinityTerm.labelSelector PreferredSchedulingTerm.preference PodDNSConfigOption.name AppArmorProfile.type SELinuxOptions.level`)
	v.never = set(`PodSpec.ephemeralContainers PodSpec.activeDeadlineSeconds PodSpec.os PodSpec.hostnameOverride PodSpec.resourceClaims
		PodSpec.evictionResponders PodSpec.schedulingGroup Container.volumeDevices Container.restartPolicy Container.restartPolicyRules ResourceRequirements.claims
		LifecycleHandler.tcpSocket SecurityContext.windowsOptions PodSecurityContext.windowsOptions VolumeMount.subPathExpr Lifecycle.stopSignal
		EnvVarSource.fileKeyRef Probe.terminationGracePeriodSeconds ObjectMeta.creationTimestamp ObjectMeta.deletionTimestamp ObjectMeta.managedFields
		ObjectMeta.ownerReferences ObjectMeta.deletionGracePeriodSeconds VolumeMount.recursiveReadOnly VolumeMount.mountPropagation
		VolumeProjection.podCertificate EnvVar.valueFrom PersistentVolumeClaimSpec.dataSourceRef PersistentVolumeClaimSpec.volumeName
		PodSpec.resources PodSpec.hostUsers PodSpec.setHostnameAsFQDN PodSpec.hostNetwork EnvFromSource.prefix
		PodAffinityTerm.mismatchLabelKeys SecurityContext.privileged`)
	v.types()
	v.fields()
	v.structs()
	return v
}

func set(names string) map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(names) {
		out[name] = true
	}
	return out
}

// words adds texts for places, with spaces between them; what comes after a | breaks a rule.
func (v *values) words(places, words string) {
	right, wrong, _ := strings.Cut(words, "|")
	var c choice
	for _, word := range strings.Fields(right) {
		c.right = append(c.right, strconv.Quote(word))
	}
	for _, word := range strings.Fields(wrong) {
		if word == "''" {
			word = ""
		}
		c.wrong = append(c.wrong, strconv.Quote(word))
	}
	v.put(places, c)
}

// numbers is words without quotes.
func (v *values) numbers(places, numbers string) {
	right, wrong, _ := strings.Cut(numbers, "|")
	v.put(places, choice{strings.Fields(right), strings.Fields(wrong)})
}

// lines adds JSON, a value a line; those after a line that is | break a rule.
func (v *values) lines(places, lines string) {
	right, wrong, _ := strings.Cut(lines, "|\n")
	v.put(places, choice{nonEmpty(right), nonEmpty(wrong)})
}

func nonEmpty(lines string) []string {
	var out []string
	for line := range strings.Lines(lines) {
		if line = strings.TrimSpace(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

func (v *values) put(places string, c choice) {
	for _, place := range strings.Fields(places) {
		v.of[place] = c
	}
}

// types are enumerations.
func (v *values) types() {
	v.words("RestartPolicy", "Always | OnFailure Never always ''")
	v.words("DNSPolicy", "ClusterFirst Default ClusterFirstWithHostNet | None None Bad ''")
	v.words("PullPolicy", "Always IfNotPresent Never | Sometimes ''")
	v.words("Protocol", "TCP UDP SCTP | tcp ICMP ''")
	v.words("URIScheme", "HTTP HTTPS | http ftp ''")
	v.words("TaintEffect", "NoSchedule PreferNoSchedule NoExecute | Never ''")
	v.words("TolerationOperator", "Exists | Equal Lt Gt In ''")
	v.words("UnsatisfiableConstraintAction", "DoNotSchedule ScheduleAnyway | Maybe ''")
	v.words("NodeInclusionPolicy", "Honor Ignore | Obey ''")
	v.words("PodFSGroupChangePolicy", "Always OnRootMismatch | Never ''")
	v.words("SupplementalGroupsPolicy", "Merge Strict | Bad ''")
	v.words("PodSELinuxChangePolicy", "MountOption Recursive | Bad ''")
	v.words("ProcMountType", "Default | Unmasked Bad ''")
	v.words("MountPropagationMode", "None HostToContainer | Bidirectional Bad ''")
	v.words("RecursiveReadOnlyMode", "Disabled | IfPossible Enabled Bad ''")
	v.words("HostPathType", "DirectoryOrCreate Directory FileOrCreate File Socket CharDevice BlockDevice | Folder")
	v.words("StorageMedium", "Memory HugePages HugePages-2Mi | Disk HugePages-x")
	v.words("TerminationMessagePolicy", "File FallbackToLogsOnError | Bad ''")
	v.words("PreemptionPolicy", "Never PreemptLowerPriority | Bad ''")
	v.words("OSName", "linux | windows bsd ''")
	v.words("ResourceResizeRestartPolicy", "NotRequired RestartContainer | Bad ''")
	v.words("ContainerRestartPolicy", "Always | Never OnFailure Bad ''")
	v.words("ContainerRestartRuleAction", "Restart | RestartAllContainers Bad ''")
	v.words("ContainerRestartRuleOnExitCodesOperator", "In NotIn | Bad ''")
	v.words("AzureDataDiskCachingMode", "None ReadOnly ReadWrite | Bad ''")
	v.words("AzureDataDiskKind", "Shared Dedicated Managed | Bad ''")
	v.words("PersistentVolumeAccessMode", "ReadWriteOnce ReadOnlyMany ReadWriteMany | ReadWriteOncePod Bad ''")
	v.words("PersistentVolumeMode", "Filesystem Block | Bad ''")
	v.words("Capability", "NET_ADMIN ALL CAP_KILL SYS_TIME | all net_admin ''")
	v.words("GRPCProbeMode", "Plaintext TLS | tls ''")
	v.words("Signal", "SIGTERM SIGUSR1 | TERM ''")
	v.words("DaemonSetUpdateStrategyType", "RollingUpdate OnDelete | Recreate ''")
	v.words("PodConditionType", "example.com/ready Ready | a/b/c ''")
}

// fields are texts and numbers that have rules of their own.
func (v *values) fields() {
	v.words("name", "a b c d1 x-y | A_b '' -x x- a.b a/b ünï "+strings.Repeat("n", 64)+" "+strings.Repeat("n", 254))
	v.words("EnvVar.name", "A B PATH x.y a-b | '' 1A A=B ü")
	v.words("EnvVar.value", "a $(B) $$(B) true")
	v.words("ContainerPort.name", "http dns a1 | HTTP a_b 123 '' toolong-toolong-1 -a")
	v.words("Container.image", "img:1 img img:latest example.com/a/b:2 img@sha256:0000 | '' UP:1")
	v.words("Container.terminationMessagePath", "/dev/x /a")
	v.words("hostIP ip HostAlias.ip", "10.1.2.3 fd00::1 127.0.0.1 | 010.1.2.3 ::ffff:1.2.3.4 host '' 300.1.1.1")
	v.words("HTTPGetAction.host TCPSocketAction.host", "localhost 10.1.2.3 | a_b")
	v.words("VolumeMount.mountPath VolumeDevice.devicePath", "/a /b /c /d/e | '' a a:b /")
	v.words("VolumeMount.subPath VolumeMount.subPathExpr", "a a/b $(A) | /a .. a/../b")
	v.words("VolumeMount.name", "a b c | '' zz")
	v.words("path", "a b/c ..d | /a .. a/../b ''")
	v.words("HTTPGetAction.path HostPathVolumeSource.path NFSVolumeSource.path CephFSVolumeSource.path", "/a /b / | a '' /a/../b")
	v.words("hostname subdomain", "a b1 | A a.b a_b "+strings.Repeat("n", 64))
	v.words("nodeName serviceAccountName serviceAccount schedulerName runtimeClassName priorityClassName", "a a.b node-1 | A a_b -a")
	v.words("PodSpec.hostnameOverride", "a a.b | A a..b "+strings.Repeat("n", 65))
	v.words("topologyKey", "zone kubernetes.io/hostname | '' a/b/c -a")
	v.words("ResourceName", "cpu memory | ephemeral-storage example.com/gpu hugepages-2Mi storage pods Cpu a/b/c ''")
	v.words("ContainerResizePolicy.resourceName", "cpu memory | storage")
	v.words("ResourceFieldSelector.resource", "limits.cpu limits.memory requests.cpu requests.ephemeral-storage limits.hugepages-2Mi | cpu limits.x ''")
	v.words("ObjectFieldSelector.fieldPath", "metadata.name metadata.namespace metadata.uid metadata.labels['a'] metadata.annotations['b/c']"+
		" | spec.nodeName status.podIP metadata.labels spec.x '' metadata.labels[a]")
	v.words("ObjectFieldSelector.apiVersion", "v1 | v2 ''")
	v.words("Sysctl.name", "net.a kernel.shm_x net/a | A..b kernel- ''")
	v.words("nameservers", "10.1.2.3 fd00::1 | host ''")
	v.words("searches", "a.b a.b. _x.y | A. -a")
	v.words("driver", "a.example.com | '' a_b -a")
	v.words("runAsUserName", `a NT\b | ''`)
	v.words("signerName", "example.com/a | a A/b ''")
	v.words("audience", "a https://a")
	v.words("iqn initiatorName", "iqn.2001-04.com.example:a | iqn a ''")
	v.words("targetPortal portals", "10.1.2.3:3260 | ''")
	v.words("finalizers", "example.com/a | a -")
	v.words("generateName", "a- | A_")
	v.words("SELinuxOptions.level", "s0 | ''")
	v.words("appArmorProfile localhostProfile", "a/b c | /a ../a ''")
	v.numbers("containerPort hostPort", "80 443 8080 65535 | 0 -1 65536 2147483648 \"80\" 1.5")
	v.numbers("GRPCAction.port", "80 | 0 -1 65536")
	v.numbers("defaultMode mode", "420 256 0 511 | 512 -1 1023")
	v.numbers("terminationGracePeriodSeconds", "0 1 30 3600 | -1")
	v.numbers("initialDelaySeconds timeoutSeconds periodSeconds failureThreshold", "0 1 5 300 | -1 2147483648")
	v.numbers("successThreshold", "1 0 | 2 -1")
	v.numbers("runAsUser runAsGroup fsGroup supplementalGroups", "0 1 1000 2147483647 | -1 2147483648")
	v.numbers("weight", "1 50 100 | 0 -1 101")
	v.numbers("maxSkew", "1 2 | 0 -1")
	v.numbers("minDomains", "1 3 | 0 -1")
	v.numbers("lun", "0 1 255 | 256 -1")
	v.numbers("expirationSeconds", "600 3600 | 599 4294967297 -1")
	v.numbers("SleepAction.seconds", "1 5 | 0 -1 100000")
	v.numbers("minReadySeconds revisionHistoryLimit", "0 1 10 | -1 2147483648")
	v.numbers("priority", "0 1 100 | 2147483648 -2147483649")
	v.numbers("tolerationSeconds", "0 5 -1")
	v.numbers("user defaultUser", "0 1000 | -1")
}

// structs are whole objects, for types whose fields have to fit together.
func (v *values) structs() {
	v.lines("Quantity", `"1"
"100m"
"1Gi"
"1e3"
0.5
2
".5"
"0"
"1500u"
"1.50"
|
"-1"
""
"1 Gi"
"1x"
"1e99999"
true
"10000000000000000000000"
`)
	v.lines("IntOrString", `80
"http"
8080
|
0
-1
65536
"HTTP"
""
"80"
"10%"
`)
	v.lines("RollingUpdateDaemonSet", `{}
{"maxUnavailable":1}
{"maxUnavailable":"10%"}
{"maxSurge":1,"maxUnavailable":0}
{"maxSurge":"25%","maxUnavailable":0}
|
{"maxSurge":1}
{"maxUnavailable":0}
{"maxUnavailable":"101%"}
{"maxUnavailable":"x"}
{"maxSurge":-1,"maxUnavailable":"0%"}
`)
	v.lines("Toleration", `{"operator":"Exists"}
{"key":"a","operator":"Exists","effect":"NoSchedule"}
{"key":"a","value":"b","effect":"NoExecute","tolerationSeconds":5}
{"key":"a/b","operator":"Equal","value":"c"}
|
{"value":"a"}
{"key":"a","operator":"Exists","value":"b"}
{"key":"a","operator":"Gt","value":"5"}
{"key":"a","effect":"NoSchedule","tolerationSeconds":5}
`)
	v.lines("NodeSelectorRequirement", `{"key":"a","operator":"Exists"}
{"key":"kubernetes.io/os","operator":"In","values":["linux"]}
{"key":"beta.kubernetes.io/arch","operator":"NotIn","values":["arm"]}
{"key":"n","operator":"Gt","values":["3"]}
{"key":"metadata.name","operator":"In","values":["node-1"]}
|
{"key":"a","operator":"In"}
{"key":"a","operator":"Gt","values":["x","y"]}
{"key":"a b","operator":"Exists","values":["c"]}
{"key":"a","operator":"in","values":["-"]}
`)
	v.lines("NodeSelectorTerm", `{"matchExpressions":[{"key":"a","operator":"Exists"}]}
{"matchFields":[{"key":"metadata.name","operator":"In","values":["n1"]}]}
{}
|
{"matchFields":[{"key":"spec.x","operator":"In","values":["n1"]}]}
{"matchFields":[{"key":"metadata.name","operator":"Exists"}]}
`)
	v.lines("LabelSelector", `{}
{"matchLabels":{"app":"x"}}
{"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}
|
{"matchLabels":{"a b":"c"}}
{"matchLabels":{"a":"-"}}
{"matchExpressions":[{"key":"a","operator":"In"}]}
{"matchExpressions":[{"key":"a","operator":"Bad"}]}
`)
	v.lines("SeccompProfile", `{"type":"RuntimeDefault"}
{"type":"Unconfined"}
{"type":"Localhost","localhostProfile":"a/b.json"}
|
{"type":"Localhost"}
{"type":"RuntimeDefault","localhostProfile":"a"}
{"type":"Localhost","localhostProfile":"../a"}
{"type":""}
`)
	v.lines("AppArmorProfile", `{"type":"RuntimeDefault"}
{"type":"Unconfined"}
{"type":"Localhost","localhostProfile":"a"}
|
{"type":"Localhost"}
{"type":"Localhost","localhostProfile":" a"}
{"type":"Unconfined","localhostProfile":"a"}
`)
	v.moreStructs()
}

func (v *values) moreStructs() {
	v.lines("ResourceRequirements", `{}
{"requests":{"cpu":"100m"}}
{"limits":{"cpu":1,"memory":"1Gi"}}
{"limits":{"cpu":"1"},"requests":{"cpu":0.25,"memory":"1.5Gi"}}
{"limits":{"example.com/gpu":1}}
{"limits":{"ephemeral-storage":"100m"}}
{"limits":{"hugepages-2Mi":"4Mi","memory":"1Gi"}}
|
{"limits":{"cpu":"1"},"requests":{"cpu":"2"}}
{"requests":{"example.com/gpu":1}}
{"limits":{"example.com/gpu":"500m"}}
{"limits":{"hugepages-2Mi":"3Mi"}}
{"limits":{"a":"1"}}
{"requests":{"memory":"-1"}}
{"claims":[{"name":"a"}]}
`)
	v.lines("VolumeResourceRequirements", `{"requests":{"storage":"1Gi"}}
{"requests":{"storage":"1Gi"},"limits":{"storage":"2Gi"}}
|
{}
{"requests":{"storage":"0"}}
{"requests":{"cpu":"1"}}
`)
	v.lines("TypedLocalObjectReference TypedObjectReference", `{"kind":"PersistentVolumeClaim","name":"a"}
{"apiGroup":"snapshot.storage.k8s.io","kind":"VolumeSnapshot","name":"a"}
|
{"kind":"Pod","name":"a"}
{"kind":"","name":""}
`)
	v.lines("ClusterTrustBundleProjection", `{"name":"a","path":"p"}
{"signerName":"example.com/a","labelSelector":{},"path":"p"}
|
{"path":"p"}
{"name":"a","signerName":"example.com/a","path":"p"}
{"name":"a","path":"../p"}
`)
	v.lines("PodCertificateProjection", `{"signerName":"example.com/a","keyType":"ED25519","credentialBundlePath":"p"}
|
{"signerName":"example.com/a","keyType":"DSA","credentialBundlePath":"p"}
{"signerName":"a","keyType":"ED25519","keyPath":"p"}
`)
	v.lines("DownwardAPIVolumeFile", `{"path":"a","fieldRef":{"fieldPath":"metadata.labels"}}
{"path":"b","fieldRef":{"fieldPath":"metadata.name"},"mode":256}
{"path":"c","resourceFieldRef":{"containerName":"a","resource":"limits.cpu","divisor":"1m"}}
|
{"path":"c","resourceFieldRef":{"resource":"limits.cpu"}}
{"path":"d","fieldRef":{"fieldPath":"spec.nodeName"}}
{"path":"../e","fieldRef":{"fieldPath":"metadata.uid"}}
{"path":"f"}
`)
	v.lines("PodDNSConfig", `{"nameservers":["10.1.2.3"],"searches":["a.b"],"options":[{"name":"ndots","value":"2"}]}
{"options":[{"name":"edns0"}]}
{}
|
{"nameservers":["1.1.1.1","1.1.1.2","1.1.1.3","1.1.1.4"]}
{"nameservers":["x"],"searches":["-"],"options":[{"name":""}]}
`)
	v.lines("TopologySpreadConstraint", `{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{}}
{"maxSkew":2,"topologyKey":"a","whenUnsatisfiable":"ScheduleAnyway","nodeAffinityPolicy":"Ignore","nodeTaintsPolicy":"Honor"}
{"maxSkew":1,"minDomains":2,"topologyKey":"b","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}},"matchLabelKeys":["k"]}
|
{"maxSkew":1,"minDomains":2,"topologyKey":"zone","whenUnsatisfiable":"ScheduleAnyway"}
{"maxSkew":1,"topologyKey":"zone","whenUnsatisfiable":"DoNotSchedule","labelSelector":{"matchLabels":{"app":"x"}},"matchLabelKeys":["app"]}
`)
	v.lines("DaemonSetUpdateStrategy", `{"type":"OnDelete"}
{"type":"RollingUpdate","rollingUpdate":{"maxUnavailable":"50%"}}
{"rollingUpdate":{"maxUnavailable":2}}
{}
|
{"type":"OnDelete","rollingUpdate":{"maxUnavailable":0}}
{"type":"Bad"}
`)
	v.lines("ObjectMeta", `{}
{"annotations":{"a":"b"}}
{"annotations":{"seccomp.security.alpha.kubernetes.io/pod":"runtime/default"}}
{"annotations":{"container.seccomp.security.alpha.kubernetes.io/a":"localhost/x"}}
{"annotations":{"scheduler.alpha.kubernetes.io/critical-pod":""}}
{"name":"p","namespace":"q","generateName":"r-"}
|
{"annotations":{"a b":"c"}}
{"annotations":{"container.apparmor.security.beta.kubernetes.io/a":"unconfined"}}
{"annotations":{"container.apparmor.security.beta.kubernetes.io/zz":"bad"}}
{"annotations":{"kubernetes.io/config.mirror":"x"}}
{"finalizers":["a"]}
{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"","uid":""}]}
`)
	v.lines("Time", `null
"2020-01-02T03:04:05Z"
|
"yesterday"
`)
	v.words("PodSpec.nodeSelector[key]", "a kubernetes.io/os beta.kubernetes.io/os | -a a/b/c")
	v.words("PodSpec.nodeSelector[value]", "linux a | - a_")
}
