// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package parity

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// normalization replaces what can't be the same on two servers, in all exchanges of a scenario. The names are those of
// testdata/corpus/README.md; "etag" is done where the answer is read, and "address" there as well.
type normalization struct {
	name  string
	apply func(n *normalizer)
}

func normalizations() []normalization {
	return []normalization{
		{"served-kinds", (*normalizer).servedKinds},
		{"late-bookmark", (*normalizer).lateBookmarks},
		{"continue", (*normalizer).continueTokens},
		{"resource-version", (*normalizer).resourceVersions},
		{"generated-name", (*normalizer).generatedNames},
		{"credential-id", (*normalizer).credentialIDs},
		{"uid", (*normalizer).uids},
		{"address", (*normalizer).addresses},
		{"age", (*normalizer).ages},
		{"time", (*normalizer).times},
	}
}

// normalizer holds the exchanges of one scenario.
type normalizer struct {
	exchanges []Exchange
	// source is what the scenario itself wrote: that is compared as it is.
	source string
}

// Normalize changes exchanges of a scenario so that those of two servers can be compared.
func (s *Scenario) Normalize(exchanges []Exchange) {
	n := &normalizer{exchanges: exchanges, source: s.source}
	for _, each := range normalizations() {
		each.apply(n)
	}
}

func (n *normalizer) documents(visit func(*Value)) {
	for _, e := range n.exchanges {
		for _, document := range e.Answer.Documents {
			visit(document)
		}
	}
}

// texts calls replace for every text of every answer: strings, headers, bodies that are text.
func (n *normalizer) texts(replace func(string) string) {
	for i := range n.exchanges {
		a := &n.exchanges[i].Answer
		for j := range a.Header {
			a.Header[j] = replace(a.Header[j])
		}
		for _, document := range a.Documents {
			document.walk(func(v *Value) {
				if s, ok := v.String(); ok {
					*v = *Text(replace(s))
				}
			})
		}
		a.Text = replace(a.Text)
	}
}

// objects calls visit for every object that is somewhere in v, the outer before the inner.
func (v *Value) objects(visit func(*Value)) {
	if v.Kind == Object {
		visit(v)
	}
	for _, m := range v.Members {
		m.Value.objects(visit)
	}
	for _, item := range v.Items {
		item.objects(visit)
	}
}

var uidForm = regexp.MustCompile(`[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`)

func (n *normalizer) uids() {
	known := map[string]string{}
	n.texts(func(s string) string {
		return uidForm.ReplaceAllStringFunc(s, func(uid string) string {
			if strings.Contains(n.source, uid) {
				return uid
			}
			if known[uid] == "" {
				known[uid] = fmt.Sprintf("<uid %d>", len(known)+1)
			}
			return known[uid]
		})
	})
}

var timeForm = regexp.MustCompile(`\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)`)

func (n *normalizer) times() {
	n.texts(func(s string) string {
		return timeForm.ReplaceAllStringFunc(s, func(t string) string {
			if strings.Contains(n.source, t) {
				return t
			}
			return "<time>"
		})
	})
}

var credentialForm = regexp.MustCompile(`X509SHA256=[0-9a-f]{64}`)

func (n *normalizer) credentialIDs() {
	n.texts(func(s string) string { return credentialForm.ReplaceAllString(s, "X509SHA256=<fingerprint>") })
}

// generatedNames takes the random ending from names that were made from generateName.
func (n *normalizer) generatedNames() {
	known := map[string]string{}
	count := map[string]int{}
	n.documents(func(document *Value) {
		document.objects(func(v *Value) {
			prefix, ok := v.Field("generateName").String()
			name, _ := v.Field("name").String()
			ending, found := strings.CutPrefix(name, prefix)
			if !ok || prefix == "" || known[name] != "" {
				return
			}
			if !found {
				// A long prefix is cut before the ending.
				cut := len(name) - 5
				if cut <= 0 || !strings.HasPrefix(prefix, name[:cut]) {
					return
				}
				prefix, ending = name[:cut], name[cut:]
			}
			if len(ending) != 5 || strings.Contains(n.source, name) {
				return
			}
			count[prefix]++
			known[name] = fmt.Sprintf("%s<generated %d>", prefix, count[prefix])
		})
	})
	names := slices.Sorted(maps.Keys(known))
	n.texts(func(s string) string {
		for _, name := range names {
			s = strings.ReplaceAll(s, name, known[name])
		}
		return s
	})
	n.refusedNames()
}

// refusedNames does the same where the name was refused, and so is in messages alone.
func (n *normalizer) refusedNames() {
	for i := range n.exchanges {
		prefix := n.exchanges[i].generateName
		if prefix == "" || n.exchanges[i].Answer.Code < 400 {
			continue
		}
		form := regexp.MustCompile(regexp.QuoteMeta(prefix[:min(len(prefix), longestPrefix)]) + `[bcdfghjklmnpqrstvwxz2456789]{5}`)
		one := &normalizer{exchanges: n.exchanges[i : i+1]}
		one.texts(func(s string) string {
			return form.ReplaceAllStringFunc(s, func(name string) string { return name[:len(name)-5] + "<generated>" })
		})
	}
}

// longestPrefix is how much of generateName goes into a name (k8s.io/apiserver/pkg/storage/names).
const longestPrefix = 58

// versionTexts are messages that have versions in them.
var versionTexts = regexp.MustCompile(
	`(current: |ResourceVersion in object meta: |ResourceVersion in record \(|ResourceVersion in the precondition \(|revision=|too old resource version: \S+ \(|resourceVersion: "|resourceVersion\\*": ?\\*")\d+`)

// resourceVersions numbers the versions of objects in their order, and marks those of lists and bookmarks: kube-apiserver
// writes more than the scenario does, so that how far the store has come is not the same.
func (n *normalizer) resourceVersions() {
	var versions []uint64
	n.documents(func(document *Value) {
		document.eachVersion(func(_ *Value, version uint64, list bool) {
			if !list {
				versions = append(versions, version)
			}
		})
	})
	slices.Sort(versions)
	versions = slices.Compact(versions)
	n.documents(func(document *Value) {
		document.eachVersion(func(owner *Value, version uint64, list bool) {
			text := "<rv of list>"
			if at, found := slices.BinarySearch(versions, version); !list && found {
				text = fmt.Sprintf("<rv %d>", at+1)
			}
			if list && version < owner.newest() {
				text = "<rv of list, older than what is in it>"
			}
			owner.Field("metadata").setField("resourceVersion", Text(text))
		})
	})
	n.texts(func(s string) string {
		return versionTexts.ReplaceAllStringFunc(s, func(match string) string {
			if strings.Contains(n.source, match) {
				return match
			}
			return strings.TrimRight(match, "0123456789") + "<rv>"
		})
	})
}

// eachVersion calls visit for every object and list that has a version.
func (v *Value) eachVersion(visit func(owner *Value, version uint64, list bool)) {
	bookmarks := map[*Value]bool{}
	v.objects(func(object *Value) {
		if kind, _ := object.Field("type").String(); kind == "BOOKMARK" {
			bookmarks[object.Field("object")] = true
			bookmarks[object.At("object", "object")] = true // in protobuf
			for _, row := range object.At("object", "rows").list() {
				bookmarks[row.Field("object")] = true
			}
		}
		text, ok := object.At("metadata", "resourceVersion").String()
		version, err := strconv.ParseUint(text, 10, 64)
		if !ok || err != nil {
			return
		}
		isList := object.Field("items") != nil || object.Field("rows") != nil || bookmarks[object]
		visit(object, version, isList)
	})
}

// newest is the highest version of the items of a list.
func (v *Value) newest() uint64 {
	var out uint64
	for _, item := range v.Field("items").list() {
		item.eachVersion(func(_ *Value, version uint64, _ bool) { out = max(out, version) })
	}
	return out
}

func (v *Value) setField(key string, value *Value) {
	for i := range v.Members {
		if v.Members[i].Key == key {
			v.Members[i].Value = value
		}
	}
}

// lateBookmarks drops the bookmarks that a server sends from time to time, and before it ends a watch. The one that ends the
// initial events stays.
func (n *normalizer) lateBookmarks() {
	for i := range n.exchanges {
		a := &n.exchanges[i].Answer
		a.Documents = slices.DeleteFunc(a.Documents, func(document *Value) bool {
			object := document.Field("object")
			if inner := object.Field("object"); inner != nil {
				object = inner // in protobuf
			}
			if rows := object.Field("rows").list(); len(rows) > 0 {
				object = rows[0].Field("object")
			}
			return document.Field("type").orEmpty() == "BOOKMARK" && object.At("metadata", "annotations", "k8s.io/initial-events-end") == nil
		})
	}
}

var tokenVersion = regexp.MustCompile(`"rv":\d+`)

func (n *normalizer) continueTokens() {
	n.documents(func(document *Value) {
		document.objects(func(v *Value) {
			token, _ := v.Field("continue").String()
			decoded, err := base64.RawURLEncoding.DecodeString(token)
			if token == "" || err != nil {
				return
			}
			v.setField("continue", Text("<continue "+tokenVersion.ReplaceAllString(string(decoded), `"rv":<rv>`)+">"))
		})
	})
}

// addresses marks those that discovery tells; the ones that a client was given are marked where the answer is read.
func (n *normalizer) addresses() {
	n.documents(func(document *Value) {
		document.objects(func(v *Value) {
			if v.Field("serverAddress") != nil {
				v.setField("serverAddress", Text("<address>"))
			}
		})
	})
}

var ageForm = regexp.MustCompile(`(?m)(  +)(\d+[smhdy](\d+[smhd])?)(  +| *$)`)

// ages marks the cells of AGE columns, and what looks like an age in the output of a program.
func (n *normalizer) ages() {
	// In a watch the first event alone says what the columns are.
	at := -1
	n.documents(func(document *Value) {
		document.objects(func(v *Value) {
			if columns := v.Field("columnDefinitions").list(); len(columns) > 0 {
				at = slices.IndexFunc(columns, func(column *Value) bool { return column.Field("name").plain() == "Age" })
			}
			rows := v.Field("rows").list()
			for _, row := range rows {
				cells := row.Field("cells").list()
				if age, _ := cell(cells, at).String(); age != "" && !strings.HasPrefix(age, "<") {
					cells[at] = Text("<age>")
				}
			}
		})
	})
	for i := range n.exchanges {
		a := &n.exchanges[i].Answer
		if a.Format != "text" || !ageForm.MatchString(a.Text) {
			continue
		}
		a.Text = ageForm.ReplaceAllString(a.Text, "$1<age>$4")
		a.Text = regexp.MustCompile(`(?m) +$`).ReplaceAllString(regexp.MustCompile(`  +`).ReplaceAllString(a.Text, "  "), "")
	}
}

func cell(cells []*Value, at int) *Value {
	if at < 0 || at >= len(cells) {
		return nil
	}
	return cells[at]
}

// servedGroups are the groups of the served kinds, with the resources that are served in them.
func servedGroups() map[string][]string {
	return map[string][]string{
		"":                    {"namespaces"},
		"apps":                {"daemonsets", "controllerrevisions"},
		"certificates.k8s.io": {"certificatesigningrequests"},
	}
}

// servedKinds leaves out of the documents of a server what Pinnace doesn't serve.
func (n *normalizer) servedKinds() {
	n.documents(func(document *Value) {
		switch kind := document.Field("kind").orEmpty(); {
		case kind == "APIGroupList":
			keep(document.Field("groups"), func(group *Value) bool { return servedGroups()[group.Field("name").orEmpty()] != nil })
		case kind == "APIResourceList":
			group, _, found := strings.Cut(document.Field("groupVersion").orEmpty(), "/")
			if !found {
				group = ""
			}
			keepResources(document.Field("resources"), "name", group)
		case kind == "APIGroupDiscoveryList":
			document.keepDiscovery()
		case document.Field("openapi") != nil || document.Field("swagger") != nil:
			document.keepOpenAPI()
		case document.Field("paths") != nil && document.Field("metadata") == nil:
			document.Field("paths").keepMembers(func(path string) bool {
				return slices.Contains([]string{"api/v1", "apis/apps/v1", "apis/certificates.k8s.io/v1"}, path)
			})
		}
		document.objects(func(v *Value) {
			keep(v.Field("x-kubernetes-group-version-kind"), func(gvk *Value) bool { return servedGroups()[gvk.Field("group").orEmpty()] != nil })
		})
	})
}

func (v *Value) orEmpty() string { s, _ := v.String(); return s }

func keep(list *Value, wanted func(*Value) bool) {
	if list != nil {
		list.Items = slices.DeleteFunc(list.Items, func(item *Value) bool { return !wanted(item) })
	}
}

func (v *Value) keepMembers(wanted func(string) bool) {
	if v != nil {
		v.Members = slices.DeleteFunc(v.Members, func(m Member) bool { return !wanted(m.Key) })
	}
}

func keepResources(list *Value, field, group string) {
	keep(list, func(resource *Value) bool {
		name, _, _ := strings.Cut(resource.Field(field).orEmpty(), "/")
		return slices.Contains(servedGroups()[group], name)
	})
}

func (v *Value) keepDiscovery() {
	keep(v.Field("items"), func(group *Value) bool { return servedGroups()[group.At("metadata", "name").orEmpty()] != nil })
	for _, group := range v.Field("items").list() {
		keep(group.Field("versions"), func(version *Value) bool { return version.Field("version").orEmpty() == "v1" })
		for _, version := range group.Field("versions").list() {
			keepResources(version.Field("resources"), "resource", group.At("metadata", "name").orEmpty())
		}
	}
}

// servedPath is a path of a served resource in an OpenAPI document.
var servedPath = regexp.MustCompile(`/(daemonsets|controllerrevisions|certificatesigningrequests)(/|$)|^/api/v1/(watch/)?namespaces(/\{name\}(/status|/finalize)?)?$`)

// keepOpenAPI leaves the paths of served resources, and the definitions that can be reached from them.
func (v *Value) keepOpenAPI() {
	v.Field("paths").keepMembers(func(path string) bool {
		return servedPath.MatchString(path) && !strings.Contains(path, "v1beta1") && !strings.Contains(path, "v1alpha1")
	})
	definitions := cmp.Or(v.Field("definitions"), v.At("components", "schemas"))
	if definitions == nil {
		return
	}
	reached := map[string]bool{}
	var follow func(*Value)
	follow = func(from *Value) {
		from.objects(func(object *Value) {
			reference := object.Field("$ref").orEmpty()
			name := reference[strings.LastIndex(reference, "/")+1:]
			if name != "" && !reached[name] {
				reached[name] = true
				if next := definitions.Field(name); next != nil {
					follow(next)
				}
			}
		})
	}
	if paths := v.Field("paths"); paths != nil {
		follow(paths)
	}
	definitions.keepMembers(func(name string) bool { return reached[name] })
}
