// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	upstreamcore "k8s.io/kubernetes/pkg/apis/core/validation"

	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
)

const (
	labelRule = "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character " +
		"(e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')"
	subdomainRule = "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character " +
		"(e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
)

func TestValidateSignerName(t *testing.T) {
	t.Parallel()

	// 571 bytes: a domain of 253, a slash, a path of 317 whose labels are 253 and 63 bytes long.
	longest := strings.Repeat("a.", 126) + "a/" + strings.Repeat("b", 253) + "." + strings.Repeat("c", 63)

	tests := map[string]struct {
		name string
		want []string
	}{
		"an empty name is missing": {
			name: "", want: []string{`spec.signerName: Required value`},
		},
		"domain and path are enough":                   {name: "example.com/robot"},
		"a signer of Kubernetes that nobody runs":      {name: "kubernetes.io/nonexistent"},
		"the path may have labels":                     {name: "example.com/ns.name"},
		"the legacy signer has a well-formed name":     {name: certificates.LegacyUnknownSignerName},
		"571 bytes are the most":                       {name: longest},
		"a domain of 253 bytes":                        {name: strings.Repeat("a.", 126) + "a/x"},
		"digits and dashes inside are good in a label": {name: "1-0.example.com/0-1"},
		"no slash": {
			name: "example.com",
			want: []string{`spec.signerName: Invalid value: "example.com": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		},
		"two slashes": {
			name: "example.com/a/b",
			want: []string{`spec.signerName: Invalid value: "example.com/a/b": must be a fully qualified domain and path of the form 'example.com/signer-name'`},
		},
		"a domain of one label": {
			name: "example/robot",
			want: []string{`spec.signerName: Invalid value: "example": should be a domain with at least two segments separated by dots`},
		},
		"capitals in the domain": {
			name: "Example.com/robot",
			want: []string{`spec.signerName: Invalid value: "Example.com": validating label "Example": ` + labelRule},
		},
		"capitals in the path": {
			name: "example.com/Robot",
			want: []string{`spec.signerName: Invalid value: "Robot": validating label "Robot": ` + subdomainRule},
		},
		"an underscore in the path": {
			name: "example.com/robot_1",
			want: []string{`spec.signerName: Invalid value: "robot_1": validating label "robot_1": ` + subdomainRule},
		},
		"an empty label in the path": {
			name: "example.com/ns..name",
			want: []string{`spec.signerName: Invalid value: "ns..name": validating label "": ` + subdomainRule},
		},
		"an empty path": {
			name: "example.com/",
			want: []string{`spec.signerName: Invalid value: "": validating label "": ` + subdomainRule},
		},
		"an empty domain is wrong twice": {
			name: "/robot",
			want: []string{
				`spec.signerName: Invalid value: "": validating label "": ` + labelRule,
				`spec.signerName: Invalid value: "": should be a domain with at least two segments separated by dots`,
			},
		},
		"only the first wrong label of each side is told": {
			name: "A..B/C..D",
			want: []string{
				`spec.signerName: Invalid value: "A..B": validating label "A": ` + labelRule,
				`spec.signerName: Invalid value: "C..D": validating label "C": ` + subdomainRule,
			},
		},
		"a domain label of 64 bytes": {
			name: strings.Repeat("a", 64) + ".io/x",
			want: []string{`spec.signerName: Invalid value: "` + strings.Repeat("a", 64) + `.io": validating label "` + strings.Repeat("a", 64) + `": must be no more than 63 characters`},
		},
		"everything that is wrong with one label is told": {
			name: strings.Repeat("A", 64) + ".io/x",
			want: []string{
				`spec.signerName: Invalid value: "` + strings.Repeat("A", 64) + `.io": validating label "` + strings.Repeat("A", 64) + `": must be no more than 63 characters`,
				`spec.signerName: Invalid value: "` + strings.Repeat("A", 64) + `.io": validating label "` + strings.Repeat("A", 64) + `": ` + labelRule,
			},
		},
		"a path label of 254 bytes": {
			name: "a.io/" + strings.Repeat("b", 254),
			want: []string{`spec.signerName: Invalid value: "` + strings.Repeat("b", 254) + `": validating label "` + strings.Repeat("b", 254) + `": must be no more than 253 characters`},
		},
		"a domain of 255 bytes": {
			name: strings.Repeat("a.", 127) + "a/x",
			want: []string{`spec.signerName: Too long: may not be more than 253 bytes`},
		},
		"572 bytes": {
			name: longest + "c",
			want: []string{`spec.signerName: Too long: may not be more than 571 bytes`},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			path := field.NewPath("spec", "signerName")

			got := certificates.ValidateSignerName(tt.name, path)

			if d := cmp.Diff(tt.want, messages(got)); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
			if d := cmp.Diff(upstreamcore.ValidateSignerName(path, tt.name), got); d != "" {
				t.Errorf("kube-apiserver says otherwise (-upstream +ours):\n%s", d)
			}
		})
	}
}

// messages returns errors as clients read them, nil for none.
func messages(errs field.ErrorList) []string {
	var texts []string
	for _, err := range errs {
		texts = append(texts, err.Error())
	}
	return texts
}
