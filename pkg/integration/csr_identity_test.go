// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// forgedIdentity is a spec that claims to come from somebody else.
func forgedIdentity() map[string]any {
	return map[string]any{"spec": map[string]any{
		"username": "mallory", "uid": "666", "groups": []any{"system:masters", "system:nodes"},
		"extra": map[string]any{"scopes": []any{"all"}, "forged": []any{"yes"}},
	}}
}

// identityOf is what spec says of the user who asked.
func identityOf(a answer) map[string]any {
	out := map[string]any{}
	for _, key := range []string{"username", "uid", "groups", "extra"} {
		if value := a.field("spec." + key); value != nil {
			out[key] = value
		}
	}
	return out
}

func TestCSRIdentity(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		header http.Header
		want   map[string]any
	}{
		"name, uid, groups and extra": {header: asAlice(), want: aliceSpec()},
		"a name and a group": {
			header: http.Header{"Impersonate-User": {"carol"}, "Impersonate-Group": {"system:masters"}},
			want:   map[string]any{"username": "carol", "groups": []any{"system:masters", "system:authenticated"}},
		},
		"a group that is there twice": {
			header: http.Header{"Impersonate-User": {"carol"}, "Impersonate-Group": {"devs", "system:masters", "devs"}},
			want:   map[string]any{"username": "carol", "groups": []any{"devs", "system:masters", "devs", "system:authenticated"}},
		},
		"system:authenticated is not added twice": {
			header: http.Header{"Impersonate-User": {"carol"}, "Impersonate-Group": {"system:authenticated", "system:masters"}},
			want:   map[string]any{"username": "carol", "groups": []any{"system:authenticated", "system:masters"}},
		},
		"a node": {
			header: http.Header{"Impersonate-User": {"system:node:n1"}, "Impersonate-Group": {"system:nodes", "system:masters"}},
			want:   map[string]any{"username": "system:node:n1", "groups": []any{"system:nodes", "system:masters", "system:authenticated"}},
		},
		"extra keys are lower-cased and unescaped": {
			header: http.Header{
				"Impersonate-User": {"carol"}, "Impersonate-Group": {"system:masters"},
				"Impersonate-Extra-Acme.com%2fproject": {"p1"}, "Impersonate-Extra-Team": {"a", "b"},
			},
			want: map[string]any{
				"username": "carol", "groups": []any{"system:masters", "system:authenticated"},
				"extra": map[string]any{"acme.com/project": []any{"p1"}, "team": []any{"a", "b"}},
			},
		},
		"letters outside ASCII": {
			header: http.Header{"Impersonate-User": {"jürgen müller"}, "Impersonate-Group": {"système", "system:masters"}},
			want:   map[string]any{"username": "jürgen müller", "groups": []any{"système", "system:masters", "system:authenticated"}},
		},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			for how, body := range map[string]map[string]any{
				"plain":  csrBody(t, unique("csr")),
				"forged": merged(csrBody(t, unique("csr")), forgedIdentity()),
			} {
				a := mustSend(t, call{method: http.MethodPost, path: csrCollection, body: body, header: test.header}, http.StatusCreated)
				if diff := cmp.Diff(test.want, identityOf(getCSR(t, a.text("metadata.name")))); diff != "" {
					t.Errorf("identity of a %s request (-want +got):\n%s", how, diff)
				}
			}
		})
	}

	t.Run("server-side apply creates for its user too", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		a := mustSend(t, call{
			method: http.MethodPatch, path: csrPath(name) + "?fieldManager=m", contentType: applyPatch, header: asAlice(),
			body: merged(csrBody(t, name), forgedIdentity()),
		}, http.StatusCreated)
		if diff := cmp.Diff(aliceSpec(), identityOf(a)); diff != "" {
			t.Errorf("identity (-want +got):\n%s", diff)
		}
	})

	t.Run("nobody who writes later becomes the one who asked", func(t *testing.T) {
		t.Parallel()
		a := mustSend(t, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, unique("csr")), header: asAlice()}, http.StatusCreated)
		name := a.text("metadata.name")
		carol := http.Header{"Impersonate-User": {"carol"}, "Impersonate-Group": {"system:masters"}}
		for path, change := range map[string]map[string]any{
			csrPath(name):             withLabel("a", "1"),
			csrPath(name, "approval"): withConditions(condition("Approved")),
			csrPath(name, "status"):   withLabel("b", "2"),
		} {
			a := mustSend(t, call{
				method: http.MethodPatch, path: path, contentType: mergePatch, header: carol, body: merged(forgedIdentity(), change),
			}, http.StatusOK)
			if diff := cmp.Diff(aliceSpec(), identityOf(a)); diff != "" {
				t.Errorf("identity after a patch of %s (-want +got):\n%s", path, diff)
			}
		}
	})

	t.Run("a uid without a user", func(t *testing.T) {
		t.Parallel()
		a := send(t, call{
			method: http.MethodPost, path: csrCollection, body: csrBody(t, unique("csr")), header: http.Header{"Impersonate-Uid": {"77"}},
		})
		checkRefused(t, a, "", badRequest(`requested &user.DefaultInfo{Name:"", UID:"77", Groups:[]string(nil), Extra:map[string][]string(nil)} without impersonating a user name`))
	})
}
