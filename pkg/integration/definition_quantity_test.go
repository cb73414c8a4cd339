// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// withRequests is a DaemonSet whose container asks for resources; quantities are JSON.
func withRequests(t *testing.T, s subject, name, resource, quantity string) map[string]any {
	t.Helper()
	object := s.object(name)
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(data), `"image":"img:1"`, `"image":"img:1","resources":{"requests":{"`+resource+`":`+quantity+`}}`, 1)
	var out map[string]any
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return out
}

const requestsPath = "spec.template.spec.containers.0.resources.requests"

// TestDefinitionQuantity shows quantities in every form, and how they come back: in canonical form, with the largest
// suffix of the same family that leaves no fraction, three decimals at most, no more than 2^63-1.
func TestDefinitionQuantity(t *testing.T) {
	t.Parallel()
	cases := []struct{ resource, sent, want string }{
		{"cpu", `"1"`, "1"},
		{"cpu", `1`, "1"},
		{"cpu", `"1.5"`, "1500m"},
		{"cpu", `0.5`, "500m"},
		{"cpu", `".5"`, "500m"},
		{"cpu", `"0.1m"`, "1m"},
		{"cpu", `"100n"`, "1m"},
		{"cpu", `"5u"`, "1m"},
		{"cpu", `"1000000n"`, "1m"},
		{"cpu", `"2500u"`, "3m"},
		{"cpu", `"1000m"`, "1"},
		{"cpu", `"1001m"`, "1001m"},
		{"cpu", `"0"`, "0"},
		{"cpu", `"-0"`, "0"},
		{"cpu", `"0m"`, "0"},
		{"cpu", `null`, "0"},
		{"cpu", `" 1 "`, "1"},
		{"cpu", `"2k"`, "2k"},
		{"cpu", `"2000"`, "2k"},
		{"cpu", `"2M"`, "2M"},
		{"cpu", `"2G"`, "2G"},
		{"cpu", `"2T"`, "2T"},
		{"cpu", `"2P"`, "2P"},
		{"cpu", `"2E"`, "2E"},
		{"cpu", `"1e3"`, "1e3"},
		{"cpu", `"1E3"`, "1E3"},
		{"cpu", `"12e2"`, "1200"},
		{"cpu", `"1e-3"`, "1e-3"},
		{"cpu", `"1.5e0"`, "1500e-3"},
		// Some short forms are kept as they came.
		{"cpu", `"+1"`, "+1"},
		{"cpu", `"1."`, "1."},
		{"cpu", `"01"`, "01"},
		// Without digits it is nothing.
		{"cpu", `"Gi"`, "0"},
		{"cpu", `"."`, "0"},
		{"memory", `"1.5Gi"`, "1536Mi"},
		{"memory", `"1Ki"`, "1Ki"},
		{"memory", `"1024Ki"`, "1Mi"},
		{"memory", `"1024Mi"`, "1Gi"},
		{"memory", `"1024Gi"`, "1Ti"},
		{"memory", `"1024Ti"`, "1Pi"},
		{"memory", `"1024Pi"`, "1Ei"},
		{"memory", `"1000Ki"`, "1000Ki"},
		{"memory", `"1000k"`, "1M"},
		{"memory", `"1024"`, "1024"},
		{"memory", `"128974848"`, "128974848"},
		{"memory", `129e6`, "129e6"},
		{"memory", `"9223372036854775807"`, "9223372036854775807"},
		{"memory", `"9223372036854775808"`, "9223372036854775808"},
		{"memory", `"10Ei"`, "9223372036854775807"},
		{"memory", `"7Ei"`, "7Ei"},
		{"example.com/gpu", `"2"`, "2"},
	}
	s := daemonSetSubject(t)
	for _, tc := range cases {
		t.Run(tc.resource+" "+tc.sent, func(t *testing.T) {
			t.Parallel()
			name := unique("o")
			object := withRequests(t, s, name, tc.resource, tc.sent)
			if strings.Contains(tc.resource, "/") {
				container := object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0].(map[string]any)
				resources := container["resources"].(map[string]any)
				resources["limits"] = resources["requests"]
			}
			path := requestsPath + "." + strings.ReplaceAll(tc.resource, ".", `\.`)
			created := mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
			if got := created.text(path); got != tc.want {
				t.Errorf("answered %q, want %q", got, tc.want)
			}
			if got := s.get(t, name).text(path); got != tc.want {
				t.Errorf("stored %q, want %q", got, tc.want)
			}
			// kube-apiserver takes a number of bytes that has no exact count in milli-units for a fraction.
			var want []string
			if strings.HasSuffix(tc.want, "Ei") {
				want = []string{`spec.template.spec.containers[0].resources.requests[memory]: fractional byte value "` + tc.want + `" is invalid, must be an integer`}
			}
			if diff := cmp.Diff(want, created.warnings()); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}

// TestDefinitionQuantityFractionOfByte shows that parts of a byte are kept, with a warning.
func TestDefinitionQuantityFractionOfByte(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	for sent, stored := range map[string]string{`"0.9Gi"`: "966367641600m", `"400m"`: "400m", `"1.0001Ki"`: "1024102400u", `"1500m"`: "1500m"} {
		if sent == `"1.0001Ki"` {
			stored = "1024103m"
		}
		a := mustSend(t, call{method: http.MethodPost, path: s.root, body: withRequests(t, s, unique("o"), "memory", sent)}, http.StatusCreated)
		if got := a.text(requestsPath + ".memory"); got != stored {
			t.Errorf("%s: got %q, want %q", sent, got, stored)
		}
		want := []string{`spec.template.spec.containers[0].resources.requests[memory]: fractional byte value "` + stored + `" is invalid, must be an integer`}
		if diff := cmp.Diff(want, a.warnings()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", sent, diff)
		}
	}
}

// TestDefinitionQuantityErrors shows what is no quantity, in each way to write one.
func TestDefinitionQuantityErrors(t *testing.T) {
	t.Parallel()
	const suffix = `unable to parse quantity's suffix`
	const pattern = `quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'`
	s := daemonSetSubject(t)
	name := s.new(t).text("metadata.name")
	for bad, message := range map[string]string{
		`"96MB"`: pattern, `"1gi"`: pattern, `"1KI"`: pattern, `"1K"`: suffix, `true`: pattern, `""`: pattern, `"0x10"`: pattern, `"1_000"`: pattern,
		`"1,5"`: pattern, `[]`: pattern, `{}`: pattern, `"1 Gi"`: pattern, `"1e"`: suffix, `"1e3Mi"`: pattern, `"--1"`: suffix,
		`"1e1.5"`: pattern, `"NaN"`: pattern, `"1.2.3"`: pattern, `"1e-"`: suffix, `"1EE"`: suffix, `"1ei"`: suffix,
	} {
		t.Run(bad, func(t *testing.T) {
			t.Parallel()
			want := refusal{400, "BadRequest", s.kind + ` in version "v1" cannot be handled as a ` + s.kind + `: ` + message}
			object := withRequests(t, s, name, "memory", bad)
			for what, c := range map[string]call{
				"create":  {method: http.MethodPost, path: s.root, body: object},
				"YAML":    {method: http.MethodPost, path: s.root, body: asYAML(t, object), contentType: yamlBody},
				"replace": {method: http.MethodPut, path: s.path(name), body: object},
			} {
				if diff := cmp.Diff(want, send(t, c).refusal()); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
			patch := `{"spec":{"template":{"spec":{"containers":[{"name":"c","image":"img:1","resources":{"requests":{"memory":` + bad + `}}}]}}}}`
			for _, contentType := range []string{mergePatch, strategicPatch} {
				got := send(t, call{method: http.MethodPatch, path: s.path(name), contentType: contentType, body: patch})
				if got.code != 422 || got.text("details.causes.0.field") != "patch" || !strings.HasSuffix(got.message(), `": `+message) {
					t.Errorf("%s: got %d %s", contentType, got.code, got.message())
				}
			}
		})
	}
	a := send(t, call{method: http.MethodPost, path: s.root, body: withRequests(t, s, unique("o"), "cpu", `"-1"`)})
	if diff := cmp.Diff([]string{"spec.template.spec.containers[0].resources.requests[cpu]"}, a.causes()); a.code != 422 || diff != "" {
		t.Errorf("negative: got %d %s", a.code, a.raw)
	}
	if !strings.HasSuffix(a.message(), `: Invalid value: "-1": must be greater than or equal to 0`) {
		t.Errorf("negative: got %s", a.message())
	}
}
