// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// manifest is daemonSet in YAML.
func manifest(t *testing.T, name string, changes ...change) string {
	t.Helper()
	out, err := yaml.Marshal(daemonSet(t, name, changes...))
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func ports(list string) change { return container("ports: " + list) }

// wantPorts compares the ports of the first container.
func wantPorts(t *testing.T, namespace, name, want string) {
	t.Helper()
	wantField(t, mustSend(t, get(daemonSetPath(namespace, name))), "spec.template.spec.containers.0.ports", want)
}

// TestKubectlApplyPortsOfTwoProtocols: the key of the strategic merge is the number alone, that of apply has the
// protocol in it.
func TestKubectlApplyPortsOfTwoProtocols(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	first := manifest(t, "d", ports("[{containerPort: 53, name: t}, {containerPort: 53, protocol: UDP, name: u}]"))
	k.ok(t, first, "apply", "-f", "-")
	k.ok(t, manifest(t, "d", ports("[{containerPort: 53, name: t}, {containerPort: 53, protocol: UDP, name: uu}]")), "apply", "-f", "-")
	wantPorts(t, ns, "d", "[{containerPort: 53, protocol: TCP, name: uu}, {containerPort: 53, protocol: UDP, name: u}]")
	k.ok(t, first, "apply", "--server-side", "--force-conflicts", "-f", "-")
	wantPorts(t, ns, "d", "[{containerPort: 53, protocol: TCP, name: t}, {containerPort: 53, protocol: UDP, name: u}]")
}

// TestKubectlApplyPortTwice: the same key again, with the numbers the same for a while.
func TestKubectlApplyPortTwice(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	distinct, same := manifest(t, "d", ports("[{containerPort: 8080}, {containerPort: 8081}]")), manifest(t, "d", ports("[{containerPort: 8080}, {containerPort: 8080}]"))
	for _, step := range []struct{ manifest, want string }{
		{distinct, "[{containerPort: 8080, protocol: TCP}, {containerPort: 8081, protocol: TCP}]"},
		{same, "[{containerPort: 8080, protocol: TCP}]"},
		{distinct, "[{containerPort: 8081, protocol: TCP}]"},
		{distinct, "[{containerPort: 8080, protocol: TCP}, {containerPort: 8081, protocol: TCP}]"},
	} {
		k.ok(t, step.manifest, "apply", "-f", "-")
		wantPorts(t, ns, "d", step.want)
	}
}

// TestKubectlApplyPortNames: names have to be unique, whatever the key is.
func TestKubectlApplyPortNames(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	k.ok(t, manifest(t, "d", ports("[{containerPort: 8080, name: m}, {containerPort: 8181, name: other}]")), "apply", "-f", "-")
	k.ok(t, manifest(t, "d", ports("[{containerPort: 8081, name: m}, {containerPort: 8181, name: other}]")), "apply", "-f", "-")
	wantPorts(t, ns, "d", "[{containerPort: 8081, protocol: TCP, name: m}, {containerPort: 8181, protocol: TCP, name: other}]")
	k.says(t, "daemonset.apps/d patched", "patch", "ds", "d", "--type=json", "-p",
		`[{"op":"add","path":"/spec/template/spec/containers/0/ports/-","value":{"containerPort":8282,"name":"x"}}]`)
	before := mustSend(t, get(daemonSetPath(ns, "d")))
	out := k.run(t, manifest(t, "d", ports("[{containerPort: 8383, name: x}, {containerPort: 8181, name: other}]")), "apply", "-f", "-")
	if want := `The DaemonSet "d" is invalid: spec.template.spec.containers[0].ports[1].name: Duplicate value: "x"`; out.code != 1 || !strings.Contains(out.stderr, want) {
		t.Errorf("got exit code %d and %s%s", out.code, out.stdout, out.stderr)
	}
	unchanged(t, before, mustSend(t, get(daemonSetPath(ns, "d"))))
}

// TestKubectlRollout goes through the commands of a rollout, with no controller to follow them.
func TestKubectlRollout(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	created := createDaemonSet(t, ns, "x")
	restartUntilTooSoon(t, k, ns)
	k.says(t, "Waiting for daemon set spec update to be observed...", "rollout", "status", "ds/x", "--watch=false")
	k.fails(t, "error: no last revision to roll back to", "rollout", "undo", "ds/x")
	k.says(t, "No rollout history found.", "rollout", "history", "ds/x")
	k.fails(t, "pausing is not supported", "rollout", "pause", "ds/x")
	k.fails(t, "NotFound", "scale", "ds/x", "--replicas=2")
	k.fails(t, `error: unable to find container named "nope"`, "set", "image", "ds/x", "nope=img:2")
	k.says(t, "daemonset.apps/x image updated", "set", "image", "ds/x", "c=img:2")
	wantField(t, mustSend(t, get(daemonSetPath(ns, "x"))), "spec.template.spec.containers.0.image", "img:2")

	generation := fmt.Sprintf(`{"status":{"observedGeneration":%v}}`, mustSend(t, get(daemonSetPath(ns, "x"))).field("metadata.generation"))
	mustSend(t, patch(mergePatch, daemonSetPath(ns, "x")+"/status", generation))
	k.says(t, `daemon set "x" successfully rolled out`, "rollout", "status", "ds/x")
	k.says(t, "daemonset.apps/x patched", "patch", "ds", "x", "-p", `{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete"}}}`)
	k.fails(t, "error: rollout status is only available for RollingUpdate strategy type", "rollout", "status", "ds/x")
	if uid := mustSend(t, get(daemonSetPath(ns, "x"))).field("metadata.uid"); uid != created.field("metadata.uid") {
		t.Errorf("the uid is %v", uid)
	}
}

// restartUntilTooSoon restarts x again and again: each restart raises both generations by 1, until one falls into the
// same second as the one before, which makes an empty patch that kubectl does not send.
func restartUntilTooSoon(t *testing.T, k kubectl, ns string) {
	t.Helper()
	generation := 1
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		out := k.run(t, "", "rollout", "restart", "ds/x")
		if out.code == 0 {
			generation++
		}
		ds := mustSend(t, get(daemonSetPath(ns, "x")))
		got := []any{ds.field("metadata.generation"), ds.text(`metadata.annotations.deprecated\.daemonset\.template\.generation`)}
		if diff := cmp.Diff([]any{float64(generation), strconv.Itoa(generation)}, got); diff != "" {
			t.Errorf("the generations differ (-want +got):\n%s", diff)
		}
		if out.code == 0 {
			continue
		}
		const tooSoon = "if restart has already been triggered within the past second, please wait before attempting to trigger another"
		if generation == 1 || !strings.Contains(out.stderr, tooSoon) {
			t.Errorf("restart %d says %s", generation, out.stderr)
		}
		return
	}
	t.Error("no two restarts fell into one second")
}

// TestKubectlRolloutHistory reads ControllerRevisions such as the controller writes, and goes back to one.
func TestKubectlRolloutHistory(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	created := createDaemonSet(t, ns, "x")
	for i := range 2 {
		snapshot := deepCopy(t, created.object)["spec"].(map[string]any)["template"].(map[string]any)
		snapshot["$patch"] = "replace"
		snapshot["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)["image"] = fmt.Sprintf("old:%d", i+1)
		createRevision(t, ns, fmt.Sprintf("x-%d", i+1), meta(fmt.Sprintf(`{labels: {app: x}, annotations: {kubernetes.io/change-cause: cause %d},
			ownerReferences: [{apiVersion: apps/v1, kind: DaemonSet, name: x, uid: %s, controller: true}]}`, i+1, created.text("metadata.uid"))),
			root(fmt.Sprintf("revision: %d", i+1)), func(_ *testing.T, object map[string]any) {
				object["data"] = map[string]any{"spec": map[string]any{"template": snapshot}}
			})
	}
	history := strings.Join(strings.Fields(k.ok(t, "", "rollout", "history", "ds/x")), " ")
	if want := "daemonset.apps/x REVISION CHANGE-CAUSE 1 cause 1 2 cause 2"; history != want {
		t.Errorf("the history is %q, want %q", history, want)
	}
	k.says(t, "old:1", "rollout", "history", "ds/x", "--revision=1")
	k.says(t, "daemonset.apps/x rolled back (server dry run)", "rollout", "undo", "ds/x", "--to-revision=1", "--dry-run=server")
	wantField(t, mustSend(t, get(daemonSetPath(ns, "x"))), "spec.template.spec.containers.0.image", "img:1")
	k.says(t, "daemonset.apps/x rolled back", "rollout", "undo", "ds/x", "--to-revision=2")
	wantDaemonSet(t, send(t, get(daemonSetPath(ns, "x"))), http.StatusOK, ns, meta("{name: x, generation: 2, annotations: {deprecated.daemonset.template.generation: '2'}}"),
		container("image: 'old:2'"))
	before := mustSend(t, get(daemonSetPath(ns, "x")))
	k.ok(t, "", "rollout", "undo", "ds/x", "--to-revision=2") // which it is at
	unchanged(t, before, mustSend(t, get(daemonSetPath(ns, "x"))))
	k.says(t, "daemonset.apps/x rolled back", "rollout", "undo", "ds/x")
	wantField(t, mustSend(t, get(daemonSetPath(ns, "x"))), "spec.template.spec.containers.0.image", "old:1")
	k.fails(t, "error: unable to find specified revision 7 in history", "rollout", "undo", "ds/x", "--to-revision=7")
}

// TestKubectlDeleteCascade: nobody collects garbage here.
func TestKubectlDeleteCascade(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	for cascade, finalizers := range map[string]string{"foreground": "[foregroundDeletion]", "orphan": "[orphan]", "background": "", "": ""} {
		name := "d-" + orElse(cascade, "default")
		createDaemonSet(t, ns, name)
		arguments := []string{"delete", "ds", name, "--wait=false"}
		if cascade != "" {
			arguments = append(arguments, "--cascade="+cascade)
		}
		k.says(t, `daemonset.apps "`+name+`" deleted`, arguments...)
		left := send(t, get(daemonSetPath(ns, name)))
		if finalizers == "" {
			wantFailure(t, left, notFound(name))
		} else {
			wantDaemonSet(t, left, http.StatusOK, ns, deleting(finalizers), meta("name: "+name))
		}
	}
	createDaemonSet(t, ns, "dry")
	k.says(t, "(server dry run)", "delete", "ds", "dry", "--dry-run=server")
	wantCode(t, send(t, get(daemonSetPath(ns, "dry"))), http.StatusOK)
}

// TestKubectlPrune prunes what was applied by the client, and nothing that was applied by the server.
func TestKubectlPrune(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	set := meta("labels: {set: '1'}")
	a, b := manifest(t, "a", set), manifest(t, "b", set)
	prune := []string{"apply", "-f", "-", "--prune", "-l", "set=1", "--prune-allowlist=apps/v1/DaemonSet"}
	k.ok(t, a+"\n---\n"+b, "apply", "-f", "-", "-l", "set=1")

	dry := k.ok(t, a, append(slices.Clone(prune), "--dry-run=server")...)
	if !strings.Contains(dry, "daemonset.apps/b pruned (server dry run)") || strings.Contains(dry, "daemonset.apps/a pruned") {
		t.Errorf("the dry run says %s", dry)
	}
	wantCode(t, send(t, get(daemonSetPath(ns, "b"))), http.StatusOK)
	if out := k.ok(t, a, prune...); !strings.Contains(out, "daemonset.apps/b pruned") {
		t.Errorf("kubectl says %s", out)
	}
	wantFailure(t, send(t, get(daemonSetPath(ns, "b"))), notFound("b"))

	k.ok(t, b, "apply", "--server-side", "-f", "-")
	if out := k.ok(t, a, prune...); strings.Contains(out, "pruned") {
		t.Errorf("kubectl says %s", out)
	}
	wantCode(t, send(t, get(daemonSetPath(ns, "b"))), http.StatusOK)
}

// TestKubectlApplyMigrates moves from client-side to server-side apply: kubectl takes its own fields along by a JSON
// patch of managedFields that tests the resourceVersion.
func TestKubectlApplyMigrates(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	first, second := manifest(t, "d"), manifest(t, "d", container("image: 'img:2'"))
	k.ok(t, first, "create", "-f", "-")
	k.ok(t, first, "apply", "-f", "-")
	for _, arguments := range [][]string{{"apply", "--server-side", "-f", "-"}, {"apply", "--server-side", "--force-conflicts", "-f", "-"}} {
		k.ok(t, second, arguments...)
		ds := mustSend(t, get(daemonSetPath(ns, "d")))
		wantField(t, ds, "spec.template.spec.containers.0.image", "img:2")
		if diff := cmp.Diff([]string{"kubectl-create/Update", "kubectl-last-applied/Apply", "kubectl/Apply"}, slices.Sorted(slices.Values(owners(ds)))); diff != "" {
			t.Errorf("the managers differ (-want +got):\n%s", diff)
		}
	}
}

// TestKubectlDaemonSet is about other commands that users know.
func TestKubectlDaemonSet(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	k := newKubectl(t, ns)
	createDaemonSet(t, ns, "d", pod("nodeSelector: {disk: ssd}"))
	columns := func(arguments ...string) [][]string {
		t.Helper()
		var out [][]string
		for line := range strings.Lines(k.ok(t, "", arguments...)) {
			out = append(out, strings.Fields(line))
		}
		return out
	}
	narrow := columns("get", "ds")
	if diff := cmp.Diff([]string{"NAME", "DESIRED", "CURRENT", "READY", "UP-TO-DATE", "AVAILABLE", "NODE", "SELECTOR", "AGE"}, narrow[0]); diff != "" {
		t.Errorf("the columns differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"d", "0", "0", "0", "0", "0", "disk=ssd"}, narrow[1][:7]); diff != "" {
		t.Errorf("the row differs (-want +got):\n%s", diff)
	}
	wide := columns("get", "daemonsets.apps", "d", "-o", "wide")
	if diff := cmp.Diff([]string{"AGE", "CONTAINERS", "IMAGES", "SELECTOR"}, wide[0][8:]); diff != "" {
		t.Errorf("the wide columns differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"c", "img:1", "app=x"}, wide[1][8:]); diff != "" {
		t.Errorf("the wide row differs (-want +got):\n%s", diff)
	}
	k.says(t, "daemonset.apps/d", "get", "all", "-o", "name")
	k.fails(t, `"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"`, "get", "ds", "--field-selector", "spec.x=1")
	out := k.run(t, "apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {generateName: x-}\n", "apply", "-f", "-")
	if out.code != 1 || !strings.Contains(out.stderr, "cannot use generate name with apply") {
		t.Errorf("got exit code %d and %s%s", out.code, out.stdout, out.stderr)
	}
	k.says(t, "daemonset.apps/d condition met", "wait", "ds/d", "--for=jsonpath={.spec.revisionHistoryLimit}=10", "--timeout=30s")
	k.says(t, "FIELD: maxSurge <IntOrString>", "explain", "ds.spec.updateStrategy.rollingUpdate.maxSurge")
	unknown := k.run(t, "", "patch", "ds", "d", "--type=merge", "-p", `{"spec":{"replicas":1}}`)
	if unknown.code != 0 || !strings.Contains(unknown.stderr, `Warning: unknown field "spec.replicas"`) || !strings.Contains(unknown.stdout, "daemonset.apps/d patched (no change)") {
		t.Errorf("got exit code %d and %s%s", unknown.code, unknown.stdout, unknown.stderr)
	}
}

// TestKubectlNamespace creates, labels and deletes.
func TestKubectlNamespace(t *testing.T) {
	t.Parallel()
	name := unique("ns")
	k := newKubectl(t, name)
	k.says(t, "namespace/"+name+" created", "create", "namespace", name)
	k.fails(t, `Error from server (AlreadyExists): namespaces "`+name+`" already exists`, "create", "ns", name)
	k.says(t, "namespace/"+name+" labeled", "label", "ns", name, "a=b")
	wantNamespace(t, send(t, get(namespacePath(name))), http.StatusOK, name, meta("labels: {a: b}"))
	k.says(t, "Active", "get", "ns", name)
	k.says(t, `namespace "`+name+`" deleted`, "delete", "ns", name, "--wait=false")
	k.says(t, "Terminating", "get", "ns", name)
	wantNamespace(t, finalize(t, name, "", finalizers("[]"), meta("labels: {a: b}")), http.StatusOK, name, terminating(), meta("labels: {a: b}"), root("spec: {finalizers: null}"))
	k.fails(t, `Error from server (NotFound): namespaces "`+name+`" not found`, "get", "ns", name)
}
