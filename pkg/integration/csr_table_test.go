// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"net/http"
	"net/url"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// justCreated is the form of the column Age of an object that a test has just made.
var justCreated = regexp.MustCompile(`^([0-9]+s|[0-9]m[0-9]*s?)$`)

// csrCells are the cells of row 0 without the age, which is checked here.
func csrCells(t *testing.T, a answer) []any {
	t.Helper()
	cells, _ := a.field("rows.0.cells").([]any)
	if len(cells) != 6 {
		t.Fatalf("a row of %d cells, want 6: %s", len(cells), a.raw)
	}
	if age, _ := cells[1].(string); !justCreated.MatchString(age) {
		t.Errorf("age %v", cells[1])
	}
	return append([]any{cells[0]}, cells[2:]...)
}

func TestCSRColumns(t *testing.T) {
	t.Parallel()
	name, _ := newCSR(t)
	object := metav1.ObjectMeta{}.SwaggerDoc()
	spec := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	status := certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()
	column := func(name, format, description string) map[string]any {
		return map[string]any{"name": name, "type": "string", "format": format, "description": description, "priority": float64(0)}
	}
	want := []any{
		column("Name", "name", object["name"]),
		column("Age", "", object["creationTimestamp"]),
		column("SignerName", "", spec["signerName"]),
		column("Requestor", "", spec["request"]),
		column("RequestedDuration", "", spec["expirationSeconds"]),
		column("Condition", "", status["conditions"]),
	}
	for about, path := range map[string]string{
		"the object": csrPath(name), "status": csrPath(name, "status"),
		"a list": csrCollection + "?fieldSelector=metadata.name%3D" + name, "an empty list": csrCollection + "?fieldSelector=metadata.name%3Dnothing",
	} {
		a := mustSend(t, call{method: http.MethodGet, path: path, accept: asTable}, http.StatusOK)
		checkField(t, a, "kind", "Table")
		checkField(t, a, "apiVersion", "meta.k8s.io/v1")
		if diff := cmp.Diff(want, a.field("columnDefinitions")); diff != "" {
			t.Errorf("columns of %s (-want +got):\n%s", about, diff)
		}
	}
}

func TestCSRCells(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		seconds    int32
		conditions []string
		issued     bool
		// duration and condition are the last two cells.
		duration, condition string
	}{
		"pending":                          {duration: "<none>", condition: "Pending"},
		"approved":                         {conditions: []string{"Approved"}, duration: "<none>", condition: "Approved"},
		"denied":                           {conditions: []string{"Denied"}, duration: "<none>", condition: "Denied"},
		"failed":                           {conditions: []string{"Failed"}, duration: "<none>", condition: "Pending,Failed"},
		"issued":                           {issued: true, duration: "<none>", condition: "Pending,Issued"},
		"approved, issued":                 {conditions: []string{"Approved"}, issued: true, duration: "<none>", condition: "Approved,Issued"},
		"approved, failed":                 {conditions: []string{"Approved", "Failed"}, duration: "<none>", condition: "Approved,Failed"},
		"failed, approved, issued":         {conditions: []string{"Failed", "Approved"}, issued: true, duration: "<none>", condition: "Approved,Failed,Issued"},
		"denied, issued":                   {conditions: []string{"Denied"}, issued: true, duration: "<none>", condition: "Denied,Issued"},
		"denied, failed, issued":           {conditions: []string{"Denied", "Failed"}, issued: true, duration: "<none>", condition: "Denied,Failed,Issued"},
		"only a condition of another type": {conditions: []string{"Weird"}, duration: "<none>", condition: "Pending"},
		"ten minutes":                      {seconds: 600, duration: "10m", condition: "Pending"},
		"ten minutes and a second":         {seconds: 601, duration: "10m", condition: "Pending"},
		"an hour":                          {seconds: 3600, duration: "60m", condition: "Pending"},
		"three hours":                      {seconds: 3 * 3600, duration: "3h", condition: "Pending"},
		"three and a half hours":           {seconds: 3*3600 + 1800, duration: "3h30m", condition: "Pending"},
		"a day":                            {seconds: 24 * 3600, duration: "24h", condition: "Pending"},
		"three days and five hours":        {seconds: 77 * 3600, duration: "3d5h", condition: "Pending"},
		"thirty days":                      {seconds: 30 * 24 * 3600, duration: "30d", condition: "Pending"},
		"a year":                           {seconds: 365 * 24 * 3600, duration: "365d", condition: "Pending"},
		"three years":                      {seconds: 3 * 365 * 24 * 3600, duration: "3y", condition: "Pending"},
		"the most":                         {seconds: 2147483647, duration: "68y", condition: "Pending"},
	}
	for about, test := range tests {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			options := []gen.CSROption{gen.WithSigner("example.com/" + unique("s"))}
			if test.seconds != 0 {
				options = append(options, gen.WithExpirationSeconds(test.seconds))
			}
			name := unique("csr")
			body := csrBody(t, name, options...)
			mustSend(t, call{method: http.MethodPost, path: csrCollection, body: body, header: asAlice()}, http.StatusCreated)
			list := []map[string]any{}
			for _, form := range test.conditions {
				list = append(list, condition(form))
			}
			writeConditions(t, name, list...)
			if test.issued {
				issue(t, name)
			}
			signer := body["spec"].(map[string]any)["signerName"].(string)
			want := []any{name, signer, "alice", test.duration, test.condition}
			for _, path := range []string{csrPath(name), csrPath(name, "status"), csrCollection + "?fieldSelector=" + url.QueryEscape("spec.signerName="+signer)} {
				a := mustSend(t, call{method: http.MethodGet, path: path, accept: asTable}, http.StatusOK)
				if diff := cmp.Diff(want, csrCells(t, a)); diff != "" {
					t.Errorf("cells (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func TestCSRTableForms(t *testing.T) {
	t.Parallel()
	name, object := newCSR(t)
	partial := map[string]any{"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object.field("metadata")}
	for query, want := range map[string]any{
		"":                        partial,
		"?includeObject=Metadata": partial,
		"?includeObject=Object":   object.object,
		"?includeObject=None":     nil,
	} {
		a := mustSend(t, call{method: http.MethodGet, path: csrPath(name) + query, accept: asTable}, http.StatusOK)
		if diff := cmp.Diff(want, a.field("rows.0.object")); diff != "" {
			t.Errorf("object of the row for %q (-want +got):\n%s", query, diff)
		}
		checkField(t, a, "metadata.resourceVersion", object.text("metadata.resourceVersion"))
	}
	t.Run("a write answers with a table too", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		a := mustSend(t, call{
			method: http.MethodPatch, path: csrPath(name, "status"), contentType: mergePatch, accept: asTable, body: withConditions(condition("Failed")),
		}, http.StatusOK)
		checkField(t, a, "kind", "Table")
		checkField(t, a, "rows.0.cells.5", "Pending,Failed")
	})
	t.Run("approval has no tables", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		want := refusal{
			Code: http.StatusNotAcceptable, Reason: "NotAcceptable",
			Message: "only the following media types are accepted: application/json, application/yaml, application/vnd.kubernetes.protobuf",
		}
		path := csrPath(name, "approval")
		checkRefused(t, send(t, call{method: http.MethodGet, path: path, accept: asTable}), "", want)
		checkRefused(t, send(t, call{
			method: http.MethodPatch, path: path, contentType: mergePatch, accept: asTable, body: withConditions(condition("Approved")),
		}), "", want)
		checkUnchanged(t, name, before)
		// kubectl asks for a table or, failing that, for the object.
		a := mustSend(t, call{method: http.MethodGet, path: path, accept: asTable + ",application/json"}, http.StatusOK)
		checkField(t, a, "kind", "CertificateSigningRequest")
	})
	t.Run("metadata only", func(t *testing.T) {
		t.Parallel()
		for _, path := range []string{csrPath(name), csrPath(name, "status"), csrPath(name, "approval")} {
			a := mustSend(t, call{method: http.MethodGet, path: path, accept: "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"}, http.StatusOK)
			if diff := cmp.Diff(partial, a.object); diff != "" {
				t.Errorf("metadata (-want +got):\n%s", diff)
			}
		}
		path := csrCollection + "?fieldSelector=metadata.name%3D" + name
		a := mustSend(t, call{method: http.MethodGet, path: path, accept: "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io"}, http.StatusOK)
		checkField(t, a, "kind", "PartialObjectMetadataList")
		checkField(t, a, "items.0.metadata", object.field("metadata"))
		checkField(t, a, "items.0.spec", nil)
	})
}
