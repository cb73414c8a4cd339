// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

func parse(t *testing.T, text string) []*Value {
	t.Helper()
	values, err := ParseJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return values
}

// TestNormalizations has a case for each normalization; a text that the scenario wrote itself stays in all of them.
func TestNormalizations(t *testing.T) {
	t.Parallel()
	const uid, other = "6f0a1b2c-1111-2222-3333-444455556666", "6f0a1b2c-1111-2222-3333-444455557777"
	for name, test := range map[string]struct{ source, in, want string }{
		"uids are numbered by appearance": {
			in:   `["` + uid + `","` + other + `","in a text: ` + uid + `"]`,
			want: `["<uid 1>","<uid 2>","in a text: <uid 1>"]`,
		},
		"a uid of the scenario stays":  {source: uid, in: `["` + uid + `"]`, want: `["` + uid + `"]`},
		"times":                        {in: `["2026-01-02T03:04:05Z","2026-01-02T03:04:05.123456Z"]`, want: `["<time>","<time>"]`},
		"a time of the scenario stays": {source: "at 2020-01-01T00:00:00Z", in: `["2020-01-01T00:00:00Z"]`, want: `["2020-01-01T00:00:00Z"]`},
		"versions of objects by their order": {
			in:   `[{"metadata":{"resourceVersion":"90"}},{"metadata":{"resourceVersion":"7"}},{"metadata":{"resourceVersion":"90"}}]`,
			want: `[{"metadata":{"resourceVersion":"<rv 2>"}},{"metadata":{"resourceVersion":"<rv 1>"}},{"metadata":{"resourceVersion":"<rv 2>"}}]`,
		},
		"the version of a list": {
			in:   `{"metadata":{"resourceVersion":"95"},"items":[{"metadata":{"resourceVersion":"90"}}]}`,
			want: `{"metadata":{"resourceVersion":"<rv of list>"},"items":[{"metadata":{"resourceVersion":"<rv 1>"}}]}`,
		},
		"the version of a list that is too old for its items": {
			in:   `{"metadata":{"resourceVersion":"85"},"items":[{"metadata":{"resourceVersion":"90"}}]}`,
			want: `{"metadata":{"resourceVersion":"<rv of list, older than what is in it>"},"items":[{"metadata":{"resourceVersion":"<rv 1>"}}]}`,
		},
		"versions in messages": {
			in:   `["Too large resource version: 99, current: 12","does not match the ResourceVersion in record (591)","UID in record (591)"]`,
			want: `["Too large resource version: 99, current: <rv>","does not match the ResourceVersion in record (<rv>)","UID in record (591)"]`,
		},
		"continue tokens": {
			in:   `{"metadata":{"continue":"eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MTIsInN0YXJ0IjoiYVx1MDAwMCJ9"}}`,
			want: `{"metadata":{"continue":"<continue {\"v\":\"meta.k8s.io/v1\",\"rv\":<rv>,\"start\":\"a\\u0000\"}>"}}`,
		},
		"generated names": {
			in:   `[{"metadata":{"generateName":"a-","name":"a-x7k2b"}},"a-x7k2b is there"]`,
			want: `[{"metadata":{"generateName":"a-","name":"a-<generated 1>"}},"a-<generated 1> is there"]`,
		},
		"a name that was not generated": {
			in:   `{"metadata":{"generateName":"a-","name":"b"}}`,
			want: `{"metadata":{"generateName":"a-","name":"b"}}`,
		},
		"the fingerprint of a certificate": {
			in: `["X509SHA256=` + strings.Repeat("0a", 32) + `"]`, want: `["X509SHA256=<fingerprint>"]`,
		},
		"addresses": {
			in:   `{"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"192.0.2.2:6443"}]}`,
			want: `{"serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"<address>"}]}`,
		},
		"ages in a table, and not what says that there is none": {
			in:   `{"columnDefinitions":[{"name":"Name"},{"name":"Age"}],"rows":[{"cells":["5s","5s"]},{"cells":["a","<unknown>"]}]}`,
			want: `{"columnDefinitions":[{"name":"Name"},{"name":"Age"}],"rows":[{"cells":["5s","<age>"]},{"cells":["a","<unknown>"]}]}`,
		},
		"bookmarks, but for the one that ends the initial events": {
			in: `{"type":"ADDED","object":{}} {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5"}}}` +
				` {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"5","annotations":{"k8s.io/initial-events-end":"true"}}}}`,
			want: `{"type":"ADDED","object":{}} {"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"<rv of list>","annotations":{"k8s.io/initial-events-end":"true"}}}}`,
		},
		"resources that are not served": {
			in:   `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"daemonsets"},{"name":"daemonsets/status"},{"name":"deployments"}]}`,
			want: `{"kind":"APIResourceList","groupVersion":"apps/v1","resources":[{"name":"daemonsets"},{"name":"daemonsets/status"}]}`,
		},
		"definitions that no served path reaches": {
			in: `{"swagger":"2.0","paths":{"/apis/apps/v1/daemonsets":{"$ref":"#/definitions/a"},"/apis/apps/v1/deployments":{"$ref":"#/definitions/c"}},` +
				`"definitions":{"a":{"$ref":"#/definitions/b"},"b":{},"c":{}}}`,
			want: `{"swagger":"2.0","paths":{"/apis/apps/v1/daemonsets":{"$ref":"#/definitions/a"}},"definitions":{"a":{"$ref":"#/definitions/b"},"b":{}}}`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			exchanges := []Exchange{{Answer: Answer{Documents: parse(t, test.in)}}}
			(&Scenario{source: test.source}).Normalize(exchanges)
			var got []string
			for _, document := range exchanges[0].Answer.Documents {
				got = append(got, string(document.JSON()))
			}
			if diff := cmp.Diff(test.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestRefusedGeneratedNames(t *testing.T) {
	t.Parallel()
	exchanges := []Exchange{{generateName: "Bad_", Answer: Answer{Code: 422, Documents: parse(t, `{"message":"\"Bad_x7k2b\" is invalid"}`)}}}
	(&Scenario{}).Normalize(exchanges)
	if got, want := string(exchanges[0].Answer.Documents[0].JSON()), `{"message":"\"Bad_<generated>\" is invalid"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	answer := func(body string, header ...string) Answer {
		return Answer{Code: 200, Format: "json", Documents: parse(t, body), Header: header}
	}
	for name, test := range map[string]struct {
		theirs, ours Answer
		want         []Difference
	}{
		"nothing":           {answer(`{"a":1}`), answer(`{"a":1}`), nil},
		"a value":           {answer(`{"a":{"b":1}}`), answer(`{"a":{"b":2}}`), []Difference{{Path: "/a/b", Theirs: "1", Ours: "2"}}},
		"a form of a value": {answer(`{"a":1}`), answer(`{"a":1.0}`), []Difference{{Path: "/a", Theirs: "1", Ours: "1.0"}}},
		"a missing field":   {answer(`{"a":1}`), answer(`{}`), []Difference{{Path: "/a", Theirs: "1", Ours: "<not there>"}}},
		"a field too many":  {answer(`{}`), answer(`{"a/b":1}`), []Difference{{Path: "/a~1b", Theirs: "<not there>", Ours: "1"}}},
		"the order":         {answer(`{"a":1,"b":2}`), answer(`{"b":2,"a":1}`), []Difference{{Path: " (order of fields)", Theirs: "a b", Ours: "b a"}}},
		"a key twice":       {answer(`{"a":1,"a":2}`), answer(`{"a":1,"a":2}`), nil},
		"a second of two":   {answer(`{"a":1,"a":2}`), answer(`{"a":1,"a":3}`), []Difference{{Path: "/a", Theirs: "2", Ours: "3"}}},
		"an item too few":   {answer(`[1,2]`), answer(`[1]`), []Difference{{Path: "/1", Theirs: "2", Ours: "<not there>"}}},
		"a header": {
			answer(`{}`, `Warning: 299 - "x"`), answer(`{}`), []Difference{{Path: "header Warning", Theirs: `Warning: 299 - "x"`, Ours: ""}},
		},
		"the code": {Answer{Code: 200}, Answer{Code: 201}, []Difference{{Path: "code", Theirs: "200", Ours: "201"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := (&Corpus{}).Compare(&Scenario{}, Exchange{Answer: test.theirs}, Exchange{Answer: test.ours})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestExplanationsCover(t *testing.T) {
	t.Parallel()
	e := Explanation{Scenarios: "a/*", Exchanges: "* odd", Paths: []string{"/message", "/x/.*"}, Theirs: "yes", Ours: "^no$"}
	for name, test := range map[string]struct {
		scenario, exchange string
		difference         Difference
		want               bool
	}{
		"all as it says":     {"a/b/c", "one/two odd", Difference{Path: "/message", Theirs: "oh yes", Ours: "no"}, true},
		"another scenario":   {"b/a", "one odd", Difference{Path: "/message", Theirs: "yes", Ours: "no"}, false},
		"another exchange":   {"a/b", "one even", Difference{Path: "/message", Theirs: "yes", Ours: "no"}, false},
		"a longer path":      {"a/b", "one odd", Difference{Path: "/message/x", Theirs: "yes", Ours: "no"}, false},
		"the other's answer": {"a/b", "one odd", Difference{Path: "/x/y", Theirs: "no", Ours: "no"}, false},
		"our answer":         {"a/b", "one odd", Difference{Path: "/x/y", Theirs: "yes", Ours: "nono"}, false},
	} {
		if got := e.covers(test.scenario, test.exchange, test.difference); got != test.want {
			t.Errorf("%s: got %t", name, got)
		}
	}
}

func TestRecordingsAreReadAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := &Scenario{Name: "a/b"}
	long := `{"kind":"List","items":[` + strings.Repeat(`{"name":"`+strings.Repeat("x", 40)+`"},`, 9) + `{}]}`
	exchanges := []Exchange{
		{Name: "one", Request: "GET /x", Answer: Answer{Code: 200, Format: "json", Header: []string{"Content-Type: application/json", "Etag: <there>"}, Documents: parse(t, long)}},
		{Name: "a stream", Request: "GET /y", Answer: Answer{Code: 200, Format: "json", Documents: parse(t, `{"a":1} {"b":"=== "}`)}},
		{Name: "a text", Request: "kubectl get", Answer: Answer{Code: 1, Format: "text", Text: "=== not a mark\n\n200 OK\n"}},
		{Name: "nothing", Request: "GET /z", Answer: Answer{Code: 304, Format: "none"}},
	}
	if err := Record(dir, "v1", s, exchanges); err != nil {
		t.Fatal(err)
	}
	read, err := Recorded(dir, s)
	if err != nil {
		t.Fatal(err)
	}
	if len(read) != len(exchanges) {
		t.Fatalf("%d exchanges were read", len(read))
	}
	for i := range read {
		if read[i].Name != exchanges[i].Name || read[i].Request != exchanges[i].Request {
			t.Errorf("%d is %q %q", i, read[i].Name, read[i].Request)
		}
		if diff := (&Corpus{}).Compare(s, exchanges[i], read[i]); len(diff) > 0 {
			t.Errorf("%s: %v", read[i].Name, diff)
		}
	}
	if err := Record(dir, "v1", s, []Exchange{{Answer: Answer{Failure: "x"}}}); err == nil {
		t.Error("a failure was recorded")
	}
}

func TestMistakesInScenariosAreNamed(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ scenario, want string }{
		"no rows":             {"shows: x\nsteps: [{name: a, do: GET /x}]", "shows, rows and steps are needed"},
		"an unknown row":      {"shows: x\nrows: [b]\nsteps: [{name: a, do: GET /x}]", `rows.yaml has no row "b"`},
		"an unknown profile":  {"shows: x\nrows: [a]\nprofile: b\nsteps: [{name: a, do: GET /x}]", `there is no profile "b"`},
		"an unknown field":    {"shows: x\nrows: [a]\nfrob: b\nsteps: [{name: a, do: GET /x}]", "field frob not found"},
		"an unknown variable": {"shows: x\nrows: [a]\nsteps: [{name: a, do: 'GET /{frob}'}]", "there is no variable {frob}"},
		"no path":             {"shows: x\nrows: [a]\nsteps: [{name: a, do: GET}]", `"GET" is no method and path`},
		"no name":             {"shows: x\nrows: [a]\nsteps: [{do: GET /x}]", "a name is needed"},
		"a name twice":        {"shows: x\nrows: [a]\nsteps: [{name: a, do: GET /x}, {name: a, do: GET /y}]", `the name "a" is there twice`},
		"two things in one":   {"shows: x\nrows: [a]\nsteps: [{name: a, do: GET /x, run: y}]", "this is do and run"},
		"a wrong pointer":     {"shows: x\nrows: [a]\nsteps: [{name: a, do: POST /x, body: {base: o, set: {b: 1}}}]", `the pointer "b" does not begin with /`},
		"a missing fixture":   {"shows: x\nrows: [a]\nsteps: [{name: a, do: POST /x, body: {base: frob}}]", "corpus/fixtures/frob.yaml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Load(fstest.MapFS{
				"rows.yaml":               {Data: []byte("[{section: S, rows: {a: A}}]")},
				"explained.yaml":          {Data: []byte("[]")},
				"corpus/fixtures/o.yaml":  {Data: []byte("{}")},
				"corpus/x/y/z.yaml":       {Data: []byte(test.scenario)},
				"corpus/x/y/correct.yaml": {Data: []byte("shows: x\nrows: [a]\nsteps: [{name: a, do: GET /x}]")},
			})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), "z.yaml") {
				t.Errorf("the error is %v, want one with %s", err, test.want)
			}
		})
	}
}
