// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/sharding"
)

const (
	byUID       = "object.metadata.uid"
	byNamespace = "object.metadata.namespace"
	lowest      = "0x0000000000000000"
	middle      = "0x8000000000000000"
	beyond      = "0x10000000000000000"
)

func shardRange(field, start, end string) string {
	return "shardRange(" + field + ", '" + start + "', '" + end + "')"
}

// hashOf is where in the hash space a value lies.
func hashOf(value string) string { return "0x" + sharding.HashField(value) }

// after is the hash that follows: the exclusive end of a range of one.
func after(t *testing.T, hash string) string {
	t.Helper()
	var n uint64
	if _, err := fmt.Sscanf(hash, "0x%016x", &n); err != nil {
		t.Fatal(err)
	}
	if n++; n == 0 {
		return beyond
	}
	return fmt.Sprintf("0x%016x", n)
}

// TestListShards shows that shards are parts of a list that together are the whole, by hash of the uid or of the
// namespace (KEP-5866), and that the list says which part it is.
func TestListShards(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		names := s.several(t, 10)
		hashes := map[string]string{}
		for _, name := range names {
			hashes[name] = hashOf(s.get(t, name).text("metadata.uid"))
		}
		in := func(start, end string) []string {
			out := []string{}
			for _, name := range names {
				if hash := hashes[name]; hash >= start && (end == beyond || hash < end) {
					out = append(out, name)
				}
			}
			return out
		}
		third, twoThirds := "0x5555555555555555", "0xaaaaaaaaaaaaaaaa"
		one := hashes[names[4]]
		nowhere := hashOf("")
		cases := map[string]struct {
			selector, echo string
			want           []string
		}{
			"the lower half":   {selector: shardRange(byUID, lowest, middle), want: in(lowest, middle)},
			"the upper half":   {selector: shardRange(byUID, middle, beyond), want: in(middle, beyond)},
			"all":              {selector: shardRange(byUID, lowest, beyond), want: names},
			"both halves":      {selector: shardRange(byUID, lowest, middle) + " || " + shardRange(byUID, middle, beyond), want: names},
			"two of three":     {selector: shardRange(byUID, lowest, third) + " || " + shardRange(byUID, twoThirds, beyond), want: append(in(lowest, third), in(twoThirds, beyond)...)},
			"overlapping ones": {selector: shardRange(byUID, lowest, twoThirds) + " || " + shardRange(byUID, third, middle), want: in(lowest, twoThirds)},
			"the start is in":  {selector: shardRange(byUID, one, after(t, one)), want: names[4:5]},
			"the end is out":   {selector: shardRange(byUID, lowest, one), want: in(lowest, one)},
			"no space between": {selector: "shardRange(object.metadata.uid,'" + lowest + "','" + middle + "')||shardRange(object.metadata.uid,'" + middle + "','" + beyond + "')",
				echo: shardRange(byUID, lowest, middle) + " || " + shardRange(byUID, middle, beyond), want: names},
			"much space, other quotes, parentheses": {selector: "  ( shardRange ( object . metadata . uid , \"" + lowest + "\",\n\"" + middle + "\" ) ) ",
				echo: shardRange(byUID, lowest, middle), want: in(lowest, middle)},
			"the namespace is in the range": {selector: shardRange(byNamespace, hashOf(s.namespace), after(t, hashOf(s.namespace))), want: names},
			"the namespace is before it":    {selector: shardRange(byNamespace, after(t, hashOf(s.namespace)), beyond), want: []string{}},
			"no namespace":                  {selector: shardRange(byNamespace, nowhere, after(t, nowhere)), want: map[bool][]string{true: names, false: {}}[s.namespace == ""]},
		}
		for sentence, tc := range cases {
			t.Run(sentence, func(t *testing.T) {
				echo := orElse(tc.echo, tc.selector)
				selected := parameter("shardSelector", tc.selector)
				want := sortedLike(names, tc.want)
				for _, query := range []string{"", "resourceVersion=0", "limit=100"} {
					a := mustSend(t, call{method: http.MethodGet, path: s.mine(selected, query)}, http.StatusOK)
					if query == "resourceVersion=0" {
						soon(t, func() error {
							return diffError(want, mustSend(t, call{method: http.MethodGet, path: s.mine(selected, query)}, http.StatusOK).names())
						})
					} else if diff := cmp.Diff(want, a.names()); diff != "" {
						t.Errorf("%q (-want +got):\n%s", query, diff)
					}
					if diff := cmp.Diff(map[string]any{"selector": echo}, a.field("metadata.shardInfo")); diff != "" {
						t.Errorf("%q: shardInfo (-want +got):\n%s", query, diff)
					}
				}
				if diff := cmp.Diff(want, s.pagesOf(t, selected)); diff != "" {
					t.Errorf("pages (-want +got):\n%s", diff)
				}
				if diff := cmp.Diff(want, initialNames(t, s.mine(selected))); diff != "" {
					t.Errorf("watch (-want +got):\n%s", diff)
				}
				deletion := mustSend(t, call{method: http.MethodDelete, path: s.mine(selected, "dryRun=All")}, http.StatusOK)
				if diff := cmp.Diff(want, deletion.names()); diff != "" {
					t.Errorf("delete collection (-want +got):\n%s", diff)
				}
			})
		}
		t.Run("not asked for", func(t *testing.T) {
			for _, query := range []string{"", "shardSelector="} {
				a := mustSend(t, call{method: http.MethodGet, path: s.mine(query)}, http.StatusOK)
				if a.field("metadata.shardInfo") != nil || len(a.names()) != len(names) {
					t.Errorf("%q: %v, %d items", query, a.field("metadata"), len(a.names()))
				}
			}
		})
	})
}

// sortedLike returns the elements of all that are in some, in the order of all.
func sortedLike(all, some []string) []string {
	out := []string{}
	for _, name := range all {
		if strings.Contains(" "+strings.Join(some, " ")+" ", " "+name+" ") {
			out = append(out, name)
		}
	}
	return out
}

// pagesOf are the names of a list that is read in pages of two.
func (s subject) pagesOf(t *testing.T, query string) []string {
	t.Helper()
	out := []string{}
	next := ""
	for {
		page := mustSend(t, call{method: http.MethodGet, path: s.mine(query, "limit=2", next)}, http.StatusOK)
		if page.field("metadata.remainingItemCount") != nil {
			t.Errorf("%s: a selection has no known number of remaining items", query)
		}
		out = append(out, page.names()...)
		if page.text("metadata.continue") == "" {
			return out
		}
		next = parameter("continue", page.text("metadata.continue"))
	}
}

// TestListShardsInOtherForms shows where the part is named.
func TestListShardsInOtherForms(t *testing.T) {
	t.Parallel()
	s := daemonSetSubject(t)
	s.several(t, 1)
	selector := shardRange(byUID, lowest, beyond)
	path := withQuery(s.root, parameter("shardSelector", selector))
	for accept, want := range map[string]any{
		"application/json": selector,
		"application/json;as=Table;g=meta.k8s.io;v=v1":                     nil,
		"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1": nil,
	} {
		a := mustSend(t, call{method: http.MethodGet, path: path, accept: accept}, http.StatusOK)
		if got := a.field("metadata.shardInfo.selector"); got != want {
			t.Errorf("%s: shardInfo.selector = %v, want %v", accept, got, want)
		}
	}
}

// TestListShardErrors shows selectors that are malformed. kube-apiserver has the same messages but takes the fault on
// itself: it answers 500.
func TestListShardErrors(t *testing.T) {
	t.Parallel()
	const digits = ` must be a 0x-prefixed 16-digit hex value, got `
	cases := map[string]struct{ selector, message string }{
		"a word":                   {"foo", "unexpected expression kind 3; expected shardRange() call or || operator"},
		"a literal":                {"true", "unexpected expression kind 5; expected shardRange() call or || operator"},
		"no CEL":                   {"shardRange(", "CEL parse error: Syntax error: mismatched input '<EOF>' expecting {'[', '{', '(', ')', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, STRING, BYTES, IDENTIFIER}"},
		"only space":               {" ", "empty shard selector is not allowed; omit the parameter for unfiltered lists"},
		"short numbers":            {shardRange(byUID, "0x0", middle), `hexStart` + digits + `"0x0" (did you mean "` + lowest + `"?)`},
		"a short end":              {shardRange(byUID, lowest, "0x1"), `hexEnd` + digits + `"0x1" (did you mean "0x0000000000000001"?)`},
		"too long":                 {shardRange(byUID, lowest, beyond+"0"), `hexEnd: hex value too long (18 chars, max 17): "100000000000000000"`},
		"beyond the end":           {shardRange(byUID, lowest, "0x10000000000000001"), `hexEnd: 17-digit hex value must be '0x10000000000000000' (2^64), got "0x10000000000000001"`},
		"no prefix":                {shardRange(byUID, "0000000000000000", middle), `hexStart must have '0x' prefix, got "0000000000000000"`},
		"a prefix in upper case":   {shardRange(byUID, "0X0000000000000000", middle), `hexStart must have '0x' prefix, got "0X0000000000000000"`},
		"digits in upper case":     {shardRange(byUID, lowest, "0xA000000000000000"), `hexEnd: invalid hex character "A" in "0xA000000000000000"`},
		"no digits":                {shardRange(byUID, "0x", middle), `hexStart: hex value is required after '0x'`},
		"no strings":               {"shardRange(object.metadata.uid, 0, 1)", `hexStart must be a string literal, got int64`},
		"no literals":              {"shardRange(object.metadata.uid, a, b)", `hexStart must be a string literal (e.g. '0xff'), got expression kind 3`},
		"the wrong way round":      {shardRange(byUID, middle, lowest), `shard range start ` + middle + ` must be less than end ` + lowest},
		"nothing between":          {shardRange(byUID, middle, middle), `shard range start ` + middle + ` must be less than end ` + middle},
		"another field":            {shardRange("object.metadata.name", lowest, middle), `unsupported field path "object.metadata.name"; supported: object.metadata.uid, object.metadata.namespace`},
		"a field that is a string": {shardRange("'object.metadata.uid'", lowest, middle), `shardRange() first argument: expected field path (e.g. object.metadata.uid), got expression kind 5`},
		"two fields": {shardRange(byUID, lowest, middle) + " || " + shardRange(byNamespace, middle, beyond),
			`all shard ranges must use the same field, got "object.metadata.uid" and "object.metadata.namespace"`},
		"too few arguments": {"shardRange(object.metadata.uid)", `shardRange() requires exactly 3 arguments, got 1`},
		"another operator":  {shardRange(byUID, lowest, middle) + " && " + shardRange(byUID, lowest, middle), `unsupported function "_&&_"; only shardRange() and || are allowed`},
		"a negation":        {"!" + shardRange(byUID, lowest, middle), `unsupported function "!_"; only shardRange() and || are allowed`},
		"another function":  {"size(object)", `unsupported function "size"; only shardRange() and || are allowed`},
	}
	forEachSubject(t, func(t *testing.T, s subject) {
		s.new(t)
		for sentence, tc := range cases {
			want := refusal{http.StatusBadRequest, "BadRequest", "invalid shard selector: " + tc.message}
			if shared.foreign {
				want.Code, want.Reason = http.StatusInternalServerError, ""
			}
			query := parameter("shardSelector", tc.selector)
			for what, c := range map[string]call{
				"list":              {method: http.MethodGet, path: s.mine(query)},
				"watch":             {method: http.MethodGet, path: s.mine(query, "watch=true")},
				"delete collection": {method: http.MethodDelete, path: s.mine(query, "dryRun=All")},
			} {
				if diff := cmp.Diff(want, send(t, c).refusal()); diff != "" {
					t.Errorf("%s, %s (-want +got):\n%s", sentence, what, diff)
				}
			}
		}
		// What reads one object has no such parameter.
		name := s.new(t).text("metadata.name")
		mustSend(t, call{method: http.MethodGet, path: withQuery(s.path(name), "shardSelector=foo")}, http.StatusOK)
	})
}

// TestWatchShards shows that a watch of a shard is sent the events of its objects and of no others.
func TestWatchShards(t *testing.T) {
	t.Parallel()
	forEachSubject(t, func(t *testing.T, s subject) {
		begin := mustSend(t, call{method: http.MethodGet, path: s.mine()}, http.StatusOK).text("metadata.resourceVersion")
		lower := startWatch(t, call{path: s.mine("watch=true", parameter("shardSelector", shardRange(byUID, lowest, middle)), "resourceVersion="+begin)})
		upper := startWatch(t, call{path: s.mine("watch=true", parameter("shardSelector", shardRange(byUID, middle, beyond)), "resourceVersion="+begin)})
		want := map[*watching][]string{}
		for range 8 {
			created := s.new(t)
			name := created.text("metadata.name")
			half := lower
			if hashOf(created.text("metadata.uid")) >= middle {
				half = upper
			}
			mustSend(t, call{method: http.MethodPatch, contentType: mergePatch, path: s.path(name), body: `{"metadata":{"labels":{"a":"b"}}}`})
			mustSend(t, call{method: http.MethodDelete, path: s.path(name)})
			want[half] = append(want[half], "ADDED "+name, "MODIFIED "+name, "DELETED "+name)
		}
		for half, events := range want {
			var got []watchEvent
			for range events {
				got = append(got, half.next(t))
			}
			if diff := cmp.Diff(events, summaries(got)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		}
	})
}
