// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// createLabelled creates an object with further labels.
func (s subject) createLabelled(t *testing.T, name string, labels map[string]string) answer {
	t.Helper()
	object := s.object(name)
	all := object["metadata"].(map[string]any)["labels"].(map[string]any)
	for key, value := range labels {
		all[key] = value
	}
	return mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
}

// initialNames are the names of the objects that a watch begins with, in order.
func initialNames(t *testing.T, path string) []string {
	t.Helper()
	watch := startWatch(t, call{path: withQuery(path, "watch=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true")})
	names := []string{}
	for _, e := range watch.until(t, func(e watchEvent) bool { return e.Type != "ADDED" }) {
		if e.Type == "ADDED" {
			names = append(names, e.text("metadata.name"))
		}
	}
	return names
}

// TestListLabelSelector shows the grammar of label selectors on lists, watches and collections to delete, which all
// select the same objects.
func TestListLabelSelector(t *testing.T) {
	t.Parallel()
	cases := map[string][]string{
		"tier=x":                        {"a"},
		"tier==x":                       {"a"},
		"tier = x":                      {"a"},
		"tier!=x":                       {"b", "c", "d"},
		"tier in (x,y)":                 {"a", "b"},
		"tier in (x)":                   {"a"},
		"tier in ()":                    {"d"},
		"tier notin (x,y)":              {"c", "d"},
		"tier":                          {"a", "b", "d"},
		"!tier":                         {"c"},
		"tier=":                         {"d"},
		"tier,size":                     {"a", "b"},
		"size>5":                        {"b"},
		"size<5":                        {"a"},
		"size>1,size<9":                 nil,
		"size>0":                        {"a", "b"},
		"example.com/role=web":          {"a"},
		"tier=x,tier=y":                 nil,
		"tier in (x,y),size notin (10)": {"a"},
		"tier=nothing":                  nil,
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		names := map[string]string{}
		for short, labels := range map[string]map[string]string{
			"a": {"tier": "x", "size": "1", "example.com/role": "web"},
			"b": {"tier": "y", "size": "10"},
			"c": {"size": "big"},
			"d": {"tier": ""},
		} {
			names[short] = unique(short)
			s.createLabelled(t, names[short], labels)
		}
		for selector, short := range cases {
			want := []string{}
			for _, name := range short {
				want = append(want, names[name])
			}
			selector = "test=" + s.label + "," + selector
			path := withQuery(s.root, parameter("labelSelector", selector))
			if diff := cmp.Diff(want, mustSend(t, call{method: http.MethodGet, path: path}, 200).names()); diff != "" {
				t.Errorf("list %s (-want +got):\n%s", selector, diff)
			}
			if diff := cmp.Diff(want, initialNames(t, path)); diff != "" {
				t.Errorf("watch %s (-want +got):\n%s", selector, diff)
			}
			deletion := mustSend(t, call{method: http.MethodDelete, path: withQuery(path, "dryRun=All")}, 200)
			if diff := cmp.Diff(want, deletion.names()); diff != "" {
				t.Errorf("delete %s (-want +got):\n%s", selector, diff)
			}
		}
		for _, nothing := range []string{"", " "} {
			path := withQuery(s.root, parameter("labelSelector", nothing), parameter("fieldSelector", "metadata.name="+names["c"]))
			if diff := cmp.Diff([]string{names["c"]}, mustSend(t, call{method: http.MethodGet, path: path}, 200).names()); diff != "" {
				t.Errorf("no labels, %q (-want +got):\n%s", nothing, diff)
			}
		}
	})
}

// TestListFieldSelector shows the fields that each kind can be selected by.
func TestListFieldSelector(t *testing.T) {
	t.Parallel()
	check := func(t *testing.T, s subject, names map[string]string, cases map[string][]string) {
		t.Helper()
		for selector, short := range cases {
			want := []string{}
			for _, name := range short {
				want = append(want, names[name])
			}
			path := s.mine(parameter("fieldSelector", selector))
			if diff := cmp.Diff(want, mustSend(t, call{method: http.MethodGet, path: path}, 200).names()); diff != "" {
				t.Errorf("list %s (-want +got):\n%s", selector, diff)
			}
			if diff := cmp.Diff(want, initialNames(t, path)); diff != "" {
				t.Errorf("watch %s (-want +got):\n%s", selector, diff)
			}
			deletion := mustSend(t, call{method: http.MethodDelete, path: withQuery(path, "dryRun=All")}, 200)
			if diff := cmp.Diff(want, deletion.names()); diff != "" {
				t.Errorf("delete %s (-want +got):\n%s", selector, diff)
			}
		}
	}
	t.Run("DaemonSet", func(t *testing.T) {
		t.Parallel()
		s := daemonSetSubject(t)
		names := map[string]string{"a": unique("a"), "b": unique("b")}
		for _, name := range names {
			s.create(t, name)
		}
		check(t, s, names, map[string][]string{
			"":                                   {"a", "b"},
			",":                                  {"a", "b"},
			"metadata.name=" + names["a"]:        {"a"},
			"metadata.name==" + names["a"]:       {"a"},
			"metadata.name!=" + names["a"]:       {"b"},
			"metadata.name=missing":              {},
			"metadata.name=":                     {},
			"metadata.namespace=" + s.namespace:  {"a", "b"},
			"metadata.namespace!=" + s.namespace: {},
			"metadata.namespace=other":           {},
			"metadata.name=" + names["a"] + ",metadata.namespace=" + s.namespace: {"a"},
			"metadata.name!=" + names["a"] + ",metadata.name!=" + names["b"]:     {},
			"metadata.namespace!=other,metadata.name!=" + names["b"]:             {"a"},
		})
		everywhere := withQuery("/apis/apps/v1/daemonsets", parameter("labelSelector", "test="+s.label), parameter("fieldSelector", "metadata.namespace="+s.namespace+",metadata.name="+names["b"]))
		if diff := cmp.Diff([]string{names["b"]}, mustSend(t, call{method: http.MethodGet, path: everywhere}, 200).names()); diff != "" {
			t.Errorf("all namespaces (-want +got):\n%s", diff)
		}
	})
	t.Run("CertificateSigningRequest", func(t *testing.T) {
		t.Parallel()
		s := csrSubject(t)
		names := map[string]string{"a": unique("a"), "b": unique("b"), "c": unique("c")}
		for short, signer := range map[string]string{"a": "example.com/one", "b": "example.com/two", "c": "example.com/two"} {
			object := s.object(names[short])
			spec := maps.Clone(s.spec)
			spec["signerName"] = signer
			object["spec"] = spec
			mustSend(t, call{method: http.MethodPost, path: s.root, body: object}, http.StatusCreated)
		}
		check(t, s, names, map[string][]string{
			"":                                 {"a", "b", "c"},
			"spec.signerName=example.com/one":  {"a"},
			"spec.signerName==example.com/two": {"b", "c"},
			"spec.signerName!=example.com/two": {"a"},
			"spec.signerName=example.com":      {},
			"spec.signerName=":                 {},
			"metadata.name=" + names["b"]:      {"b"},
			"metadata.name!=" + names["b"]:     {"a", "c"},
			"metadata.name=" + names["b"] + ",spec.signerName=example.com/two":   {"b"},
			"metadata.name=" + names["b"] + ",spec.signerName=example.com/one":   {},
			"metadata.name!=" + names["b"] + ",spec.signerName!=example.com/one": {"c"},
		})
	})
}

// TestListSelectorErrors shows what is refused on everything that takes selectors.
func TestListSelectorErrors(t *testing.T) {
	t.Parallel()
	const (
		labelName  = `name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')`
		labelValue = `a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')`
		integer    = `for 'Gt', 'Lt' operators, the value must be an integer`
	)
	labels := map[string]string{
		"a b":       `unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt`,
		"a===b":     `unable to parse requirement: found '=', expected: identifier`,
		"-a":        `unable to parse requirement: <nil>: Invalid value: "-a": ` + labelName,
		"a=-b-":     `unable to parse requirement: values[0][a]: Invalid value: "-b-": ` + labelValue,
		"a in b":    `unable to parse requirement: found 'b' expected: '('`,
		"a in (b":   `unable to parse requirement: found '', expected: ',' or ')'`,
		"a>1.5":     `unable to parse requirement: values[0]: Invalid value: "1.5": ` + integer,
		"a<b":       `unable to parse requirement: values[0]: Invalid value: "b": ` + integer,
		",":         `found ',', expected: !, identifier, or 'end of string'`,
		"a,":        `found '', expected: identifier after ','`,
		"a=b c=d":   `found 'c', expected: ',' or 'end of string'`,
		"!a=b":      `found '=', expected: ',' or 'end of string'`,
		"a=b,a in(": `unable to parse requirement: found '', expected: ',', ')' or identifier`,
	}
	fields := map[string]string{
		"metadata.name":        `invalid selector: 'metadata.name'; can't understand 'metadata.name'`,
		"metadata.name>a":      `invalid selector: 'metadata.name>a'; can't understand 'metadata.name>a'`,
		"metadata.name in (a)": `invalid selector: 'metadata.name in (a)'; can't understand 'metadata.name in (a)'`,
		`metadata.name=a\b`:    `invalid field selector: invalid escape sequence: \b`,
	}
	unknown := map[string]func(label string) string{
		"CertificateSigningRequest": func(label string) string { return "field label not supported: " + label },
		"DaemonSet": func(label string) string {
			return `"` + label + `" is not a known field selector: only "metadata.name", "metadata.namespace"`
		},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		s.new(t)
		all := map[string]string{}
		for selector, message := range labels {
			all[parameter("labelSelector", selector)] = message
		}
		for selector, message := range fields {
			all[parameter("fieldSelector", selector)] = message
		}
		for _, label := range []string{"spec.username", "metadata.uid", "status.numberReady", "name", "Metadata.name"} {
			all[parameter("fieldSelector", label+"=x")] = unknown[s.kind](label)
		}
		if s.namespace == "" {
			all[parameter("fieldSelector", "metadata.namespace=x")] = unknown[s.kind]("metadata.namespace")
		} else {
			all[parameter("fieldSelector", "spec.signerName=x")] = unknown[s.kind]("spec.signerName")
		}
		for _, query := range slices.Sorted(maps.Keys(all)) {
			want := refusal{http.StatusBadRequest, "BadRequest", all[query]}
			for what, c := range map[string]call{
				"list":              {method: http.MethodGet, path: withQuery(s.root, query)},
				"watch":             {method: http.MethodGet, path: withQuery(s.root, query, "watch=true")},
				"delete collection": {method: http.MethodDelete, path: withQuery(s.root, query, "dryRun=All")},
			} {
				if diff := cmp.Diff(want, send(t, c).refusal()); diff != "" {
					t.Errorf("%s %s (-want +got):\n%s", what, query, diff)
				}
			}
		}
	})
}

// TestListEmpty shows that a list of nothing has an empty array, never null.
func TestListEmpty(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		for _, path := range []string{s.mine(), s.mine("resourceVersion=0"), s.mine("limit=1"), withQuery(s.root, "fieldSelector=metadata.name%3Dmissing")} {
			a := mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK)
			version := a.text("metadata.resourceVersion")
			want := map[string]any{"kind": s.kind + "List", "apiVersion": s.apiVersion, "items": []any{},
				"metadata": map[string]any{"resourceVersion": version}}
			if diff := cmp.Diff(want, a.object); diff != "" || version == "" || version == "0" {
				t.Errorf("%s (-want +got):\n%s", path, diff)
			}
		}
	})
}

// TestListItems shows that the items of a list are the objects without kind and apiVersion, ordered by their keys.
func TestListItems(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		prefix := unique("o")
		var want []any
		for _, suffix := range []string{"-b", "-a", ".a", "-a.b", "1"} {
			s.create(t, prefix+suffix)
		}
		order := []string{"-a", "-a.b", "-b", ".a", "1"}
		for _, suffix := range order {
			object := s.get(t, prefix+suffix).object
			delete(object, "kind")
			delete(object, "apiVersion")
			want = append(want, object)
		}
		for _, query := range []string{"", "resourceVersion=0", "limit=100"} {
			a := mustSend(t, call{method: http.MethodGet, path: s.mine(query)}, http.StatusOK)
			if diff := cmp.Diff(want, a.field("items")); diff != "" {
				t.Errorf("%q (-want +got):\n%s", query, diff)
			}
		}
	})
}
