// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
)

// The stories of this file are what people reported about servers of this kind, each played on our strategies and on
// upstream's. What the handlers around them do (status codes of a body that can't be decoded, preconditions) is tested
// over HTTP.

// step is one request of a story. Exactly one of the first four fields is set.
type step struct {
	post, merge, strategic string // JSON; merge and strategic are patches of what is stored
	statusMerge            string // a merge patch through /status

	errs     []string // messages of a 422, in order
	decode   string   // why the body can't be decoded
	warnings []string
	want     map[string]string // JSON path -> JSON afterwards; "" where there is nothing
}

// base is the DaemonSet of most stories; a post is merged into it.
const base = `{"apiVersion":"apps/v1","kind":"DaemonSet","metadata":{"name":"d","namespace":"t","resourceVersion":"1"},"spec":{` +
	`"selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"img:1"}]}}}}`

const (
	generationPath         = "metadata.generation"
	templateGenerationPath = "metadata.annotations.deprecated~daemonset~template~generation"
	strategyPath           = "spec.updateStrategy"
	ports                  = "spec.template.spec.containers[0].ports"
)

func stories() map[string][]step {
	stories := map[string][]step{}
	for _, some := range []map[string][]step{strategyStories(), generationStories(), statusStories(), selectorStories(), templateStories()} {
		for name, story := range some {
			stories[name] = story
		}
	}
	return stories
}

func strategyStories() map[string][]step {
	spec := func(rolling string) string { return `{"spec":{"updateStrategy":{"rollingUpdate":` + rolling + `}}}` }
	const defaulted = `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}`
	return map[string][]step{
		"deleting rollingUpdate by directive leaves zeros": {
			{post: spec(`{"maxUnavailable":3}`), want: map[string]string{strategyPath: `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":3},"type":"RollingUpdate"}`}},
			{
				strategic: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"$patch":"delete"}}}}`,
				want:      map[string]string{strategyPath: `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0},"type":"OnDelete"}`},
			},
		},
		"deleting rollingUpdate by null leaves nothing": {
			{post: spec(`{"maxUnavailable":3}`)},
			{
				strategic: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":null}}}`,
				want:      map[string]string{strategyPath: `{"type":"OnDelete"}`},
			},
		},
		"OnDelete with an empty rollingUpdate": {{
			post: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{}}}}`,
			want: map[string]string{strategyPath: `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":0},"type":"OnDelete"}`},
		}},
		"OnDelete without it": {{
			post: `{"spec":{"updateStrategy":{"type":"OnDelete"}}}`,
			want: map[string]string{strategyPath: `{"type":"OnDelete"}`},
		}},
		"OnDelete hides values that RollingUpdate refuses": {
			{
				post: `{"spec":{"updateStrategy":{"type":"OnDelete","rollingUpdate":{"maxUnavailable":"150%","maxSurge":-4}}}}`,
				want: map[string]string{strategyPath: `{"rollingUpdate":{"maxSurge":-4,"maxUnavailable":"150%"},"type":"OnDelete"}`},
			},
			{merge: `{"spec":{"updateStrategy":{"type":"RollingUpdate"}}}`, errs: []string{
				`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -4: must be greater than or equal to 0`,
				`spec.updateStrategy.rollingUpdate.maxUnavailable: Invalid value: "150%": must not be greater than 100%`,
				`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: -4: may not be set when maxUnavailable is non-zero`,
			}},
		},
		"both zero": {{
			post: spec(`{"maxSurge":0,"maxUnavailable":0}`),
			errs: []string{`spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`},
		}},
		"both zero percent": {{
			post: spec(`{"maxSurge":"0%","maxUnavailable":"0%"}`),
			errs: []string{`spec.updateStrategy.rollingUpdate.maxUnavailable: Required value: cannot be 0 when maxSurge is 0`},
		}},
		"a surge and the default of maxUnavailable": {{
			post: spec(`{"maxSurge":1}`),
			errs: []string{`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`},
		}},
		"both beyond zero": {{
			post: spec(`{"maxSurge":1,"maxUnavailable":1}`),
			errs: []string{`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero`},
		}},
		"a surge in percent instead": {{post: spec(`{"maxSurge":"10%","maxUnavailable":0}`)}},
		"no surge in percent":        {{post: spec(`{"maxSurge":"0%","maxUnavailable":1}`)}},
		"a surge patched into defaults, then alone, then with the default back": {
			{post: `{}`, want: map[string]string{strategyPath: defaulted}},
			{
				strategic: spec(`{"maxSurge":"25%"}`),
				errs:      []string{`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "25%": may not be set when maxUnavailable is non-zero`},
			},
			{strategic: spec(`{"maxSurge":"25%","maxUnavailable":0}`), want: map[string]string{generationPath: `2`, templateGenerationPath: `"1"`}},
			{
				strategic: spec(`{"maxUnavailable":null}`),
				errs:      []string{`spec.updateStrategy.rollingUpdate.maxSurge: Invalid value: "25%": may not be set when maxUnavailable is non-zero`},
			},
		},
		"retaining only the type leaves no rollingUpdate": {
			{post: `{}`},
			{strategic: `{"spec":{"updateStrategy":{"$retainKeys":["type"],"type":"OnDelete"}}}`, want: map[string]string{strategyPath: `{"type":"OnDelete"}`}},
		},
	}
}

func generationStories() map[string][]step {
	annotation := func(value string) string {
		return `{"metadata":{"annotations":{"deprecated.daemonset.template.generation":` + value + `}}}`
	}
	both := func(generation, templateGeneration string) map[string]string {
		return map[string]string{generationPath: generation, templateGenerationPath: `"` + templateGeneration + `"`}
	}
	image := func(image string) string {
		return `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"` + image + `"}]}}}}`
	}
	return map[string][]step{
		"the annotation is an internal field": {
			{post: `{"metadata":{"generation":55,"annotations":{"deprecated.daemonset.template.generation":"9"}}}`, want: both(`1`, `9`)},
			{merge: `{"metadata":{"annotations":null}}`, want: both(`1`, `9`)},
			{merge: annotation(`"100"`), want: both(`1`, `9`)},
			{strategic: image("img:2"), want: both(`2`, `10`)},
			{merge: `{"spec":{"minReadySeconds":5}}`, want: both(`3`, `10`)},
			{merge: `{"metadata":{"generation":999,"labels":{"l":"1"}}}`, want: both(`3`, `10`)},
			{merge: annotation(`"zz"`), decode: `strconv.ParseInt: parsing "zz": invalid syntax`},
			{merge: `{"metadata":{"annotations":{"a":"b"}}}`, want: both(`3`, `10`)},
		},
		"a word is no template generation":    {{post: annotation(`"abc"`), decode: `strconv.ParseInt: parsing "abc": invalid syntax`}},
		"below 1 it becomes 1":                {{post: annotation(`"-5"`), want: both(`1`, `1`)}},
		"0 becomes 1":                         {{post: annotation(`"0"`), want: both(`1`, `1`)}},
		"the number is put in canonical form": {{post: annotation(`"+007"`), want: both(`1`, `7`)}},
		"after the largest there is no other one": {
			{post: annotation(`"9223372036854775807"`), want: both(`1`, `9223372036854775807`)},
			{strategic: image("img:2"), errs: []string{
				`spec.templateGeneration: Invalid value: -9223372036854775808: must not be decremented`,
				`spec.templateGeneration: Invalid value: -9223372036854775808: must be greater than or equal to 0`,
			}},
			{merge: `{"spec":{"minReadySeconds":5}}`, want: both(`2`, `9223372036854775807`)},
		},
		"a restart is a change of the template": {
			{post: `{}`, want: both(`1`, `1`)},
			{
				strategic: `{"spec":{"template":{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-17T00:00:00Z"}}}}}`,
				want:      both(`2`, `2`),
			},
			{strategic: `{"metadata":{"annotations":{"kubectl.kubernetes.io/restartedAt":"2026-01-17T00:00:00Z"}}}`, want: both(`2`, `2`)},
		},
		"a template that only looks different is the same": {
			{post: `{}`},
			{merge: `{"spec":{"template":{"metadata":{"annotations":{}},"spec":{"volumes":[],"nodeSelector":{}}}}}`, want: both(`1`, `1`)},
		},
	}
}

func statusStories() map[string][]step {
	const zeros = `{"currentNumberScheduled":0,"desiredNumberScheduled":0,"numberMisscheduled":0,"numberReady":0}`
	return map[string][]step{
		"status is written through /status only": {
			{post: `{"status":{"numberReady":3,"conditions":[{"type":"X","status":"True"}]}}`, want: map[string]string{"status": zeros}},
			{statusMerge: `{"status":{"numberReady":-1}}`, errs: []string{`status.numberReady: Invalid value: -1: must be greater than or equal to 0`}},
			{
				statusMerge: `{"status":{"currentNumberScheduled":2,"desiredNumberScheduled":3,"numberReady":5,"observedGeneration":77,"collisionCount":3},` +
					`"spec":{"minReadySeconds":9},"metadata":{"labels":{"s":"1"}}}`,
				want: map[string]string{
					"status.numberReady": `5`, "status.observedGeneration": `77`, "metadata.labels.s": `"1"`,
					"spec.minReadySeconds": ``, generationPath: `1`, templateGenerationPath: `"1"`,
				},
			},
			{statusMerge: `{"status":{"collisionCount":2}}`, errs: []string{`status.collisionCount: Invalid value: 2: cannot be decremented`}},
			{statusMerge: `{"status":{"collisionCount":null}}`, errs: []string{`status.collisionCount: Invalid value: 0: cannot be decremented`}},
			{
				statusMerge: `{"status":{"conditions":[{"type":"X","status":"True"},{"type":"X","status":"maybe"}]}}`,
				want: map[string]string{
					"status.conditions": `[{"lastTransitionTime":null,"status":"True","type":"X"},{"lastTransitionTime":null,"status":"maybe","type":"X"}]`,
				},
			},
			{merge: `{"status":{"numberReady":1}}`, want: map[string]string{"status.numberReady": `5`}},
			{statusMerge: `{"metadata":{"annotations":null},"status":{"observedGeneration":78}}`, want: map[string]string{templateGenerationPath: `"1"`}},
		},
		"an empty status has its required counters": {
			{post: `{}`},
			{statusMerge: `{"status":null}`, want: map[string]string{"status": zeros}},
		},
		"/status doesn't warn of the template": {
			{
				post:     `{"spec":{"template":{"spec":{"nodeSelector":{"beta.kubernetes.io/os":"linux"}}}}}`,
				warnings: []string{`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`},
			},
			{statusMerge: `{"status":{"numberReady":1}}`},
			{merge: `{"spec":{"minReadySeconds":1}}`},
			{
				merge:    `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`,
				warnings: []string{`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`},
			},
		},
	}
}

func selectorStories() map[string][]step {
	const (
		notMatching = "spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`"
		noLabels    = "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"
		badLabel    = `Invalid value: "-bad-": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with ` +
			`an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
	)
	in := func(values string) string {
		return `{"spec":{"selector":{"matchLabels":null,"matchExpressions":[{"key":"app","operator":"In","values":` + values + `}]}}}`
	}
	return map[string][]step{
		"no selector":                     {{post: `{"spec":{"selector":null}}`, errs: []string{notMatching}}},
		"an empty selector":               {{post: `{"spec":{"selector":{"matchLabels":null}}}`, errs: []string{`spec.selector: Invalid value: {}: empty selector is invalid for daemonset`}}},
		"labels that don't match":         {{post: `{"spec":{"selector":{"matchLabels":{"app":"y"}}}}`, errs: []string{notMatching}}},
		"a template without labels":       {{post: `{"spec":{"template":{"metadata":{"labels":null}}}}`, errs: []string{noLabels}}},
		"a value that no label can have":  {{post: `{"spec":{"selector":{"matchLabels":{"app":"-bad-"}}}}`, errs: []string{"spec.selector.matchLabels: " + badLabel}}},
		"the same in both places":         {{post: `{"spec":{"selector":{"matchLabels":{"app":"-bad-"}},"template":{"metadata":{"labels":{"app":"-bad-"}}}}}`, errs: []string{"spec.selector.matchLabels: " + badLabel, "spec.template.labels: " + badLabel}}},
		"the selector changes by a patch": {{post: `{}`}, {merge: `{"spec":{"selector":{"matchLabels":{"app":"y"}}}}`, errs: []string{`spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable`, notMatching}}},
		"the selector and labels change together": {{post: `{}`}, {
			merge: `{"spec":{"selector":{"matchLabels":{"app":"y"}},"template":{"metadata":{"labels":{"app":"y"}}}}}`,
			errs:  []string{`spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable`},
		}},
		"the order of values changes": {{post: in(`["x","y"]`)}, {
			merge: in(`["y","x"]`),
			errs:  []string{`spec.selector: Invalid value: {"matchExpressions":[{"key":"app","operator":"In","values":["y","x"]}]}: field is immutable`},
		}},
	}
}

func templateStories() map[string][]step {
	pod := func(spec string) string { return `{"spec":{"template":{"spec":` + spec + `}}}` }
	memory := func(quantity string) string {
		return pod(`{"containers":[{"name":"c","image":"img:1","resources":{"requests":` + quantity + `}}]}`)
	}
	fraction := func(quantity string) []string {
		return []string{`spec.template.spec.containers[0].resources.requests[memory]: fractional byte value "` + quantity + `" is invalid, must be an integer`}
	}
	const requests = "spec.template.spec.containers[0].resources.requests"
	return map[string][]step{
		"every defaulted field": {{post: `{}`, want: map[string]string{
			generationPath: `1`, templateGenerationPath: `"1"`,
			strategyPath:                `{"rollingUpdate":{"maxSurge":0,"maxUnavailable":1},"type":"RollingUpdate"}`,
			"spec.revisionHistoryLimit": `10`, "spec.minReadySeconds": ``,
			"status":                 `{"currentNumberScheduled":0,"desiredNumberScheduled":0,"numberMisscheduled":0,"numberReady":0}`,
			"spec.template.metadata": `{"labels":{"app":"x"}}`,
			"spec.template.spec": `{"containers":[{"image":"img:1","imagePullPolicy":"IfNotPresent","name":"c","resources":{},"terminationMessagePath":"/dev/termination-log",` +
				`"terminationMessagePolicy":"File"}],"dnsPolicy":"ClusterFirst","restartPolicy":"Always","schedulerName":"default-scheduler","securityContext":{},` +
				`"terminationGracePeriodSeconds":30}`,
		}}},
		"an image without a tag is always pulled": {{
			post: pod(`{"containers":[{"name":"c","image":"img"}]}`),
			want: map[string]string{"spec.template.spec.containers[0].imagePullPolicy": `"Always"`},
		}},
		"so is the latest one": {{
			post: pod(`{"containers":[{"name":"c","image":"img:latest"}]}`),
			want: map[string]string{"spec.template.spec.containers[0].imagePullPolicy": `"Always"`},
		}},
		"the two names of the service account": {
			{post: pod(`{"serviceAccount":"old"}`), want: map[string]string{"spec.template.spec.serviceAccountName": `"old"`, "spec.template.spec.serviceAccount": `"old"`}},
			{merge: pod(`{"serviceAccountName":"new"}`), want: map[string]string{"spec.template.spec.serviceAccount": `"new"`, generationPath: `2`}},
		},
		"annotations for init containers are dropped": {{
			post: `{"spec":{"template":{"metadata":{"annotations":{"pod.beta.kubernetes.io/init-containers":"[]","kept":"yes"}}}}}`,
			want: map[string]string{"spec.template.metadata.annotations": `{"kept":"yes"}`},
		}},
		"a host port and a surge": {{
			post: `{"spec":{"updateStrategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":0}},"template":{"spec":{"containers":[{"name":"c","image":"img:1","ports":[{"containerPort":8080,"hostPort":54323}]}]}}}}`,
		}},
		"a host port of its own on the host network": {{
			post: pod(`{"hostNetwork":true,"containers":[{"name":"c","image":"img:1","ports":[{"containerPort":8080,"hostPort":54323}]}]}`),
			errs: []string{ports + "[0].hostPort: Invalid value: 54323: must match `containerPort` when `hostNetwork` is true"},
		}},
		"a host port isn't defaulted": {{
			post: pod(`{"hostNetwork":true,"containers":[{"name":"c","image":"img:1","ports":[{"containerPort":8080}]}]}`),
			want: map[string]string{ports: `[{"containerPort":8080,"protocol":"TCP"}]`},
		}},
		"duplicates in keyed lists pass": {{
			post:     pod(`{"containers":[{"name":"c","image":"img:1","env":[{"name":"FOO","value":"1"},{"name":"FOO","value":"2"}],"ports":[{"containerPort":93,"hostPort":9376},{"containerPort":93,"hostPort":7693}]}]}`),
			warnings: []string{`spec.template.spec.containers[0].env[1]: hides previous definition of "FOO", which may be dropped when using apply`},
			want:     map[string]string{ports: `[{"containerPort":93,"hostPort":9376,"protocol":"TCP"},{"containerPort":93,"hostPort":7693,"protocol":"TCP"}]`},
		}},
		"two ports of one name": {{
			post: pod(`{"containers":[{"name":"c","image":"img:1","ports":[{"containerPort":8383,"name":"x"},{"containerPort":8181,"name":"x"}]}]}`),
			errs: []string{ports + `[1].name: Duplicate value: "x"`},
		}},
		"a port without a number": {{
			post: pod(`{"containers":[{"name":"c","image":"img:1","ports":[{"protocol":"TCP"}]}]}`),
			errs: []string{ports + `[0].containerPort: Required value`},
		}},
		"no containers by a patch": {{post: `{}`}, {
			strategic: pod(`{"containers":null}`),
			errs:      []string{`spec.template.spec.containers: Required value`},
		}},
		"half a byte is warned of": {{
			post: memory(`{"memory":"0.9Gi"}`), want: map[string]string{requests: `{"memory":"966367641600m"}`}, warnings: fraction("966367641600m"),
		}},
		"less than a byte is warned of": {{
			post: memory(`{"memory":"400m"}`), want: map[string]string{requests: `{"memory":"400m"}`}, warnings: fraction("400m"),
		}},
		"less than nothing is refused": {{
			post: memory(`{"cpu":"-1"}`), errs: []string{requests + `[cpu]: Invalid value: "-1": must be greater than or equal to 0`},
		}},
		"annotations of one byte too many": {{
			post: `{"metadata":{"annotations":{"a":"` + strings.Repeat("x", 256<<10) + `"}}}`,
			errs: []string{`metadata.annotations: Too long: may not be more than 262144 bytes`},
		}},
		"annotations of as many bytes as there may be, besides the template generation": {
			{post: `{"metadata":{"annotations":{"a":"` + strings.Repeat("x", 256<<10-1) + `"}}}`, want: map[string]string{templateGenerationPath: `"1"`, "metadata.selfLink": ``}},
			{merge: `{"spec":{"template":{"spec":{"hostNetwork":true}}}}`, want: map[string]string{templateGenerationPath: `"2"`, generationPath: `2`}},
			{statusMerge: `{"status":{"numberReady":1}}`, want: map[string]string{templateGenerationPath: `"2"`, "status.numberReady": `1`}},
		},
	}
}

func TestStories(t *testing.T) {
	t.Parallel()
	for name, story := range stories() {
		for owner, server := range map[string]server{"ours": newOurs(t), "upstream's": newOracle()} {
			t.Run(name+", "+owner, func(t *testing.T) {
				t.Parallel()
				var stored *appsv1.DaemonSet
				for i, step := range story {
					stored = step.play(t, fmt.Sprintf("step %d", i+1), server, stored)
				}
			})
		}
	}
}

// play sends the request and returns what is stored afterwards.
func (s step) play(t *testing.T, at string, server server, stored *appsv1.DaemonSet) *appsv1.DaemonSet {
	t.Helper()
	r := s.request(t, stored)
	got := play(t.Context(), t, server, r)
	if got.DecodeError != s.decode {
		t.Fatalf("%s: decoding says %q, want %q", at, got.DecodeError, s.decode)
	}
	if got.DecodeError != "" {
		return stored
	}
	var errs []string
	if got.Status != nil {
		for _, cause := range got.Status.Details.Causes {
			errs = append(errs, cause.Field+": "+cause.Message)
		}
	}
	if diff := cmp.Diff(s.errs, errs); diff != "" {
		t.Fatalf("%s: errors (-want +got):\n%s", at, diff)
	}
	if diff := cmp.Diff(s.warnings, got.Warnings); diff != "" {
		t.Errorf("%s: warnings (-want +got):\n%s", at, diff)
	}
	if got.Status != nil {
		return stored
	}
	var document any
	if err := json.Unmarshal([]byte(got.JSON), &document); err != nil {
		t.Fatal(err)
	}
	for path, want := range s.want {
		if found := lookUp(t, document, path); found != want {
			t.Errorf("%s: %s is %s, want %s", at, path, found, want)
		}
	}
	result := &appsv1.DaemonSet{}
	if err := json.Unmarshal([]byte(got.JSON), result); err != nil {
		t.Fatal(err)
	}
	result.TypeMeta = minimal().TypeMeta
	return result
}

// request returns the bodies of a step: patches are applied to what is stored, as the patch handler does.
func (s step) request(t *testing.T, stored *appsv1.DaemonSet) request {
	t.Helper()
	if s.post != "" {
		return request{body: mergePatch(t, []byte(base), s.post)}
	}
	old := body(t, stored)
	switch {
	case s.merge != "":
		return request{body: mergePatch(t, old, s.merge), old: old}
	case s.statusMerge != "":
		return request{body: mergePatch(t, old, s.statusMerge), old: old, subresource: "status"}
	}
	patched, err := strategicpatch.StrategicMergePatch(old, []byte(s.strategic), &appsv1.DaemonSet{})
	if err != nil {
		t.Fatal(err)
	}
	return request{body: patched, old: old}
}

// mergePatch applies a merge patch by the rules of RFC 7386.
func mergePatch(t *testing.T, document []byte, patch string) []byte {
	t.Helper()
	var target, change any
	for text, into := range map[string]*any{string(document): &target, patch: &change} {
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%v in %.200s", err, text)
		}
	}
	merged, err := json.Marshal(merge(target, change))
	if err != nil {
		t.Fatal(err)
	}
	return merged
}

func merge(target, patch any) any {
	change, ok := patch.(map[string]any)
	if !ok {
		return patch
	}
	result, ok := target.(map[string]any)
	if !ok {
		result = map[string]any{}
	}
	for key, value := range change {
		if value == nil {
			delete(result, key)
		} else {
			result[key] = merge(result[key], value)
		}
	}
	return result
}

// lookUp returns the JSON at a path like a.b[0].c, in which ~ stands for a dot in a key; "" where there is nothing.
func lookUp(t *testing.T, document any, path string) string {
	t.Helper()
	for _, part := range strings.Split(path, ".") {
		key, rest, indexed := strings.Cut(strings.ReplaceAll(part, "~", "."), "[")
		object, ok := document.(map[string]any)
		if !ok {
			return ""
		}
		if document, ok = object[key]; !ok {
			return ""
		}
		if indexed {
			var index int
			if _, err := fmt.Sscanf(rest, "%d]", &index); err != nil {
				t.Fatal(err)
			}
			list, ok := document.([]any)
			if !ok || index >= len(list) {
				return ""
			}
			document = list[index]
		}
	}
	text, err := json.Marshal(document)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
