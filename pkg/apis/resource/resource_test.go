// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package resource_test

import (
	"testing"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/pinnace-io/pinnace/pkg/apis/resource"
)

func TestGroupVersion(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		group resource.Group
		want  schema.GroupVersion
		text  string
	}{
		"a named group":  {group: resource.Group{Name: "apps", Version: "v1"}, want: schema.GroupVersion{Group: "apps", Version: "v1"}, text: "apps/v1"},
		"the core group": {group: resource.Group{Version: "v1"}, want: schema.GroupVersion{Version: "v1"}, text: "v1"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := test.group.GroupVersion(); got != test.want || got.String() != test.text {
				t.Errorf("got %s, want %s", got, test.text)
			}
		})
	}
}
