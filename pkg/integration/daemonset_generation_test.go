// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
)

// TestDaemonSetTemplateGenerationOnCreate: a client may choose where the template generation starts, from 1 up, and
// nothing of the generation.
func TestDaemonSetTemplateGenerationOnCreate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ sent, want string }{
		"none":                {"{generation: 55}", "1"},
		"a number":            {"{generation: 55, annotations: {deprecated.daemonset.template.generation: '9'}}", "9"},
		"a number with signs": {"{annotations: {deprecated.daemonset.template.generation: '+007'}}", "7"},
		"zero":                {"{annotations: {deprecated.daemonset.template.generation: '0'}}", "1"},
		"a negative number":   {"{annotations: {deprecated.daemonset.template.generation: '-5'}}", "1"},
		"the largest number":  {"{annotations: {deprecated.daemonset.template.generation: '9223372036854775807'}}", "9223372036854775807"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			want := meta("annotations: {deprecated.daemonset.template.generation: '" + test.want + "'}")
			created := send(t, call{method: http.MethodPost, path: daemonSetsPath(ns), body: daemonSet(t, "d", meta(test.sent))})
			wantDaemonSet(t, created, http.StatusCreated, ns, want)
			applied := send(t, patch(applyPatch, daemonSetPath(ns, "e")+"?fieldManager=m", daemonSet(t, "e", meta(test.sent))))
			wantDaemonSet(t, applied, http.StatusCreated, ns, want, meta("name: e"))
		})
	}
}

// TestDaemonSetGenerations goes through changes of one object: any change of the spec raises the generation, one of the
// template raises the template generation too, and nobody else touches either.
func TestDaemonSetGenerations(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	path := daemonSetPath(ns, "d")
	createDaemonSet(t, ns, "d", meta("{generation: 55, annotations: {deprecated.daemonset.template.generation: '9'}}"))
	steps := []struct {
		what, contentType, subresource, patch string
		generation, templateGeneration        string
		// same tells that the step writes nothing.
		same bool
	}{
		{"all annotations removed", mergePatch, "", `{"metadata":{"annotations":null}}`, "1", "9", true},
		{"the annotation removed", jsonPatch, "", `[{"op":"remove","path":"/metadata/annotations"}]`, "1", "9", true},
		{"the annotation raised", mergePatch, "", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"100"}}}`, "1", "9", true},
		{"the annotation lowered", mergePatch, "", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"-3"}}}`, "1", "9", true},
		{"the annotation raised through the status", mergePatch, "/status", `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"100"}}}`, "1", "9", false}, // the owner of the annotation is new
		{"another image", strategicPatch, "", `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"img:2"}]}}}}`, "2", "10", false},
		{"another wait", mergePatch, "", `{"spec":{"minReadySeconds":5}}`, "3", "10", false},
		{"the same wait", mergePatch, "", `{"spec":{"minReadySeconds":5}}`, "3", "10", true},
		{"a label and a generation", mergePatch, "", `{"metadata":{"labels":{"a":"b"},"generation":999}}`, "3", "10", false},
		{"another history", mergePatch, "", `{"spec":{"revisionHistoryLimit":3}}`, "4", "10", false},
		{"another strategy", mergePatch, "", `{"spec":{"updateStrategy":{"rollingUpdate":{"maxUnavailable":"10%"}}}}`, "5", "10", false},
		{"a label of the template", mergePatch, "", `{"spec":{"template":{"metadata":{"labels":{"b":"c"}}}}}`, "6", "11", false},
		{"an annotation of the template beside the annotation", mergePatch, "",
			`{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"50"}},"spec":{"template":{"metadata":{"annotations":{"a":"b"}}}}}`, "7", "12", false},
		{"template and wait", mergePatch, "", `{"spec":{"minReadySeconds":6,"template":{"spec":{"hostNetwork":true}}}}`, "8", "13", false},
		{"a default in the template spelled out", mergePatch, "", `{"spec":{"template":{"spec":{"dnsPolicy":"ClusterFirst","hostPID":false}}}}`, "8", "13", true},
		{"an empty list in the template", mergePatch, "", `{"spec":{"template":{"spec":{"tolerations":[],"nodeSelector":{}}}}}`, "8", "13", true},
		{"the same quantity in another form", strategicPatch, "", `{"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":1}}}]}}}}`, "9", "14", false},
		{"the same quantity in a third form", strategicPatch, "", `{"spec":{"template":{"spec":{"containers":[{"name":"c","resources":{"limits":{"cpu":"1000m"}}}]}}}}`, "9", "14", true},
		{"the status", mergePatch, "/status", `{"status":{"numberReady":1}}`, "9", "14", false},
		{"the template through the status", mergePatch, "/status", `{"spec":{"minReadySeconds":1,"template":{"spec":{"hostNetwork":false}}}}`, "9", "14", true},
		{"the status through the object", mergePatch, "", `{"status":{"numberReady":2}}`, "9", "14", true},
		{"an apply of another image", applyPatch, "?fieldManager=m&force=true",
			"{apiVersion: apps/v1, kind: DaemonSet, spec: {template: {spec: {containers: [{name: c, image: 'img:3'}]}}}}", "10", "15", false},
	}
	last := mustSend(t, get(path))
	for _, step := range steps {
		got := mustSend(t, patch(step.contentType, path+step.subresource, step.patch), http.StatusOK)
		wantField(t, got, "metadata.generation", step.generation)
		annotation := got.field(`metadata.annotations.deprecated\.daemonset\.template\.generation`)
		if annotation != step.templateGeneration {
			t.Errorf("%s: the template generation is %v, want %s", step.what, annotation, step.templateGeneration)
		}
		if same := got.text("metadata.resourceVersion") == last.text("metadata.resourceVersion"); same != step.same {
			t.Errorf("%s: got the same resourceVersion: %t, want %t", step.what, same, step.same)
		}
		last = got
	}
}

// TestDaemonSetGenerationsOfPut: a body without the annotation and without defaults is no change.
func TestDaemonSetGenerationsOfPut(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	created := createDaemonSet(t, ns, "d", meta("annotations: {deprecated.daemonset.template.generation: '9'}"))
	put := func(changes ...change) answer {
		t.Helper()
		return mustSend(t, call{method: http.MethodPut, path: daemonSetPath(ns, "d"), body: daemonSet(t, "d", changes...)}, http.StatusOK)
	}
	unchanged(t, created, put())
	unchanged(t, created, put(meta("annotations: {deprecated.daemonset.template.generation: '3'}")))
	wantDaemonSet(t, put(meta("generation: 77"), container("image: 'img:2'")), http.StatusOK, ns,
		container("image: 'img:2'"), meta("{generation: 2, annotations: {deprecated.daemonset.template.generation: '10'}}"))
	wantDaemonSet(t, put(container("image: 'img:2'"), spec("updateStrategy: {type: OnDelete, rollingUpdate: {}}")), http.StatusOK, ns,
		container("image: 'img:2'"), spec("updateStrategy: {type: OnDelete, rollingUpdate: {maxSurge: 0, maxUnavailable: 0}}"),
		meta("{generation: 3, annotations: {deprecated.daemonset.template.generation: '10'}}"))
}
