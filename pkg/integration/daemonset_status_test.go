// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
)

// TestDaemonSetStatusRefused checks every cause of a refusal, in order.
func TestDaemonSetStatusRefused(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	tests := map[string]struct {
		patch  string
		causes []string
	}{
		"a negative number": {`{"status":{"numberReady":-1}}`, []string{"status.numberReady: Invalid value: -1: must be greater than or equal to 0"}},
		"all numbers negative": {
			`{"status":{"currentNumberScheduled":-1,"numberMisscheduled":-2,"desiredNumberScheduled":-3,"numberReady":-4,"observedGeneration":-5,
				"updatedNumberScheduled":-6,"numberAvailable":-7,"numberUnavailable":-8,"collisionCount":-9}}`,
			[]string{
				"status.currentNumberScheduled: Invalid value: -1: must be greater than or equal to 0",
				"status.numberMisscheduled: Invalid value: -2: must be greater than or equal to 0",
				"status.desiredNumberScheduled: Invalid value: -3: must be greater than or equal to 0",
				"status.numberReady: Invalid value: -4: must be greater than or equal to 0",
				"status.observedGeneration: Invalid value: -5: must be greater than or equal to 0",
				"status.updatedNumberScheduled: Invalid value: -6: must be greater than or equal to 0",
				"status.numberAvailable: Invalid value: -7: must be greater than or equal to 0",
				"status.numberUnavailable: Invalid value: -8: must be greater than or equal to 0",
				"status.collisionCount: Invalid value: -9: must be greater than or equal to 0",
				"status.collisionCount: Invalid value: -9: cannot be decremented",
			},
		},
		"fewer collisions":         {`{"status":{"collisionCount":2}}`, []string{"status.collisionCount: Invalid value: 2: cannot be decremented"}},
		"no collisions":            {`{"status":{"collisionCount":null}}`, []string{"status.collisionCount: Invalid value: 0: cannot be decremented"}},
		"no status":                {`{"status":null}`, []string{"status.collisionCount: Invalid value: 0: cannot be decremented"}},
		"another uid":              {`{"metadata":{"uid":"x"}}`, []string{`metadata.uid: Invalid value: "x": field is immutable`}},
		"a bad label":              {`{"metadata":{"labels":{"a b":"c"}}}`, []string{`metadata.labels: Invalid value: "a b": ` + notKey}},
		"a finalizer of no domain": {`{"metadata":{"finalizers":["nodomain"]}}`, []string{`metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified`}},
		"metadata before the rest": {`{"metadata":{"uid":"x"},"status":{"numberReady":-1}}`, []string{`metadata.uid: Invalid value: "x": field is immutable`, "status.numberReady: Invalid value: -1: must be greater than or equal to 0"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			name := unique("d")
			createDaemonSet(t, ns, name)
			path := daemonSetPath(ns, name) + "/status"
			before := mustSend(t, patch(mergePatch, path, `{"status":{"collisionCount":3}}`))
			wantFailure(t, send(t, patch(mergePatch, path, test.patch)), invalid(t, "DaemonSet.apps", name, test.causes...))
			unchanged(t, before, mustSend(t, get(path)))
		})
	}
}

// TestDaemonSetStatusAccepted compares the whole object: want is what differs from the minimal one.
func TestDaemonSetStatusAccepted(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		contentType, patch string
		want               []change
	}{
		"numbers that don't fit together, a label and a spec, which is dropped": {
			mergePatch, `{"status":{"currentNumberScheduled":2,"desiredNumberScheduled":3,"numberMisscheduled":0,"numberReady":5,"observedGeneration":77,"collisionCount":3},
				"spec":{"minReadySeconds":9},"metadata":{"labels":{"s":"1"}}}`,
			[]change{
				root("status: {currentNumberScheduled: 2, desiredNumberScheduled: 3, numberReady: 5, observedGeneration: 77, collisionCount: 3}"),
				meta("labels: {s: '1'}"),
			},
		},
		"all numbers": {
			mergePatch, `{"status":{"currentNumberScheduled":1,"numberMisscheduled":2,"desiredNumberScheduled":3,"numberReady":4,"observedGeneration":5,
				"updatedNumberScheduled":6,"numberAvailable":7,"numberUnavailable":8,"collisionCount":9}}`,
			[]change{root(`status: {currentNumberScheduled: 1, numberMisscheduled: 2, desiredNumberScheduled: 3, numberReady: 4, observedGeneration: 5,
				updatedNumberScheduled: 6, numberAvailable: 7, numberUnavailable: 8, collisionCount: 9}`)},
		},
		"no collisions yet": {mergePatch, `{"status":{"collisionCount":0}}`, []change{root("status: {collisionCount: 0}")}},
		"a condition twice, with an odd status": {
			mergePatch, `{"status":{"conditions":[{"type":"X","status":"True"},{"type":"X","status":"maybe"}]}}`,
			[]change{root("status: {conditions: [{type: X, status: 'True', lastTransitionTime: null}, {type: X, status: maybe, lastTransitionTime: null}]}")},
		},
		"a whole condition": {
			strategicPatch, `{"status":{"conditions":[{"type":"X","status":"True","lastTransitionTime":"2001-01-01T00:00:00Z","reason":"r","message":"m"}]}}`,
			[]change{root("status: {conditions: [{type: X, status: 'True', lastTransitionTime: '2001-01-01T00:00:00Z', reason: r, message: m}]}")},
		},
		"a condition without a type": {
			mergePatch, `{"status":{"conditions":[{"reason":"r"}]}}`,
			[]change{root("status: {conditions: [{type: '', status: '', lastTransitionTime: null, reason: r}]}")},
		},
		"a spec that the main endpoint would refuse": {
			mergePatch, `{"spec":{"minReadySeconds":-1,"selector":null,"template":{"spec":{"containers":null}}}}`, nil,
		},
		"finalizers and owners": {
			mergePatch, `{"metadata":{"finalizers":["example.com/a"],"ownerReferences":[{"apiVersion":"v1","kind":"Node","name":"foo","uid":"u"}]}}`,
			[]change{meta("{finalizers: [example.com/a], ownerReferences: [{apiVersion: v1, kind: Node, name: foo, uid: u}]}")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			createDaemonSet(t, ns, "d")
			wantDaemonSet(t, send(t, patch(test.contentType, daemonSetPath(ns, "d")+"/status", test.patch)), http.StatusOK, ns, test.want...)
		})
	}
}

func TestDaemonSetStatusPut(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	createDaemonSet(t, ns, "d", meta("labels: {a: b}"))
	put := func(changes ...change) answer {
		t.Helper()
		return send(t, call{method: http.MethodPut, path: path + "/status", body: daemonSet(t, "d", changes...)})
	}
	set := put(root("status: {numberReady: 4, numberAvailable: 3, conditions: [{type: X, status: 'True'}]}"), meta("labels: {a: b}"))
	wantDaemonSet(t, set, http.StatusOK, ns, meta("labels: {a: b}"),
		root("status: {numberReady: 4, numberAvailable: 3, conditions: [{type: X, status: 'True', lastTransitionTime: null}]}"))

	main := mustSend(t, patch(mergePatch, path, `{"status":{"numberReady":1}}`))
	unchanged(t, set, main)

	// An empty status still has the numbers that are always written, and the labels are those of the body: none.
	wantDaemonSet(t, put(), http.StatusOK, ns)
	wantDaemonSet(t, put(spec("{minReadySeconds: 50, selector: {matchLabels: {app: other}}}"), meta("annotations: {deprecated.daemonset.template.generation: '50', a: b}")),
		http.StatusOK, ns, meta("annotations: {a: b}"))
	wantFailure(t, put(meta("resourceVersion: '1'")), failure{
		code: http.StatusConflict, reason: "Conflict", details: "{name: d, group: apps, kind: daemonsets}",
		message: `Operation cannot be fulfilled on daemonsets.apps "d": the object has been modified; please apply your changes to the latest version and try again`,
	})
	dry := send(t, patch(mergePatch, path+"/status?dryRun=All", `{"status":{"numberReady":9}}`))
	wantDaemonSet(t, dry, http.StatusOK, ns, meta("annotations: {a: b}"), root("status: {numberReady: 9}"))
	wantDaemonSet(t, send(t, get(path+"/status")), http.StatusOK, ns, meta("annotations: {a: b}"))
}

// TestDaemonSetStatusStrict: what Strict refuses at the main endpoint it refuses here.
func TestDaemonSetStatusStrict(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	createDaemonSet(t, ns, "d")
	path := daemonSetPath(ns, "d") + "/status"
	got := send(t, patch(strategicPatch, path+"?fieldValidation=Strict", `{"status":{"frob":1}}`))
	wantPatchRefused(t, got, "map[status:map[frob:1]]", `strict decoding error: unknown field "status.frob"`)
	warned := mustSend(t, patch(strategicPatch, path, `{"status":{"frob":1}}`), http.StatusOK)
	wantWarnings(t, warned, `unknown field "status.frob"`)
}
