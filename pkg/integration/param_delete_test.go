// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"path"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// fate is what has become of an object after a request to delete it.
type fate struct {
	// Code is that of the answer.
	Code int
	// Gone tells that the object is not there any more. If it is, the rest is what it looks like.
	Gone bool
	// Terminating tells that it has a deletionTimestamp, and a deletionGracePeriodSeconds of 0.
	Terminating bool
	Finalizers  []any
	// Bumps is how much the generation has grown, of a kind that has one.
	Bumps float64
}

var (
	fateDeleted  = fate{Code: 200, Gone: true}
	fateOrphaned = fate{Code: 200, Terminating: true, Finalizers: []any{"orphan"}, Bumps: 1}
	fateWaiting  = fate{Code: 200, Terminating: true, Finalizers: []any{"foregroundDeletion"}, Bumps: 1}
)

// fateOf reads what has become of an object.
func (s subject) fateOf(t *testing.T, deletion answer, before answer) fate {
	t.Helper()
	out := fate{Code: deletion.code}
	a := send(t, call{method: http.MethodGet, path: s.path(before.text("metadata.name"))})
	if out.Gone = a.code == http.StatusNotFound; out.Gone {
		return out
	}
	out.Terminating = a.text("metadata.deletionTimestamp") != ""
	if grace := a.field("metadata.deletionGracePeriodSeconds"); out.Terminating && grace != 0.0 {
		t.Errorf("deletionGracePeriodSeconds = %v, want 0", grace)
	}
	out.Finalizers, _ = a.field("metadata.finalizers").([]any)
	if generation, ok := before.field("metadata.generation").(float64); ok {
		after, _ := a.field("metadata.generation").(float64)
		out.Bumps = after - generation
	} else if a.field("metadata.generation") != nil {
		t.Errorf("the object got a generation")
	}
	return out
}

// generational tells whether the kind has a generation.
func (s subject) generational() bool { return s.kind == "DaemonSet" }

// TestParamDelete shows gracePeriodSeconds, propagationPolicy and orphanDependents in the query and in the body, on
// an object and on a collection. Both kinds are deleted at once, and their dependents with them, if nothing is said.
func TestParamDelete(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		query string
		body  any
		want  fate
	}{
		"nothing said":                       {want: fateDeleted},
		"Background":                         {query: "propagationPolicy=Background", want: fateDeleted},
		"Foreground":                         {query: "propagationPolicy=Foreground", want: fateWaiting},
		"Orphan":                             {query: "propagationPolicy=Orphan", want: fateOrphaned},
		"the first of two policies counts":   {query: "propagationPolicy=Orphan&propagationPolicy=Foreground", want: fateOrphaned},
		"orphans by the old parameter":       {query: "orphanDependents=true", want: fateOrphaned},
		"no orphans by the old parameter":    {query: "orphanDependents=false", want: fateDeleted},
		"0 is false":                         {query: "orphanDependents=0", want: fateDeleted},
		"what is no boolean is true":         {query: "orphanDependents=maybe", want: fateOrphaned},
		"nothing is true":                    {query: "orphanDependents=", want: fateOrphaned},
		"no grace":                           {query: "gracePeriodSeconds=0", want: fateDeleted},
		"grace that the kinds don't have":    {query: "gracePeriodSeconds=30", want: fateDeleted},
		"negative grace":                     {query: "gracePeriodSeconds=-1", want: fateDeleted},
		"grace with a policy":                {query: "gracePeriodSeconds=30&propagationPolicy=Foreground", want: fateWaiting},
		"preconditions can't be in a query":  {query: "preconditions=x&preconditions.uid=nope", want: fateDeleted},
		"an empty uid is no precondition":    {query: "uid=", want: fateDeleted},
		"an unknown parameter":               {query: "cascade=foreground", want: fateDeleted},
		"Background in the body":             {body: `{"propagationPolicy":"Background"}`, want: fateDeleted},
		"Foreground in the body":             {body: `{"propagationPolicy":"Foreground"}`, want: fateWaiting},
		"Orphan in the body":                 {body: `{"apiVersion":"v1","kind":"DeleteOptions","propagationPolicy":"Orphan"}`, want: fateOrphaned},
		"orphanDependents in the body":       {body: `{"orphanDependents":true}`, want: fateOrphaned},
		"not orphanDependents in the body":   {body: `{"orphanDependents":false}`, want: fateDeleted},
		"grace in the body":                  {body: `{"gracePeriodSeconds":30}`, want: fateDeleted},
		"negative grace in the body":         {body: `{"gracePeriodSeconds":-1}`, want: fateDeleted},
		"nulls in the body":                  {body: `{"gracePeriodSeconds":null,"propagationPolicy":null,"orphanDependents":null,"dryRun":null}`, want: fateDeleted},
		"an empty body":                      {body: ``, query: "propagationPolicy=Orphan", want: fateOrphaned},
		"a body hides the query":             {body: `{}`, query: "propagationPolicy=Orphan", want: fateDeleted},
		"a body hides what is bad elsewhere": {body: `{"propagationPolicy":"Orphan"}`, query: "propagationPolicy=Bogus&gracePeriodSeconds=x&orphanDependents=true", want: fateOrphaned},
		"one way each in body and query":     {body: `{"propagationPolicy":"Foreground"}`, query: "orphanDependents=true", want: fateWaiting},
		"options of group meta.k8s.io":       {body: `{"apiVersion":"meta.k8s.io/v1","kind":"DeleteOptions","propagationPolicy":"Orphan"}`, want: fateOrphaned},
		"an unknown version of the body":     {body: `{"apiVersion":"v9","kind":"DeleteOptions"}`, want: fateDeleted},
		"an unknown field in the body":       {body: `{"bogus":1,"propagationPolicy":"Orphan"}`, want: fateOrphaned},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.deletes(), func(t *testing.T, o operation) {
			for sentence, tc := range cases {
				t.Run(sentence, func(t *testing.T) {
					t.Parallel()
					c, _, before := o.prepare(t, s)
					c.path, c.body = withQuery(c.path, tc.query), tc.body
					a := send(t, c)
					want := tc.want
					if !s.generational() {
						want.Bumps = 0
					}
					if diff := cmp.Diff(want, s.fateOf(t, a, before)); diff != "" {
						t.Errorf("(-want +got):\n%s\n%s", diff, a.raw)
					}
					checkDeletionAnswer(t, s, o, a, before, want)
				})
			}
		})
	})
}

// checkDeletionAnswer checks the body: an object that is still there is answered as it is now, one that is gone with
// a Status, and a collection with what it was.
func checkDeletionAnswer(t *testing.T, s subject, o operation, a, before answer, want fate) {
	t.Helper()
	name, uid := before.text("metadata.name"), before.text("metadata.uid")
	switch {
	case o.collection:
		if got := a.text("kind"); got != s.kind+"List" {
			t.Errorf("got a %s, want a list", got)
		}
		if diff := cmp.Diff([]string{name}, a.names()); diff != "" {
			t.Errorf("items (-want +got):\n%s", diff)
		}
	case want.Gone:
		status := map[string]any{"kind": "Status", "apiVersion": "v1", "metadata": map[string]any{}, "status": "Success",
			"details": map[string]any{"name": name, "group": s.group, "kind": s.resource, "uid": uid}}
		if diff := cmp.Diff(status, a.object); diff != "" {
			t.Errorf("answer (-want +got):\n%s", diff)
		}
	default:
		if diff := cmp.Diff(s.get(t, name).object, a.object); diff != "" {
			t.Errorf("answer (-stored +got):\n%s", diff)
		}
	}
}

// TestParamDeleteInvalid shows what DeleteOptions are refused, and that nothing is deleted then.
func TestParamDeleteInvalid(t *testing.T) {
	t.Parallel()
	const (
		unknownPolicy = `propagationPolicy: Unsupported value: %q: supported values: "Foreground", "Background", "Orphan", "nil"`
		both          = `propagationPolicy: Invalid value: %q: orphanDependents and deletionPropagation cannot be both set`
	)
	invalid := func(message string, arguments ...any) refusal {
		return refusal{422, "Invalid", `DeleteOptions.meta.k8s.io "" is invalid: ` + fmt.Sprintf(message, arguments...)}
	}
	bad := func(message string) refusal { return refusal{400, "BadRequest", message} }
	const object = `json: cannot unmarshal `
	cases := map[string]struct {
		query, contentType string
		body               any
		want               refusal
	}{
		"no such policy":                        {query: "propagationPolicy=Bogus", want: invalid(unknownPolicy, "Bogus")},
		"a policy in lower case":                {query: "propagationPolicy=orphan", want: invalid(unknownPolicy, "orphan")},
		"an empty policy":                       {query: "propagationPolicy=", want: invalid(unknownPolicy, "")},
		"both ways of orphaning":                {query: "propagationPolicy=Orphan&orphanDependents=true", want: invalid(both, "Orphan")},
		"both ways of not orphaning":            {query: "propagationPolicy=Background&orphanDependents=false", want: invalid(both, "Background")},
		"grace that is no number":               {query: "gracePeriodSeconds=abc", want: bad(`strconv.ParseInt: parsing "abc": invalid syntax`)},
		"grace that is nothing":                 {query: "gracePeriodSeconds=", want: bad(`strconv.ParseInt: parsing "": invalid syntax`)},
		"grace that is no whole number":         {query: "gracePeriodSeconds=1.5", want: bad(`strconv.ParseInt: parsing "1.5": invalid syntax`)},
		"grace that is too much":                {query: "gracePeriodSeconds=9223372036854775808", want: bad(`strconv.ParseInt: parsing "9223372036854775808": value out of range`)},
		"no such policy in the body":            {body: `{"propagationPolicy":"Bogus"}`, want: invalid(unknownPolicy, "Bogus")},
		"an empty policy in the body":           {body: `{"propagationPolicy":""}`, want: invalid(unknownPolicy, "")},
		"both ways in the body":                 {body: `{"propagationPolicy":"Orphan","orphanDependents":true}`, want: invalid(both, "Orphan")},
		"grace in the body that is no number":   {body: `{"gracePeriodSeconds":"30"}`, want: bad(object + `string into Go struct field DeleteOptions.gracePeriodSeconds of type int64`)},
		"a body that is an array":               {body: `[]`, want: bad(`couldn't get version/kind; json parse error: json: cannot unmarshal array into Go value of type struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`)},
		"a body of garbage":                     {body: `not json`, want: bad(`couldn't get version/kind; json parse error: invalid character 'o' in literal null (expecting 'u')`)},
		"a body of an unknown kind":             {body: `{"apiVersion":"v9","kind":"Frob"}`, want: bad(`no kind "Frob" is registered for version "v9" in scheme "pkg/runtime/scheme.go:111"`)},
		"a body of another kind":                {body: `{"apiVersion":"v1","kind":"Status"}`, want: bad(`converting (v1.Status) to (v1.DeleteOptions): unknown conversion`)},
		"a body in an unknown format":           {contentType: "text/plain", body: `{}`, want: refusal{415, "UnsupportedMediaType", `the body of the request was in an unknown format - accepted media types include: application/json, application/yaml, application/vnd.kubernetes.protobuf`}},
		"all at once":                           {query: "propagationPolicy=Bogus&orphanDependents=true&dryRun=x", want: invalid(`[`+both+`, `+unknownPolicy+`, dryRun: Unsupported value: ["x"]: supported values: "All"]`, "Bogus", "Bogus")},
		"reading errors with grace":             {query: ignoreReadErrors + "&gracePeriodSeconds=0", want: invalid(readErrorsWith, "gracePeriodSeconds")},
		"reading errors with a policy":          {query: ignoreReadErrors + "&propagationPolicy=Orphan", want: invalid(readErrorsWith, "propagationPolicy")},
		"reading errors with orphanDependents":  {query: ignoreReadErrors + "&orphanDependents=false", want: invalid(readErrorsWith, "orphanDependents")},
		"reading errors with preconditions":     {body: `{"ignoreStoreReadErrorWithClusterBreakingPotential":true,"preconditions":{"uid":"x"}}`, want: invalid(readErrorsWith, "preconditions")},
		"a policy first of two that is unknown": {query: "propagationPolicy=Bogus&propagationPolicy=Orphan", want: invalid(unknownPolicy, "Bogus")},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.deletes(), func(t *testing.T, o operation) {
			for sentence, tc := range cases {
				t.Run(sentence, func(t *testing.T) {
					t.Parallel()
					c, _, before := o.prepare(t, s)
					c.path, c.body, c.contentType = withQuery(c.path, tc.query), tc.body, tc.contentType
					a := send(t, c)
					if diff := cmp.Diff(tc.want, a.refusal()); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
					if diff := cmp.Diff(fate{Code: tc.want.Code}, s.fateOf(t, a, before)); diff != "" {
						t.Errorf("(-want +got):\n%s", diff)
					}
				})
			}
		})
	})
}

const (
	ignoreReadErrors = "ignoreStoreReadErrorWithClusterBreakingPotential=true"
	readErrorsWith   = `ignoreStoreReadErrorWithClusterBreakingPotential: Invalid value: true: cannot be set together with .%s`
)

// TestParamIgnoreStoreReadError shows ignoreStoreReadErrorWithClusterBreakingPotential on objects that can be read:
// it does not delete those, and it is not for collections.
func TestParamIgnoreStoreReadError(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.new(t).text("metadata.name")
		key := path.Join(s.resource, s.namespace, name)
		decodable := refusal{409, "Conflict", `Operation cannot be fulfilled on ` + s.qualified() + ` "` + name + `": StorageError: invalid object, ` +
			`Code: 4, Key: /registry/` + key + `, ResourceVersion: 0, AdditionalErrorMsg: unsafe deletion is not allowed because the object is decodable from storage`}
		cases := map[string]struct {
			call call
			want refusal
		}{
			"an object that can be read": {
				call: call{path: withQuery(s.path(name), ignoreReadErrors)},
				want: decodable,
			},
			"in the body": {
				call: call{path: s.path(name), body: `{"ignoreStoreReadErrorWithClusterBreakingPotential":true}`},
				want: decodable,
			},
			"a dry run": {
				call: call{path: withQuery(s.path(name), ignoreReadErrors, "dryRun=All")},
				want: decodable,
			},
			"no such object": {
				call: call{path: withQuery(s.path("missing"), ignoreReadErrors)},
				want: refusal{404, "NotFound", s.qualified() + ` "missing" not found`},
			},
			"a collection": {
				call: call{path: s.mine(ignoreReadErrors)},
				want: refusal{422, "Invalid", `DeleteOptions.meta.k8s.io "" is invalid: ignoreStoreReadErrorWithClusterBreakingPotential: ` +
					`Invalid value: true: is not allowed with DELETECOLLECTION, try again after removing the option`},
			},
		}
		for sentence, tc := range cases {
			t.Run(sentence, func(t *testing.T) {
				tc.call.method = http.MethodDelete
				if diff := cmp.Diff(tc.want, send(t, tc.call).refusal()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if !s.exists(t, name) {
					t.Fatal("the object was deleted")
				}
			})
		}
		// false is no more than not said.
		mustSend(t, call{method: http.MethodDelete, path: withQuery(s.path(name), "ignoreStoreReadErrorWithClusterBreakingPotential=false&gracePeriodSeconds=1")}, http.StatusOK)
		if s.exists(t, name) {
			t.Error("the object was not deleted")
		}
	})
}

// TestParamPreconditions shows the preconditions of a deletion.
func TestParamPreconditions(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.deletes(), func(t *testing.T, o operation) {
			conflict := func(uid, version string) map[string]any {
				return map[string]any{"preconditions": map[string]any{"uid": uid, "resourceVersion": version}}
			}
			c, name, before := o.prepare(t, s)
			uid, version := before.text("metadata.uid"), before.text("metadata.resourceVersion")
			prefix := "Operation cannot be fulfilled on " + s.kind + "." + s.group + ` "` + name + `": `
			for want, body := range map[string]any{
				`the UID in the precondition (nope) does not match the UID in record (` + uid + `). The object might have been deleted and then recreated`:        conflict("nope", version),
				`the ResourceVersion in the precondition (1) does not match the ResourceVersion in record (` + version + `). The object might have been modified`: conflict(uid, "1"),
				`the ResourceVersion in the precondition () does not match the ResourceVersion in record (` + version + `). The object might have been modified`:  conflict(uid, ""),
			} {
				c.body = body
				a := send(t, c)
				if diff := cmp.Diff(refusal{409, "Conflict", prefix + want}, a.refusal()); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(fate{Code: 409}, s.fateOf(t, a, before)); diff != "" {
					t.Errorf("(-want +got):\n%s", diff)
				}
			}
			c.body = conflict(uid, version)
			c.path = withQuery(c.path, "uid=nope")
			if diff := cmp.Diff(fateDeleted, s.fateOf(t, send(t, c), before)); diff != "" {
				t.Errorf("right preconditions (-want +got):\n%s", diff)
			}
		})
	})
}

// TestParamPreconditionsInQuery shows that both preconditions can be had as parameters, and that this makes the
// resourceVersion of a collection one of every object in it.
func TestParamPreconditionsInQuery(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		forEachOperation(t, s.deletes(), func(t *testing.T, o operation) {
			c, name, before := o.prepare(t, s)
			path, uid, version := c.path, before.text("metadata.uid"), before.text("metadata.resourceVersion")
			prefix := "Operation cannot be fulfilled on " + s.kind + "." + s.group + ` "` + name + `": `
			for query, message := range map[string]string{
				"uid=nope":          `the UID in the precondition (nope) does not match the UID in record (` + uid + `). The object might have been deleted and then recreated`,
				"resourceVersion=0": `the ResourceVersion in the precondition (0) does not match the ResourceVersion in record (` + version + `). The object might have been modified`,
			} {
				c.path = withQuery(path, query)
				if diff := cmp.Diff(refusal{409, "Conflict", prefix + message}, send(t, c).refusal()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", query, diff)
				}
			}
			c.path = withQuery(path, "uid="+uid, "resourceVersion="+version)
			if diff := cmp.Diff(fateDeleted, s.fateOf(t, send(t, c), before)); diff != "" {
				t.Errorf("right preconditions (-want +got):\n%s", diff)
			}
		})
	})
}

// held creates an object that a finalizer holds.
func (s subject) held(t *testing.T) answer {
	t.Helper()
	object := s.object(unique("o"))
	object["metadata"].(map[string]any)["finalizers"] = []string{"a.io/b"}
	return mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
}

// merge sends a merge patch, whatever its answer.
func (s subject) merge(t *testing.T, name, body string) answer {
	t.Helper()
	return send(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: body})
}

// TestParamDeleteHeld shows that an object with a finalizer stays until it has none, and that to ask again changes
// nothing.
func TestParamDeleteHeld(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		want := fate{Terminating: true, Finalizers: []any{"a.io/b"}, Bumps: 1}
		if !s.generational() {
			want.Bumps = 0
		}
		for query, code := range map[string]int{"": 200, "gracePeriodSeconds=0": 200, "propagationPolicy=Background": 200, "orphanDependents=false": 202} {
			before := s.held(t)
			name := before.text("metadata.name")
			a := send(t, call{method: http.MethodDelete, path: withQuery(s.path(name), query)})
			want.Code = code
			if diff := cmp.Diff(want, s.fateOf(t, a, before)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", query, diff)
			}
			terminating := s.get(t, name)
			again := send(t, call{method: http.MethodDelete, path: withQuery(s.path(name), query)})
			if diff := cmp.Diff(terminating.object, again.object); again.code != code || diff != "" {
				t.Errorf("%s again: %d (-before +after):\n%s", query, again.code, diff)
			}
			last := s.merge(t, name, `{"metadata":{"finalizers":null}}`)
			if last.code != http.StatusOK || last.text("metadata.name") != name || s.exists(t, name) {
				t.Errorf("%s: still there after the last finalizer went: %s", query, last.raw)
			}
		}
	})
}

// TestParamDeletePolicyChanges shows that a policy takes its finalizer in and that of another out.
func TestParamDeletePolicyChanges(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.held(t).text("metadata.name")
		for _, step := range []struct {
			query      string
			finalizers []any
		}{
			{"propagationPolicy=Foreground", []any{"a.io/b", "foregroundDeletion"}},
			{"propagationPolicy=Orphan", []any{"a.io/b", "orphan"}},
			{"propagationPolicy=Foreground", []any{"a.io/b", "foregroundDeletion"}},
			{"", []any{"a.io/b", "foregroundDeletion"}},
			{"propagationPolicy=Background", []any{"a.io/b"}},
			{"orphanDependents=true", []any{"a.io/b", "orphan"}},
			{"orphanDependents=false", []any{"a.io/b"}},
		} {
			a := send(t, call{method: http.MethodDelete, path: withQuery(s.path(name), step.query)})
			if diff := cmp.Diff(step.finalizers, s.get(t, name).field("metadata.finalizers")); diff != "" {
				t.Errorf("%q: %d (-want +got):\n%s", step.query, a.code, diff)
			}
		}
		if got := s.get(t, name).field("metadata.generation"); s.generational() && got != 2.0 {
			t.Errorf("generation = %v, want 2", got)
		}
	})
}

// TestParamDeleteAndChange shows what can still be done to an object that is being deleted.
func TestParamDeleteAndChange(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		name := s.held(t).text("metadata.name")
		mustSend(t, call{method: http.MethodDelete, path: s.path(name)}, http.StatusOK)
		want := refusal{422, "Invalid", s.kind + "." + s.group + ` "` + name + `" is invalid: metadata.finalizers: Forbidden: ` +
			`no new finalizers can be added if the object is being deleted, found new finalizers []string{"x.io/new"}`}
		if diff := cmp.Diff(want, s.merge(t, name, `{"metadata":{"finalizers":["a.io/b","x.io/new"]}}`).refusal()); diff != "" {
			t.Errorf("a new finalizer (-want +got):\n%s", diff)
		}
		terminating := s.get(t, name)
		for _, body := range []string{`{"metadata":{"deletionTimestamp":null,"deletionGracePeriodSeconds":null}}`, `{"metadata":{"deletionGracePeriodSeconds":null}}`} {
			if a := s.merge(t, name, body); a.code != http.StatusOK || !cmp.Equal(terminating.object, a.object) {
				t.Errorf("%s: %d %s", body, a.code, cmp.Diff(terminating.object, a.object))
			}
		}
		if a := s.merge(t, name, `{"metadata":{"deletionTimestamp":"2001-01-01T00:00:00Z"}}`); a.code != http.StatusOK || a.field("metadata.deletionTimestamp") != terminating.field("metadata.deletionTimestamp") {
			t.Errorf("another time: %d %s", a.code, a.raw)
		}
		want = refusal{422, "Invalid", s.kind + "." + s.group + ` "` + name + `" is invalid: metadata.deletionGracePeriodSeconds: Invalid value: 7: field is immutable`}
		if diff := cmp.Diff(want, s.merge(t, name, `{"metadata":{"deletionGracePeriodSeconds":7}}`).refusal()); diff != "" {
			t.Errorf("another grace (-want +got):\n%s", diff)
		}
		if a := s.merge(t, name, `{"metadata":{"labels":{"still":"here"}}}`); a.code != http.StatusOK || a.text("metadata.labels.still") != "here" {
			t.Errorf("a label: %d %s", a.code, a.raw)
		}
		taken := refusal{409, "AlreadyExists", "object is being deleted: " + s.qualified() + ` "` + name + `" already exists`}
		if diff := cmp.Diff(taken, send(t, call{method: http.MethodPost, path: s.root, body: s.object(name)}).refusal()); diff != "" {
			t.Errorf("its name (-want +got):\n%s", diff)
		}
		if a := s.merge(t, name, `{"metadata":{"finalizers":[]}}`); a.code != http.StatusOK || s.exists(t, name) {
			t.Errorf("no finalizers: %d %s", a.code, a.raw)
		}
		live := s.new(t).text("metadata.name")
		want = refusal{422, "Invalid", s.kind + "." + s.group + ` "` + live + `" is invalid: metadata.finalizers[0]: Invalid value: "nodomain": name is neither a standard finalizer name nor is it fully qualified`}
		if diff := cmp.Diff(want, s.merge(t, live, `{"metadata":{"finalizers":["nodomain"]}}`).refusal()); diff != "" {
			t.Errorf("a finalizer without a domain (-want +got):\n%s", diff)
		}
	})
}

// TestParamDeleteCollection shows that a collection is deleted as far as the selectors reach, page by page if asked.
func TestParamDeleteCollection(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		create := func(name, tier string) {
			object := s.object(name)
			object["metadata"].(map[string]any)["labels"].(map[string]any)["tier"] = tier
			mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
		}
		prefix := unique("o")
		for i := range 5 {
			create(fmt.Sprintf("%s-%d", prefix, i), fmt.Sprint(i%2))
		}
		left := func(want ...string) {
			t.Helper()
			for i := range want {
				want[i] = prefix + "-" + want[i]
			}
			if diff := cmp.Diff(want, mustSend(t, call{method: http.MethodGet, path: s.mine()}, 200).names()); diff != "" {
				t.Errorf("left (-want +got):\n%s", diff)
			}
		}
		remove := func(queries ...string) answer {
			return mustSend(t, call{method: http.MethodDelete, path: s.mine(queries...)}, 200)
		}
		remove("fieldSelector=metadata.name%3D" + prefix + "-3")
		left("0", "1", "2", "4")
		// The selector for labels is given twice; the first counts, so all of the test's are selected.
		mustSend(t, call{method: http.MethodDelete, path: withQuery(s.root, "labelSelector=test%3D"+s.label+"%2Ctier%3D1", "labelSelector=test%3D"+s.label)}, 200)
		left("0", "2", "4")
		page := remove("limit=2")
		if diff := cmp.Diff([]string{prefix + "-0", prefix + "-2"}, page.names()); diff != "" {
			t.Errorf("a page (-want +got):\n%s", diff)
		}
		left("4")
		remove()
		if got := mustSend(t, call{method: http.MethodGet, path: s.mine()}, 200).names(); len(got) != 0 {
			t.Errorf("left: %v", got)
		}
		if got := remove(); len(got.names()) != 0 || got.text("kind") != s.kind+"List" {
			t.Errorf("an empty collection: %s", got.raw)
		}
	})
}
