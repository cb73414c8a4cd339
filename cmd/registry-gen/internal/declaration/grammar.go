// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package declaration

import (
	"slices"

	"github.com/pinnace-io/pinnace/cmd/registry-gen/internal/marker"
)

// Place is where a marker may stand.
type Place int

// The places of markers.
const (
	// OnPackage is the comment above the package clause.
	OnPackage Place = iota
	// OnType is the comment above a type alias.
	OnType
)

// String names the place for messages.
func (p Place) String() string {
	if p == OnPackage {
		return "the comment above the package clause"
	}
	return "the comment above a type alias"
}

// Definition is the grammar of one marker.
type Definition struct {
	// Key is what follows the prefix.
	Key string
	// Place is where it may stand.
	Place Place
	// Form is the marker with placeholders, as help and messages show it.
	Form string
	// Help says what it declares, in one sentence.
	Help string

	takesValue bool // false for a marker that is only there or not
	mayBeEmpty bool
	repeatable bool

	// read puts the value into what is being read. It is nil for markers of packages, which are read in one place.
	read func(*resourceReader, marker.Marker)
}

// Grammar returns the definition of every marker in the order of help.
func Grammar() []Definition {
	return slices.Concat(packageGrammar(), typeGrammar())
}

func packageGrammar() []Definition {
	return []Definition{
		{
			Key: "group", Place: OnPackage, Form: "+pinnace:group=NAME", takesValue: true, mayBeEmpty: true,
			Help: "Required. The native name of the API group, empty for the core group.",
		},
		{
			Key: "version", Place: OnPackage, Form: "+pinnace:version=VERSION", takesValue: true,
			Help: "Required. The served version, which is the hub version as well.",
		},
		{
			Key: "defaults", Place: OnPackage, Form: "+pinnace:defaults",
			Help: "RegisterDefaults of the package (defaulter-gen writes it) is called.",
		},
		{
			Key: "validations", Place: OnPackage, Form: "+pinnace:validations",
			Help: "RegisterValidations(*runtime.Scheme) error of the package is called, and strategies validate declaratively.",
		},
	}
}

func typeGrammar() []Definition {
	return []Definition{
		{
			Key: "resource", Place: OnType, Form: "+pinnace:resource=PLURAL", takesValue: true, read: (*resourceReader).plural,
			Help: "Required. The plural name; the singular is the kind in lower case, the list type is the kind and \"List\".",
		},
		{
			Key: "scope", Place: OnType, Form: "+pinnace:scope=Cluster|Namespaced", takesValue: true, read: (*resourceReader).scope,
			Help: "Required. Whether names are unique in the cluster or in a namespace.",
		},
		{
			Key: "shortName", Place: OnType, Form: "+pinnace:shortName=NAME", takesValue: true, repeatable: true, read: (*resourceReader).shortName,
			Help: "A short name in discovery.",
		},
		{
			Key: "category", Place: OnType, Form: "+pinnace:category=NAME", takesValue: true, repeatable: true, read: (*resourceReader).category,
			Help: "A category in discovery, such as all.",
		},
		{
			Key: "verbs", Place: OnType, Form: "+pinnace:verbs=VERB,VERB", takesValue: true, read: (*resourceReader).verbs,
			Help: "The served verbs, instead of all of create,delete,deletecollection,get,list,patch,update,watch.",
		},
		{
			Key: "resetFields", Place: OnType, Form: "+pinnace:resetFields=PATH,PATH", takesValue: true, read: (*resourceReader).resetFields,
			Help: "The fields that the main endpoint resets, so that no manager owns them through it.",
		},
		{
			Key: "selectableField", Place: OnType, Form: "+pinnace:selectableField=[LABEL=]PATH", takesValue: true, repeatable: true, read: (*resourceReader).selectableField,
			Help: "A string field that field selectors match, beside metadata.name and metadata.namespace. With LABEL, objects match that label too, but clients can't select by it.",
		},
		{
			Key: "garbageCollection", Place: OnType, Form: "+pinnace:garbageCollection=DeleteDependents|OrphanDependents|Unsupported", takesValue: true, read: (*resourceReader).garbageCollection,
			Help: "What becomes of dependents when the client does not say.",
		},
		{
			Key: "normalize", Place: OnType, Form: "+pinnace:normalize=FUNCTION", takesValue: true, read: (*resourceReader).normalize,
			Help: "A func(*KIND) error of the package that brings a decoded object into the form that the hub keeps.",
		},
		{
			Key: "new", Place: OnType, Form: "+pinnace:new=FUNCTION", takesValue: true, read: (*resourceReader).newFunc,
			Help: "A func() *KIND of the package that makes an empty object in the form that the hub keeps; without it, it is the zero value.",
		},
		{
			Key: "metadataView", Place: OnType, Form: "+pinnace:metadataView=FUNCTION", takesValue: true, read: (*resourceReader).metadataView,
			Help: "A func(*KIND) *KIND of the package that returns the object whose metadata is shown to clients which ask for metadata alone; it does not change its argument.",
		},
		{
			Key: "decodedVersion", Place: OnType, Form: "+pinnace:decodedVersion=VERSION", takesValue: true, repeatable: true, read: (*resourceReader).decodedVersion,
			Help: "A version of the kind that kube-apiserver knows and no longer serves. A request that names it is decoded, so that it gets the answer of a known version.",
		},
		{
			Key: "columns", Place: OnType, Form: "+pinnace:columns", read: (*resourceReader).columns,
			Help: "The package of the resource has Columns and NewColumns; without it tables show name and age.",
		},
		{
			Key: "subresource", Place: OnType, Form: "+pinnace:subresource=NAME[,resetFields=PATH;PATH][,get=false][,table=false]", takesValue: true, repeatable: true, read: (*resourceReader).subresource,
			Help: "An endpoint below the object, with a strategy of its own: NAMEStrategy. get=false leaves GET and PATCH out, table=false tables.",
		},
		{
			Key: "hook", Place: OnType, Form: "+pinnace:hook=Delete|ReturnDeletedObject|ShouldDeleteDuringUpdate", takesValue: true, repeatable: true, read: (*resourceReader).hook,
			Help: "Delete and ShouldDeleteDuringUpdate are functions of the resource's package that are asked instead of the store; ReturnDeletedObject makes a DELETE answer with the object.",
		},
	}
}

// lookup returns the definition of a key at a place.
func lookup(key string, place Place) (Definition, bool) {
	for _, d := range Grammar() {
		if d.Key == key && d.Place == place {
			return d, true
		}
	}
	return Definition{}, false
}

// unknown says what is right instead of a marker that is unknown at a place.
func unknown(m marker.Marker, place Place) string {
	other := OnType
	if place == OnType {
		other = OnPackage
	}
	if _, ok := lookup(m.Key, other); ok {
		return "belongs in " + other.String() + ", not in " + place.String()
	}
	var keys []string
	for _, d := range Grammar() {
		if d.Place == place {
			keys = append(keys, d.Key)
		}
	}
	text := "unknown marker"
	if nearest := marker.Nearest(m.Key, keys); nearest != "" {
		return text + "; did you mean " + marker.Prefix + nearest + "?"
	}
	return text + "; registry-gen --help lists the markers"
}
