// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// family is a set of CertificateSigningRequests of one test: those of two signers nobody else uses, all with one label.
type family struct {
	// one and other are the signers, label the value of the label family.
	one, other, label string
	// a and b are to one, c is to other; a and c have the label color=red.
	a, b, c string
	// version is the resource version of c, which was made last.
	version string
}

// newFamily creates a family. Names are in the order a, b, c.
func newFamily(t *testing.T) family {
	t.Helper()
	stem := unique("csr")
	f := family{
		one: "example.com/" + unique("one"), other: "example.com/" + unique("other"), label: unique("label"),
		a: stem + "-a", b: stem + "-b", c: stem + "-c",
	}
	red := func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels["color"] = "red" }
	blue := func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels["color"] = "blue" }
	f.create(t, f.a, f.one, red)
	f.create(t, f.b, f.one, blue)
	f.version = f.create(t, f.c, f.other, red).text("metadata.resourceVersion")
	return f
}

// create adds a CertificateSigningRequest to the family.
func (f family) create(t *testing.T, name, signer string, options ...gen.CSROption) answer {
	t.Helper()
	member := func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels = map[string]string{"family": f.label} }
	body := csrBody(t, name, append([]gen.CSROption{member, gen.WithSigner(signer)}, options...)...)
	return mustSend(t, call{method: http.MethodPost, path: csrCollection, body: body}, http.StatusCreated)
}

// query is the query of two selectors, in which $ONE, $OTHER, $LABEL, $A, $B, $C and $VERSION stand for what they are in f.
func (f family) query(labels, fields string) string {
	values := url.Values{}
	if labels != "" {
		values.Set("labelSelector", f.expand(labels))
	}
	if fields != "" {
		values.Set("fieldSelector", f.expand(fields))
	}
	return "?" + values.Encode()
}

func (f family) expand(text string) string {
	return strings.NewReplacer("$VERSION", f.version, "$ONE", f.one, "$OTHER", f.other, "$LABEL", f.label, "$A", f.a, "$B", f.b, "$C", f.c).Replace(text)
}

// asItem is an object as it stands in a list.
func asItem(object map[string]any) map[string]any {
	out := clone(object)
	delete(out, "kind")
	delete(out, "apiVersion")
	return out
}

// selectors are selectors on a family and the members they choose.
func selectors() map[string]struct {
	labels, fields string
	want           []string
} {
	return map[string]struct {
		labels, fields string
		want           []string
	}{
		"a signer":                              {"", "spec.signerName=$ONE", []string{"$A", "$B"}},
		"a signer with two equal signs":         {"", "spec.signerName==$OTHER", []string{"$C"}},
		"every signer but one":                  {"family=$LABEL", "spec.signerName!=$ONE", []string{"$C"}},
		"two signers exclude each other":        {"", "spec.signerName=$ONE,spec.signerName=$OTHER", []string{}},
		"a signer nobody uses":                  {"", "spec.signerName=$ONE.not", []string{}},
		"a signer is not a prefix":              {"family=$LABEL", "spec.signerName=example.com", []string{}},
		"an empty signer":                       {"family=$LABEL", "spec.signerName=", []string{}},
		"a name":                                {"", "metadata.name=$B", []string{"$B"}},
		"every name but one":                    {"family=$LABEL", "metadata.name!=$B", []string{"$A", "$C"}},
		"a name and its signer":                 {"", "metadata.name=$A,spec.signerName=$ONE", []string{"$A"}},
		"a name and another signer":             {"", "metadata.name=$A,spec.signerName=$OTHER", []string{}},
		"a label":                               {"family=$LABEL,color=red", "", []string{"$A", "$C"}},
		"a set of labels":                       {"family=$LABEL,color in (blue,green)", "", []string{"$B"}},
		"a label and a signer":                  {"color=red", "spec.signerName=$ONE", []string{"$A"}},
		"a label that is missing and a signer":  {"!color", "spec.signerName=$ONE", []string{}},
		"a label, and two fields at the end":    {"family=$LABEL", "spec.signerName!=$OTHER,metadata.name!=$A", []string{"$B"}},
		"the whole family":                      {"family=$LABEL", "", []string{"$A", "$B", "$C"}},
		"a backslash before what is no special": {"family=$LABEL", `spec.signerName=a\,b`, []string{}},
	}
}

// unselectable are field selectors that are refused, and what the message says of them.
var unselectable = map[string]string{
	"spec.username=alice":       "field label not supported: spec.username",
	"spec.uid=1":                "field label not supported: spec.uid",
	"spec.request=x":            "field label not supported: spec.request",
	"spec.signername=x":         "field label not supported: spec.signername",
	"signerName=x":              "field label not supported: signerName",
	"status.certificate!=":      "field label not supported: status.certificate",
	"metadata.namespace=t":      "field label not supported: metadata.namespace",
	"metadata.uid=1":            "field label not supported: metadata.uid",
	"name=x":                    "field label not supported: name",
	"metadata.name=x,spec.a=b":  "field label not supported: spec.a",
	"spec.signerName=x,other=y": "field label not supported: other",
}

func TestCSRList(t *testing.T) {
	t.Parallel()
	f := newFamily(t)
	t.Run("document", func(t *testing.T) {
		t.Parallel()
		list := mustSend(t, call{method: http.MethodGet, path: csrCollection + f.query("", "spec.signerName=$ONE")}, http.StatusOK)
		version := list.text("metadata.resourceVersion")
		items := []any{}
		for _, name := range []string{f.a, f.b} {
			items = append(items, asItem(getCSR(t, name).object))
		}
		want := map[string]any{
			"kind": "CertificateSigningRequestList", "apiVersion": "certificates.k8s.io/v1",
			"metadata": map[string]any{"resourceVersion": version}, "items": items,
		}
		if diff := cmp.Diff(want, list.object); diff != "" || version == "" {
			t.Errorf("list (-want +got):\n%s", diff)
		}
	})
	for about, test := range selectors() {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			want := []string{}
			for _, name := range test.want {
				want = append(want, f.expand(name))
			}
			for _, more := range []string{"", "&resourceVersion=" + f.version, "&limit=500"} {
				a := mustSend(t, call{method: http.MethodGet, path: csrCollection + f.query(test.labels, test.fields) + more}, http.StatusOK)
				if diff := cmp.Diff(want, a.names()); diff != "" {
					t.Errorf("names with %q (-want +got):\n%s", more, diff)
				}
				if _, isList := a.field("items").([]any); !isList {
					t.Errorf("items is no list: %s", a.raw)
				}
			}
		})
	}
	t.Run("pages of a signer", func(t *testing.T) {
		t.Parallel()
		path := csrCollection + f.query("", "spec.signerName=$ONE") + "&limit=1"
		first := mustSend(t, call{method: http.MethodGet, path: path}, http.StatusOK)
		if diff := cmp.Diff([]string{f.a}, first.names()); diff != "" {
			t.Errorf("first page (-want +got):\n%s", diff)
		}
		// What is left isn't counted when there is a selector.
		checkField(t, first, "metadata.remainingItemCount", nil)
		second := mustSend(t, call{method: http.MethodGet, path: path + "&continue=" + url.QueryEscape(first.text("metadata.continue"))}, http.StatusOK)
		if diff := cmp.Diff([]string{f.b}, second.names()); diff != "" {
			t.Errorf("second page (-want +got):\n%s", diff)
		}
	})
}

func TestCSRFieldSelectorRefused(t *testing.T) {
	t.Parallel()
	for selector, problem := range unselectable {
		for about, c := range map[string]call{
			"list":                        {method: http.MethodGet, path: csrCollection + "?"},
			"watch":                       {method: http.MethodGet, path: csrCollection + "?watch=true&"},
			"watch at the deprecated URL": {method: http.MethodGet, path: csrWatch + "?"},
			"delete collection":           {method: http.MethodDelete, path: csrCollection + "?"},
		} {
			t.Run(about+": "+selector, func(t *testing.T) {
				t.Parallel()
				c.path += "fieldSelector=" + url.QueryEscape(selector)
				checkRefused(t, send(t, c), "", badRequest(problem))
			})
		}
	}
	for query, problem := range map[string]string{
		"fieldSelector=frob":                                  "invalid selector: 'frob'; can't understand 'frob'",
		"labelSelector=a%3Db%3Dc":                             "found '=', expected: ',' or 'end of string'",
		"labelSelector=-a%3Db":                                `unable to parse requirement: <nil>: Invalid value: "-a": name part must consist of alphanumeric characters`,
		"fieldSelector=spec.signerName%3Dx&labelSelector=%28": "found '(', expected: !, identifier, or 'end of string'",
	} {
		t.Run(query, func(t *testing.T) {
			t.Parallel()
			for _, c := range []call{{method: http.MethodGet, path: csrCollection}, {method: http.MethodDelete, path: csrCollection}} {
				c.path += "?" + query
				a := send(t, c)
				if a.code != http.StatusBadRequest || a.text("reason") != "BadRequest" || !strings.HasPrefix(a.message(), problem) {
					t.Errorf("%s: got %d %q, want 400 %q", c.method, a.code, a.message(), problem)
				}
			}
		})
	}
}

func TestCSRDeleteCollection(t *testing.T) {
	t.Parallel()
	remaining := func(t *testing.T, f family) []string {
		t.Helper()
		return mustSend(t, call{method: http.MethodGet, path: csrCollection + f.query("family=$LABEL", "")}, http.StatusOK).names()
	}
	for about, test := range selectors() {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			f := newFamily(t)
			left, want := []string{f.a, f.b, f.c}, []any{}
			for _, name := range test.want {
				name = f.expand(name)
				want = append(want, asItem(getCSR(t, name).object))
				left = slices.DeleteFunc(left, func(other string) bool { return other == name })
			}
			a := mustSend(t, call{method: http.MethodDelete, path: csrCollection + f.query(test.labels, test.fields)}, http.StatusOK)
			// The answer lists what was deleted, as it was before.
			checkField(t, a, "kind", "CertificateSigningRequestList")
			checkField(t, a, "apiVersion", "certificates.k8s.io/v1")
			checkField(t, a, "items", want)
			if diff := cmp.Diff(left, remaining(t, f)); diff != "" {
				t.Errorf("what is left (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("a dry run deletes nothing", func(t *testing.T) {
		t.Parallel()
		f := newFamily(t)
		path := csrCollection + f.query("", "spec.signerName=$ONE")
		for about, c := range map[string]call{
			"query": {method: http.MethodDelete, path: path + "&dryRun=All"},
			"body":  {method: http.MethodDelete, path: path, body: `{"dryRun":["All"]}`},
		} {
			a := mustSend(t, c, http.StatusOK)
			if diff := cmp.Diff([]string{f.a, f.b}, a.names()); diff != "" {
				t.Errorf("%s: names (-want +got):\n%s", about, diff)
			}
		}
		if diff := cmp.Diff([]string{f.a, f.b, f.c}, remaining(t, f)); diff != "" {
			t.Errorf("what is left (-want +got):\n%s", diff)
		}
	})
	t.Run("an object with a finalizer stays until it is released", func(t *testing.T) {
		t.Parallel()
		f := newFamily(t)
		finalizers := func(list ...any) call {
			return call{
				method: http.MethodPatch, path: csrPath(f.a), contentType: mergePatch, body: map[string]any{"metadata": map[string]any{"finalizers": list}},
			}
		}
		mustSend(t, finalizers("example.com/hold"), http.StatusOK)
		mustSend(t, call{method: http.MethodDelete, path: csrCollection + f.query("", "spec.signerName=$ONE")}, http.StatusOK)
		if diff := cmp.Diff([]string{f.a, f.c}, remaining(t, f)); diff != "" {
			t.Errorf("what is left (-want +got):\n%s", diff)
		}
		if getCSR(t, f.a).text("metadata.deletionTimestamp") == "" {
			t.Error("it is not being deleted")
		}
		mustSend(t, finalizers(), http.StatusOK)
		checkGone(t, f.a)
	})
	t.Run("options that don't fit", func(t *testing.T) {
		t.Parallel()
		f := newFamily(t)
		path := csrCollection + f.query("family=$LABEL", "")
		a := send(t, call{method: http.MethodDelete, path: path + "&propagationPolicy=Bogus"})
		checkRefused(t, a, "", refusal{
			Code: http.StatusUnprocessableEntity, Reason: "Invalid",
			Message: `DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Bogus": supported values: "Foreground", "Background", "Orphan", "nil"`,
		})
		a = send(t, call{method: http.MethodDelete, path: path + "&dryRun=Some"})
		checkRefused(t, a, "", refusal{
			Code: http.StatusUnprocessableEntity, Reason: "Invalid",
			Message: `DeleteOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"`,
		})
		if diff := cmp.Diff([]string{f.a, f.b, f.c}, remaining(t, f)); diff != "" {
			t.Errorf("what is left (-want +got):\n%s", diff)
		}
	})
}
