// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/api/validate"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
)

func TestRegisterValidations(t *testing.T) {
	t.Parallel()
	scheme := schemeWithRules(t)
	both := gen.CSR("robot", gen.Approved(), gen.Denied())
	atMostOne := []string{
		"status.conditions: Invalid value: " +
			"\"{conditions[{\\\"type\\\": \\\"Approved\\\"}], conditions[{\\\"type\\\": \\\"Denied\\\"}]}\": " +
			"must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`",
	}

	tests := map[string]struct {
		validate func(ctx context.Context) field.ErrorList
		want     []string
	}{
		"both approvals on creation": {
			validate: func(ctx context.Context) field.ErrorList { return scheme.Validate(ctx, nil, both) },
			want:     atMostOne,
		},
		"both approvals through /approval": {
			validate: func(ctx context.Context) field.ErrorList {
				return scheme.ValidateUpdate(ctx, nil, both, gen.CSR("robot"), "approval")
			},
			want: atMostOne,
		},
		"the other approval through /status": {
			validate: func(ctx context.Context) field.ErrorList {
				return scheme.ValidateUpdate(ctx, nil, both, gen.CSR("robot", gen.Denied()), "status")
			},
			want: atMostOne,
		},
		"both approvals are stored already": {
			validate: func(ctx context.Context) field.ErrorList {
				return scheme.ValidateUpdate(ctx, nil, gen.CSR("robot", gen.Approved(), gen.Denied(), gen.Failed()), both, "status")
			},
		},
		"one approval": {
			validate: func(ctx context.Context) field.ErrorList {
				return scheme.ValidateUpdate(ctx, nil, gen.CSR("robot", gen.Approved()), gen.CSR("robot"), "approval")
			},
		},
		"an endpoint that the kind does not have": {
			validate: func(ctx context.Context) field.ErrorList { return scheme.Validate(ctx, nil, both, "scale") },
			want:     []string{"<nil>: Internal error: no validation found for *v1.CertificateSigningRequest, subresource: /scale"},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			if d := cmp.Diff(tt.want, messages(tt.validate(t.Context()))); d != "" {
				t.Errorf("errors (-want +got):\n%s", d)
			}
		})
	}

	// The rule is in force, and takes the place of the hand-written one: same type, field and origin.
	declared := scheme.Validate(t.Context(), nil, both)
	written := certificates.ValidateCertificateSigningRequest(both)
	if left := validate.FilterCoveredHandwrittenErrors(t.Context(), written, declared, true); len(written) != 1 || len(left) != 0 {
		t.Errorf("%d hand-written errors, %d of them left beside the declared one; want 1 and 0", len(written), len(left))
	}
}

// schemeWithRules returns a scheme with the hub type and our declared rules.
func schemeWithRules(t *testing.T) *runtime.Scheme {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := certificatesv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	if err := certificates.RegisterValidations(scheme); err != nil {
		t.Fatal(err)
	}
	return scheme
}
