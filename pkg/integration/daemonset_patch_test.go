// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"
)

// TestDaemonSetPatchRefused is about patches that can't be read or applied.
func TestDaemonSetPatchRefused(t *testing.T) {
	t.Parallel()
	const name = "d"
	badRequest := func(message string) failure {
		return failure{code: http.StatusBadRequest, reason: "BadRequest", message: message}
	}
	// Upstream tells no reason for what it takes for its own fault.
	internal := func(message string) failure {
		return failure{code: http.StatusInternalServerError, message: message}
	}
	unappliable := failure{
		code: http.StatusUnprocessableEntity, reason: "Invalid", message: "the server rejected our request due to an error in our request", details: "{}",
	}
	tests := map[string]struct {
		contentType, patch string
		want               failure
	}{
		"JSON: a test that fails":     {jsonPatch, `[{"op":"test","path":"/spec/minReadySeconds","value":5}]`, unappliable},
		"JSON: nothing to remove":     {jsonPatch, `[{"op":"remove","path":"/spec/nope"}]`, unappliable},
		"JSON: no pointer":            {jsonPatch, `[{"op":"replace","path":"invalid","value":1}]`, unappliable},
		"JSON: an unknown operation":  {jsonPatch, `[{"op":"frob","path":"/spec"}]`, unappliable},
		"JSON: behind the end":        {jsonPatch, `[{"op":"add","path":"/spec/template/spec/containers/5","value":{}}]`, unappliable},
		"JSON: a member of nothing":   {jsonPatch, `[{"op":"add","path":"/spec/template/metadata/annotations/a","value":"b"}]`, unappliable},
		"JSON: a time that isn't set": {jsonPatch, `[{"op":"remove","path":"/spec/template/metadata/creationTimestamp"}]`, unappliable},
		"JSON: no JSON":               {jsonPatch, "feafeczea", badRequest("invalid JSON patch")},
		"JSON: nothing at all":        {jsonPatch, "", badRequest("invalid JSON patch")},
		"JSON: no list":               {jsonPatch, `{"op":"add"}`, badRequest("error decoding patch: json: cannot unmarshal object into Go value of type []handlers.jsonPatchOp")},
		"JSON: no name left": {
			jsonPatch, `[{"op":"remove","path":"/metadata/name"}]`, badRequest("the name of the object (d based on URL) was undeterminable: name must be provided"),
		},
		"JSON: another uid": {
			jsonPatch, `[{"op":"replace","path":"/metadata/uid","value":"x"}]`,
			invalid(t, "DaemonSet.apps", name, `metadata.uid: Invalid value: "x": field is immutable`),
		},
		"merge: no JSON":       {mergePatch, "garbage", badRequest("invalid JSON patch")},
		"merge: nothing":       {mergePatch, "", badRequest("invalid JSON patch")},
		"merge: null":          {mergePatch, "null", badRequest("Invalid JSON Patch")},
		"merge: a list":        {mergePatch, "[]", badRequest("error decoding patch: json: cannot unmarshal array into Go value of type map[string]interface {}")},
		"merge: a string":      {mergePatch, `"x"`, badRequest("error decoding patch: json: cannot unmarshal string into Go value of type map[string]interface {}")},
		"merge: another name":  {mergePatch, `{"metadata":{"name":"other"}}`, badRequest("the name of the object (other) does not match the name on the URL (d)")},
		"merge: no name":       {mergePatch, `{"metadata":{"name":null}}`, badRequest("the name of the object (d based on URL) was undeterminable: name must be provided")},
		"merge: another place": {mergePatch, `{"metadata":{"namespace":"other"}}`, badRequest("the namespace of the provided object does not match the namespace sent on the request")},
		"merge: no spec left": {
			mergePatch, `{"spec":null}`, invalid(t, "DaemonSet.apps", name, "spec.selector: Invalid value: null: field is immutable",
				"spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`", "spec.template.spec.containers: Required value"),
		},
		"merge: an old version": {
			mergePatch, `{"metadata":{"resourceVersion":"1"}}`, failure{
				code: http.StatusConflict, reason: "Conflict", details: "{name: d, group: apps, kind: daemonsets}",
				message: `Operation cannot be fulfilled on daemonsets.apps "d": the object has been modified; please apply your changes to the latest version and try again`,
			},
		},
		"merge: no version":               {mergePatch, `{"metadata":{"resourceVersion":"abc"}}`, internal(`strconv.ParseUint: parsing "abc": invalid syntax`)},
		"strategic: no JSON":              {strategicPatch, "garbage", badRequest("invalid JSON patch")},
		"strategic: nothing":              {strategicPatch, "", badRequest("invalid JSON patch")},
		"strategic: a list":               {strategicPatch, "[]", badRequest("json: cannot unmarshal array into Go value of type map[string]interface {}")},
		"strategic: an unknown directive": {strategicPatch, `{"spec":{"$patch":"frob"}}`, internal("unknown patch type: frob in map: map[$patch:frob]")},
		"strategic: no merge key": {
			strategicPatch, `{"spec":{"template":{"spec":{"containers":[{"image":"q"}]}}}}`, internal("map: map[image:q] does not contain declared merge key: name"),
		},
		"strategic: an order of others": {
			strategicPatch, `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"zz"}],"containers":[{"name":"c"}]}}}}`,
			internal("The order in patch list:\n[map[name:c]]\n doesn't match $setElementOrder list:\n[map[name:zz]]\n"),
		},
		"strategic: keys to retain that don't fit": {
			strategicPatch, `{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete","rollingUpdate":{}}}}`,
			badRequest("invalid patch format of retainKeys"),
		},
		"strategic: no containers left": {
			strategicPatch, `{"spec":{"template":{"spec":{"containers":null}}}}`,
			invalid(t, "DaemonSet.apps", name, "spec.template.spec.containers: Required value"),
		},
	}
	for sentence, test := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			before := createDaemonSet(t, ns, name)
			wantFailure(t, send(t, patch(test.contentType, daemonSetPath(ns, name), test.patch)), test.want)
			unchanged(t, before, mustSend(t, get(daemonSetPath(ns, name))))
		})
	}
}

// TestDaemonSetPatchUnfit is about patches whose result is no DaemonSet.
func TestDaemonSetPatchUnfit(t *testing.T) {
	t.Parallel()
	const strict = "?fieldValidation=Strict"
	number := "json: cannot unmarshal string into Go struct field DaemonSetSpec.spec.minReadySeconds of type int32"
	tests := map[string]struct {
		contentType, query, patch string
		// patched are the changes to the object in the message; a strategic merge patch is quoted itself.
		patched []change
		quoted  string
		cause   string
	}{
		"JSON: a string for a number": {
			contentType: jsonPatch, patch: `[{"op":"replace","path":"/spec/minReadySeconds","value":"x"}]`,
			patched: []change{spec("minReadySeconds: x")}, cause: number,
		},
		"merge: a string for a number": {
			contentType: mergePatch, patch: `{"spec":{"minReadySeconds":"x"}}`, patched: []change{spec("minReadySeconds: x")}, cause: number,
		},
		"strategic: a string for a number": {
			contentType: strategicPatch, patch: `{"spec":{"minReadySeconds":"x"}}`, quoted: "map[spec:map[minReadySeconds:x]]", cause: "unrecognized type: int32",
		},
		"merge: a list for the spec": {
			contentType: mergePatch, patch: `{"spec":[]}`, patched: []change{root("spec: []")},
			cause: "json: cannot unmarshal array into Go struct field DaemonSet.spec of type v1.DaemonSetSpec",
		},
		"strategic: a string for a list": {
			contentType: strategicPatch, patch: `{"spec":{"template":{"spec":{"containers":"x"}}}}`,
			quoted: "map[spec:map[template:map[spec:map[containers:x]]]]", cause: "cannot restore slice from string",
		},
		"merge: a template generation that is no number": {
			contentType: mergePatch, patch: `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":"zz"}}}`,
			patched: []change{meta("annotations: {deprecated.daemonset.template.generation: zz}")}, cause: `strconv.ParseInt: parsing "zz": invalid syntax`,
		},
		"merge: an unknown field": {
			contentType: mergePatch, query: strict, patch: `{"spec":{"replicas":1}}`,
			patched: []change{spec("replicas: 1")}, cause: `strict decoding error: unknown field "spec.replicas"`,
		},
		"strategic: an unknown field": {
			contentType: strategicPatch, query: strict, patch: `{"spec":{"replicas":1}}`,
			quoted: "map[spec:map[replicas:1]]", cause: `strict decoding error: unknown field "spec.replicas"`,
		},
		"JSON: an unknown field": {
			contentType: jsonPatch, query: strict, patch: `[{"op":"add","path":"/spec/replicas","value":1}]`,
			patched: []change{spec("replicas: 1")}, cause: `strict decoding error: unknown field "spec.replicas"`,
		},
		"merge: a field twice": {
			contentType: mergePatch, query: strict, patch: `{"spec":{"minReadySeconds":1,"minReadySeconds":2}}`,
			patched: []change{spec("minReadySeconds: 2")}, cause: `strict decoding error: duplicate field "spec.minReadySeconds"`,
		},
		"strategic: a field twice": {
			contentType: strategicPatch, query: strict, patch: `{"spec":{"minReadySeconds":1,"minReadySeconds":2}}`,
			quoted: "map[spec:map[minReadySeconds:2]]", cause: `strict decoding error: duplicate field "spec.minReadySeconds"`,
		},
		"JSON: an unknown member": {
			contentType: jsonPatch, query: strict, patch: `[{"op":"add","path":"/spec/minReadySeconds","value":3,"frob":1}]`,
			patched: []change{spec("minReadySeconds: 3")}, cause: `strict decoding error: json patch unknown field "[0].frob"`,
		},
		"JSON: a member twice": {
			contentType: jsonPatch, query: strict, patch: `[{"op":"add","op":"add","path":"/spec/minReadySeconds","value":3}]`,
			patched: []change{spec("minReadySeconds: 3")}, cause: `strict decoding error: json patch duplicate field "[0].op"`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			before := createDaemonSet(t, ns, "d")
			var value any = test.quoted
			if test.patched != nil {
				value = changed(t, deepCopy(t, before.object), test.patched...)
			}
			wantPatchRefused(t, send(t, patch(test.contentType, daemonSetPath(ns, "d")+test.query, test.patch)), value, test.cause)
			unchanged(t, before, mustSend(t, get(daemonSetPath(ns, "d"))))
		})
	}
	for name, contentType := range map[string]string{"merge": mergePatch, "JSON": jsonPatch} {
		t.Run(name+": another kind", func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			before := createDaemonSet(t, ns, "d")
			body := `{"kind":"Deployment"}`
			if contentType == jsonPatch {
				body = `[{"op":"replace","path":"/kind","value":"Deployment"}]`
			}
			// The cause tells whether the server knows that kind.
			got := send(t, patch(contentType, daemonSetPath(ns, "d"), body))
			wantFields(t, got, http.StatusUnprocessableEntity, map[string]string{"reason": "Invalid", "details.causes.0.field": "patch", "details.causes.1": "null"})
			unchanged(t, before, mustSend(t, get(daemonSetPath(ns, "d"))))
		})
	}
}

// TestDaemonSetPatchFieldValidation is about what Strict refuses: the other modes take it.
func TestDaemonSetPatchFieldValidation(t *testing.T) {
	t.Parallel()
	patches := map[string]struct {
		contentType, patch string
		want               []change
		warning            string
	}{
		"JSON, an unknown field":      {jsonPatch, `[{"op":"add","path":"/spec/replicas","value":1}]`, nil, `unknown field "spec.replicas"`},
		"merge, an unknown field":     {mergePatch, `{"spec":{"replicas":1}}`, nil, `unknown field "spec.replicas"`},
		"strategic, an unknown field": {strategicPatch, `{"spec":{"replicas":1}}`, nil, `unknown field "spec.replicas"`},
		"JSON, an unknown member": {
			jsonPatch, `[{"op":"add","path":"/spec/minReadySeconds","value":3,"frob":1}]`,
			[]change{spec("minReadySeconds: 3"), meta("generation: 2")}, `json patch unknown field "[0].frob"`,
		},
		"merge, a field twice": {
			mergePatch, `{"spec":{"minReadySeconds":1,"minReadySeconds":2}}`,
			[]change{spec("minReadySeconds: 2"), meta("generation: 2")}, `duplicate field "spec.minReadySeconds"`,
		},
		"apply, a field twice": {
			applyPatch, "{apiVersion: apps/v1, kind: DaemonSet, spec: {minReadySeconds: 1, minReadySeconds: 2}}",
			[]change{spec("minReadySeconds: 2"), meta("generation: 2")}, `line 1: key "minReadySeconds" already set in map`,
		},
	}
	for name, test := range patches {
		for mode, warned := range map[string]bool{"": true, "Warn": true, "Ignore": false} {
			t.Run(name+", "+orElse(mode, "no mode"), func(t *testing.T) {
				t.Parallel()
				ns := newNamespace(t)
				createDaemonSet(t, ns, "d")
				got := send(t, patch(test.contentType, daemonSetPath(ns, "d")+"?fieldManager=m&fieldValidation="+mode, test.patch))
				wantDaemonSet(t, got, http.StatusOK, ns, test.want...)
				if warned {
					wantWarnings(t, got, test.warning)
				} else {
					wantWarnings(t, got)
				}
			})
		}
		t.Run(name+", a mode that is none", func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			createDaemonSet(t, ns, "d")
			got := send(t, patch(test.contentType, daemonSetPath(ns, "d")+"?fieldManager=m&fieldValidation=strict", test.patch))
			wantFailure(t, got, invalid(t, "PatchOptions.meta.k8s.io", "",
				`fieldValidation: Unsupported value: "strict": supported values: "", "Ignore", "Strict", "Warn"`))
		})
	}
}

// TestDaemonSetApplyFieldValidation: an unknown field has no type, which no mode can mend.
func TestDaemonSetApplyFieldValidation(t *testing.T) {
	t.Parallel()
	ns := newNamespace(t)
	createDaemonSet(t, ns, "d")
	for _, mode := range []string{"", "Ignore", "Warn", "Strict"} {
		t.Run("an unknown field, "+orElse(mode, "no mode"), func(t *testing.T) {
			t.Parallel()
			got := send(t, patch(applyPatch, daemonSetPath(ns, "d")+"?fieldManager=m&fieldValidation="+mode, "{apiVersion: apps/v1, kind: DaemonSet, spec: {replicas: 1}}"))
			wantFailure(t, got, failure{
				code:    http.StatusInternalServerError,
				message: "failed to create typed patch object (/; apps/v1, Kind=DaemonSet): .spec.replicas: field not declared in schema",
			})
		})
	}
	t.Run("a field twice, Strict", func(t *testing.T) {
		t.Parallel()
		got := send(t, patch(applyPatch, daemonSetPath(ns, "d")+"?fieldManager=m&fieldValidation=Strict",
			"{apiVersion: apps/v1, kind: DaemonSet, spec: {minReadySeconds: 1, minReadySeconds: 2}}"))
		wantFailure(t, got, failure{
			code: http.StatusBadRequest, reason: "BadRequest",
			message: "error strict decoding patch: error converting YAML to JSON: yaml: unmarshal errors:\n  line 1: key \"minReadySeconds\" already set in map",
		})
	})
}

// TestDaemonSetPatchAccepted compares the whole object: want is what differs from the minimal one.
func TestDaemonSetPatchAccepted(t *testing.T) {
	t.Parallel()
	generations := func(object, template string) change {
		return meta("{generation: " + object + ", annotations: {deprecated.daemonset.template.generation: '" + template + "'}}")
	}
	defaulted := func(name string) string {
		return "{name: " + name + ", image: '" + name + ":1', resources: {}, terminationMessagePath: /dev/termination-log, terminationMessagePolicy: File, imagePullPolicy: IfNotPresent}"
	}
	three := []change{spec("updateStrategy: {type: RollingUpdate, rollingUpdate: {maxUnavailable: 3}}")}
	tests := map[string]struct {
		created            []change
		contentType, patch string
		want               []change
	}{
		"JSON: no operations":   {contentType: jsonPatch, patch: "[]"},
		"JSON: null":            {contentType: jsonPatch, patch: "null"},
		"JSON: nothing is null": {contentType: jsonPatch, patch: `[{"op":"test","path":"/spec/minReadySeconds","value":null}]`},
		"JSON: the template has no time, which is null": {
			contentType: jsonPatch, patch: `[{"op":"test","path":"/spec/template/metadata/creationTimestamp","value":null}]`,
		},
		"JSON: the template's time set to null": {
			contentType: jsonPatch, patch: `[{"op":"replace","path":"/spec/template/metadata/creationTimestamp","value":null}]`,
		},
		"JSON: an annotation, which is no change of the spec": {
			contentType: jsonPatch, patch: `[{"op":"add","path":"/metadata/annotations/kubectl.kubernetes.io~1restartedAt","value":"now"}]`,
			want: []change{meta("annotations: {kubectl.kubernetes.io/restartedAt: now}")},
		},
		"JSON: a container at index -1, which is the end": {
			contentType: jsonPatch, patch: `[{"op":"add","path":"/spec/template/spec/containers/-1","value":{"name":"b","image":"b:1"}}]`,
			want: []change{pod("containers: [" + defaulted("c") + ", " + defaulted("b") + "]"), container("image: 'img:1'"), generations("2", "2")},
		},
		"JSON: a container at the end": {
			contentType: jsonPatch, patch: `[{"op":"add","path":"/spec/template/spec/containers/-","value":{"name":"b","image":"b:1"}}]`,
			want: []change{pod("containers: [" + defaulted("c") + ", " + defaulted("b") + "]"), container("image: 'img:1'"), generations("2", "2")},
		},
		"JSON: move and copy": {
			created: []change{meta("labels: {a: b}")}, contentType: jsonPatch,
			patch: `[{"op":"move","from":"/metadata/labels/a","path":"/metadata/labels/b"},{"op":"copy","from":"/metadata/labels/b","path":"/metadata/labels/c"}]`,
			want:  []change{meta("labels: {b: b, c: b}")},
		},
		"merge: another version of the group": {contentType: mergePatch, patch: `{"apiVersion":"apps/v1beta2"}`},
		"merge: no kind":                      {contentType: mergePatch, patch: `{"kind":null}`},
		"merge: what only the server sets":    {contentType: mergePatch, patch: `{"metadata":{"generation":999,"creationTimestamp":"2001-01-01T00:00:00Z","selfLink":"x","uid":null}}`},
		"merge: any version":                  {contentType: mergePatch, patch: `{"metadata":{"resourceVersion":"0"}}`},
		"merge: no version":                   {contentType: mergePatch, patch: `{"metadata":{"resourceVersion":""}}`},
		"merge: a null that is defaulted": {
			created: []change{spec("revisionHistoryLimit: 3")}, contentType: mergePatch, patch: `{"spec":{"revisionHistoryLimit":null}}`,
			want: []change{meta("generation: 2")},
		},
		"merge: back from OnDelete": {
			created: []change{spec("updateStrategy: {type: OnDelete}")}, contentType: mergePatch,
			patch: `{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}`, want: []change{meta("generation: 2")},
		},
		"strategic: null": {contentType: strategicPatch, patch: "null"},
		"strategic: a rolling update deleted by directive leaves zeros": {
			created: three, contentType: strategicPatch, patch: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"$patch":"delete"}}}}`,
			want: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: {maxUnavailable: 0, maxSurge: 0}}"), meta("generation: 2")},
		},
		"strategic: a rolling update set to null is gone": {
			created: three, contentType: strategicPatch, patch: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`,
			want: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: null}"), meta("generation: 2")},
		},
		"strategic: keys to retain": {
			contentType: strategicPatch, patch: `{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete"}}}`,
			want: []change{spec("updateStrategy: {type: OnDelete, rollingUpdate: null}"), meta("generation: 2")},
		},
		"strategic: surge": {
			contentType: strategicPatch, patch: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":"25%","maxUnavailable":0}}}}`,
			want: []change{spec("updateStrategy: {rollingUpdate: {maxSurge: 25%, maxUnavailable: 0}}"), meta("generation: 2")},
		},
		"strategic: a new container comes first": {
			contentType: strategicPatch, patch: `{"spec":{"template":{"spec":{"containers":[{"name":"d","image":"d:1"}]}}}}`,
			want: []change{pod("containers: [" + defaulted("d") + ", {}]"), secondContainer, generations("2", "2")},
		},
		"strategic: a new container in its place": {
			contentType: strategicPatch, patch: `{"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"c"},{"name":"d"}],"containers":[{"name":"d","image":"d:1"}]}}}}`,
			want: []change{pod("containers: [" + defaulted("c") + ", " + defaulted("d") + "]"), container("image: 'img:1'"), generations("2", "2")},
		},
		"strategic: all containers replaced": {
			contentType: strategicPatch, patch: `{"spec":{"template":{"spec":{"containers":[{"$patch":"replace"},{"name":"d","image":"d:1"}]}}}}`,
			want: []change{pod("containers: [" + defaulted("d") + "]"), generations("2", "2")},
		},
		"strategic: a container deleted": {
			contentType: strategicPatch, patch: `{"spec":{"template":{"spec":{"containers":[{"$patch":"delete","name":"c"},{"name":"d","image":"d:1"}]}}}}`,
			want: []change{pod("containers: [" + defaulted("d") + "]"), generations("2", "2")},
		},
		"strategic: variables in order": {
			created: []change{container("env: [{name: A, value: a}]")}, contentType: strategicPatch,
			patch: `{"spec":{"template":{"spec":{"containers":[{"name":"c","env":[{"name":"B","value":"b"}],"$setElementOrder/env":[{"name":"B"},{"name":"A"}]}]}}}}`,
			want:  []change{container("env: [{name: B, value: b}, {name: A, value: a}]"), generations("2", "2")},
		},
		"strategic: finalizers taken out and added": {
			created: []change{meta("finalizers: [example.com/a, example.com/b]")}, contentType: strategicPatch,
			patch: `{"metadata":{"$deleteFromPrimitiveList/finalizers":["example.com/a"],"finalizers":["example.com/c"]}}`,
			want:  []change{meta("finalizers: [example.com/c, example.com/b]")},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ns := newNamespace(t)
			before := createDaemonSet(t, ns, "d", test.created...)
			got := send(t, patch(test.contentType, daemonSetPath(ns, "d"), test.patch))
			wantDaemonSet(t, got, http.StatusOK, ns, test.want...)
			if test.want == nil {
				unchanged(t, before, got)
			}
		})
	}
}

// secondContainer makes the container of the minimal DaemonSet the second one.
func secondContainer(t *testing.T, object map[string]any) {
	t.Helper()
	containers := descend(t, object, "spec", "template", "spec")["containers"].([]any)
	containers[1] = descend(t, minimalIn(t, "NAMESPACE"), "spec", "template", "spec")["containers"].([]any)[0]
}
