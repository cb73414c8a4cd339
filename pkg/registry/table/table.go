// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

// Package table answers a request for meta.k8s.io Table: it turns objects of one kind, or lists of them, into rows.
//
// A resource states its columns and the cells of one object; everything a client sees around them (which object a
// row carries, the table's own list metadata, headers that are left out on request) is decided here, and is what
// kube-apiserver does in pkg/printers/tablegenerator.go and pkg/printers/storage/storage.go.
package table

import (
	"context"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/utils/clock"
)

// Columns states how one kind is shown. T is a pointer to the kind's Go type.
type Columns[T runtime.Object] interface {
	// Definitions returns all columns in order, those of lower priority (kubectl's "-o wide") too: clients choose by
	// priority. Nobody changes the returned slice.
	Definitions() []metav1.TableColumnDefinition
	// Cells returns one value for each column of one object. Values are strings, int64, bool, or nil.
	Cells(obj T) []any
}

// MetadataView may be implemented by Columns of a kind whose rows carry other metadata than the object itself.
//
// Rows carry metadata only unless a client asks for includeObject=Object, and kube-apiserver takes it from its
// internal type. Where that type keeps a thing elsewhere (the template generation of a DaemonSet is a field there, an
// annotation in v1), it's absent from the row.
type MetadataView[T runtime.Object] interface {
	// Metadata returns the object whose metadata is shown. It must not change obj, which may be shared with others.
	Metadata(obj T) T
}

// NewConvertor returns the convertor of one kind. It takes a T or a list whose items are of that type; for anything
// else, or with nil columns, it fails as kube-apiserver fails for a type that has no printer.
//
// Options other than nil and *metav1.TableOptions are an error. NoHeaders leaves the column definitions out.
// IncludeObject isn't applied here (the request handler does that, and a convertor may be called without options), but
// decides whether rows hold the object or its MetadataView.
func NewConvertor[T runtime.Object](columns Columns[T]) rest.TableConvertor {
	return convertor[T]{columns: columns}
}

// Age returns how long ago a moment was, in the short form of tables ("5m12s", "3d"), or "<unknown>" for the zero time.
func Age(now clock.PassiveClock, moment metav1.Time) string {
	if moment.IsZero() {
		return "<unknown>"
	}
	return duration.HumanDuration(now.Since(moment.Time))
}

type convertor[T runtime.Object] struct {
	columns Columns[T]
}

// ConvertToTable implements rest.TableConvertor.
func (c convertor[T]) ConvertToTable(_ context.Context, obj, tableOptions runtime.Object) (*metav1.Table, error) {
	var options metav1.TableOptions
	if tableOptions != nil {
		given, ok := tableOptions.(*metav1.TableOptions)
		if !ok {
			return nil, fmt.Errorf("unrecognized type %T for table options, can't display tabular output", tableOptions)
		}
		if given != nil {
			options = *given
		}
	}

	rows, err := c.rows(obj, options.IncludeObject)
	if err != nil {
		return nil, err
	}
	table := &metav1.Table{ListMeta: listMeta(obj), Rows: rows}
	if !options.NoHeaders {
		table.ColumnDefinitions = c.columns.Definitions()
	}
	return table, nil
}

// rows is never nil without an error: an empty list is a table whose rows are [], not null.
func (c convertor[T]) rows(obj runtime.Object, include metav1.IncludeObjectPolicy) ([]metav1.TableRow, error) {
	if c.columns == nil {
		return nil, noHandler(obj)
	}
	if one, ok := obj.(T); ok {
		return []metav1.TableRow{c.row(one, include)}, nil
	}
	if !isListOf[T](obj) {
		return nil, noHandler(obj)
	}

	rows := make([]metav1.TableRow, 0, meta.LenList(obj))
	err := meta.EachListItem(obj, func(item runtime.Object) error {
		rows = append(rows, c.row(item.(T), include)) // isListOf has looked at the type
		return nil
	})
	if err != nil {
		return nil, err
	}
	return rows, nil
}

func (c convertor[T]) row(obj T, include metav1.IncludeObjectPolicy) metav1.TableRow {
	shown := obj
	// All policies but Object come down to metadata: None keeps it on the bookmark that ends the initial events.
	if view, ok := c.columns.(MetadataView[T]); ok && include != metav1.IncludeObject {
		shown = view.Metadata(obj)
	}
	return metav1.TableRow{Cells: c.columns.Cells(obj), Object: runtime.RawExtension{Object: shown}}
}

// isListOf tells whether obj is a list of T by the type of its items, so that an empty list of another kind is refused.
func isListOf[T runtime.Object](obj runtime.Object) bool {
	items, err := meta.GetItemsPtr(obj)
	if err != nil {
		return false
	}
	item, want := reflect.TypeOf(items).Elem().Elem(), reflect.TypeFor[T]()
	return item == want || reflect.PointerTo(item) == want
}

// listMeta is what a table takes over from the list or the object that it shows. selfLink is not part of it.
func listMeta(obj runtime.Object) metav1.ListMeta {
	if list, err := meta.ListAccessor(obj); err == nil {
		return metav1.ListMeta{
			ResourceVersion:    list.GetResourceVersion(),
			Continue:           list.GetContinue(),
			RemainingItemCount: list.GetRemainingItemCount(),
		}
	}
	if one, err := meta.CommonAccessor(obj); err == nil {
		return metav1.ListMeta{ResourceVersion: one.GetResourceVersion()}
	}
	return metav1.ListMeta{}
}

func noHandler(obj runtime.Object) error {
	return fmt.Errorf("no table handler registered for this type %T", obj)
}
