// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// subresourceTest is an update through /status or /approval. Where want is nil the update is refused for refused alone.
type subresourceTest struct {
	old, sent, want *certificatesv1.CertificateSigningRequest
	refused         []string
}

func (tt subresourceTest) run(t *testing.T, subresource string) {
	t.Helper()
	oldCSR, updated := stored(tt.old), stored(tt.sent)

	err := rest.BeforeUpdate(newEndpoint(t, subresource), requestContext(t.Context(), subresource, nil), updated, oldCSR)

	if d := cmp.Diff(tt.refused, causes(t, err)); d != "" {
		t.Errorf("errors (-want +got):\n%s", d)
	}
	if tt.want != nil {
		if d := cmp.Diff(stored(tt.want), updated); d != "" {
			t.Errorf("object (-want +got):\n%s", d)
		}
	}
	if d := cmp.Diff(stored(tt.old), oldCSR); d != "" {
		t.Errorf("the stored object was changed:\n%s", d)
	}
}

func removed(conditionType string) string {
	return `status.conditions: Forbidden: updates may not remove a condition of type "` + conditionType + `"`
}

func added(conditionType string) string {
	return `status.conditions: Forbidden: updates may not add a condition of type "` + conditionType + `"`
}

// bothApprovals is the answer to Approved beside Denied. It is the declared rule's: the hand-written one gives way.
const bothApprovals = `status.conditions: Invalid value: "{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": \"Denied\"}]}": ` +
	"must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`"

// long is a moment long before now, short one shortly before.
func long() metav1.Time  { return metav1.NewTime(now().Add(-time.Hour)) }
func short() metav1.Time { return metav1.NewTime(now().Add(-time.Second)) }

// present is when the strategies do their work.
func present() metav1.Time { return metav1.NewTime(now()) }

// is returns the option that adds a condition with a reason and both times.
func is(conditionType certificatesv1.RequestConditionType, reason string, updated, transitioned metav1.Time) gen.CSROption {
	return gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{
		Type: conditionType, Status: "True", Reason: reason, LastUpdateTime: updated, LastTransitionTime: transitioned,
	})
}

// isWith returns the option that adds a condition without times.
func isWith(conditionType certificatesv1.RequestConditionType, status corev1.ConditionStatus) gen.CSROption {
	return gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{Type: conditionType, Status: status})
}

func TestUpdateThroughStatus(t *testing.T) {
	t.Parallel()
	certificate := gen.WithCertificate(gen.RobotCertificate())
	approved := is("Approved", "ok", long(), long())

	tests := map[string]subresourceTest{
		"the certificate is stored": {
			old: gen.CSR("robot", approved), sent: gen.CSR("robot", approved, certificate), want: gen.CSR("robot", approved, certificate),
		},
		"a denied request gets a certificate too": {
			old:  gen.CSR("robot", is("Denied", "", long(), long())),
			sent: gen.CSR("robot", is("Denied", "", long(), long()), certificate),
			want: gen.CSR("robot", is("Denied", "", long(), long()), certificate),
		},
		"another certificate is refused": {
			old:     gen.CSR("robot", certificate),
			sent:    gen.CSR("robot", gen.WithCertificate(gen.RobotAuthority())),
			refused: []string{`status.certificate: Forbidden: updates may not modify existing certificate content`},
		},
		"so is none": {
			old:     gen.CSR("robot", certificate),
			sent:    gen.CSR("robot"),
			refused: []string{`status.certificate: Forbidden: updates may not modify existing certificate content`},
		},
		"a spec is dropped": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.WithSigner("x"), gen.WithUsages()), want: gen.CSR("robot"),
		},
		"metadata is stored": {
			old:  gen.CSR("robot"),
			sent: gen.CSR("robot", func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels = map[string]string{"app": "x"} }),
			want: gen.CSR("robot", func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels = map[string]string{"app": "x"} }),
		},
		"a new condition gets its times": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Failed()), want: gen.CSR("robot", is("Failed", "", present(), present())),
		},
		"times that are sent are stored": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", is("Failed", "", short(), long())), want: gen.CSR("robot", is("Failed", "", short(), long())),
		},
		"a condition in the same state has not transitioned": {
			old:  gen.CSR("robot", is("Failed", "a", long(), long())),
			sent: gen.CSR("robot", is("Failed", "b", metav1.Time{}, metav1.Time{})),
			want: gen.CSR("robot", is("Failed", "b", present(), long())),
		},
		"of two in the same state the first that knows when counts": {
			old:  gen.CSR("robot", is("Odd", "", long(), metav1.Time{}), is("Odd", "", long(), short()), is("Odd", "", long(), long())),
			sent: gen.CSR("robot", is("Odd", "", long(), metav1.Time{})),
			want: gen.CSR("robot", is("Odd", "", long(), short())),
		},
		"a condition in another state has transitioned now": {
			old: gen.CSR("robot", is("Weird", "", long(), long())),
			sent: gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{
				Type: "Weird", Status: "False", LastUpdateTime: long(),
			})),
			want: gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{
				Type: "Weird", Status: "False", LastUpdateTime: long(), LastTransitionTime: present(),
			})),
		},
		"a condition of any type comes": {
			old:  gen.CSR("robot"),
			sent: gen.CSR("robot", isWith("Weird", "False")),
			want: gen.CSR("robot", gen.WithCondition(certificatesv1.CertificateSigningRequestCondition{
				Type: "Weird", Status: "False", LastUpdateTime: present(), LastTransitionTime: present(),
			})),
		},
		"and goes": {
			old: gen.CSR("robot", isWith("Weird", "False")), sent: gen.CSR("robot"), want: gen.CSR("robot"),
		},
		"a condition without a type is refused": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", isWith("", "True")), refused: []string{`status.conditions[0].type: Required value`},
		},
		"failure is for ever": {
			old: gen.CSR("robot", gen.Failed()), sent: gen.CSR("robot"), refused: []string{removed("Failed")},
		},
		"approval is refused": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Approved()), refused: []string{added("Approved")},
		},
		"so is denial": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Denied()), refused: []string{added("Denied")},
		},
		"another reason for the approval is dropped": {
			old: gen.CSR("robot", approved), sent: gen.CSR("robot", is("Approved", "other", short(), short())), want: gen.CSR("robot", approved),
		},
		"the approval may move": {
			old:  gen.CSR("robot", is("Failed", "", long(), long()), approved),
			sent: gen.CSR("robot", gen.Approved(), is("Failed", "", long(), long())),
			want: gen.CSR("robot", approved, is("Failed", "", long(), long())),
		},
		"a list with the failure alone drops the approval": {
			old: gen.CSR("robot", approved), sent: gen.CSR("robot", gen.Failed()), refused: []string{removed("Approved")},
		},
		"an approval taken back for a denial is refused twice": {
			old:     gen.CSR("robot", gen.Approved()),
			sent:    gen.CSR("robot", gen.Denied()),
			refused: []string{removed("Approved"), added("Denied")},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			tt.run(t, "status")
		})
	}
}

func TestUpdateThroughApproval(t *testing.T) {
	t.Parallel()
	certificate := gen.WithCertificate(gen.RobotCertificate())

	tests := map[string]subresourceTest{
		"approval gets its times": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Approved()), want: gen.CSR("robot", is("Approved", "", present(), present())),
		},
		"denial gets its times": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Denied()), want: gen.CSR("robot", is("Denied", "", present(), present())),
		},
		"another reason is an update and no transition": {
			old:  gen.CSR("robot", is("Approved", "a", long(), long())),
			sent: gen.CSR("robot", is("Approved", "b", metav1.Time{}, metav1.Time{})),
			want: gen.CSR("robot", is("Approved", "b", present(), long())),
		},
		"failure may come this way": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Failed()), want: gen.CSR("robot", is("Failed", "", present(), present())),
		},
		"a certificate is dropped": {
			old:  gen.CSR("robot"),
			sent: gen.CSR("robot", gen.Approved(), certificate),
			want: gen.CSR("robot", is("Approved", "", present(), present())),
		},
		"a certificate that is left out stays": {
			old:  gen.CSR("robot", certificate),
			sent: gen.CSR("robot", gen.Denied()),
			want: gen.CSR("robot", is("Denied", "", present(), present()), certificate),
		},
		"a spec is dropped": {
			old:  gen.CSR("robot"),
			sent: gen.CSR("robot", gen.WithSigner("x"), gen.WithRequest(nil), gen.Approved()),
			want: gen.CSR("robot", is("Approved", "", present(), present())),
		},
		"metadata is stored": {
			old:  gen.CSR("robot"),
			sent: gen.CSR("robot", func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels = map[string]string{"app": "x"} }),
			want: gen.CSR("robot", func(csr *certificatesv1.CertificateSigningRequest) { csr.Labels = map[string]string{"app": "x"} }),
		},
		"a condition without a status is refused": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", isWith("Approved", "")), refused: []string{`status.conditions[0].status: Required value`},
		},
		"so is a False approval": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", isWith("Approved", "False")),
			refused: []string{`status.conditions[0].status: Unsupported value: "False": supported values: "True"`},
		},
		"so is true in small letters": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", isWith("Approved", "true")),
			refused: []string{`status.conditions[0].status: Unsupported value: "true": supported values: "True"`},
		},
		"so are two approvals": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Approved(), gen.Approved()),
			refused: []string{`status.conditions[1].type: Duplicate value: "Approved"`},
		},
		"approved and denied at once": {
			old: gen.CSR("robot"), sent: gen.CSR("robot", gen.Approved(), gen.Denied()), refused: []string{bothApprovals},
		},
		"denied after approved": {
			old: gen.CSR("robot", gen.Approved()), sent: gen.CSR("robot", gen.Approved(), gen.Denied()), refused: []string{bothApprovals},
		},
		"approved after denied": {
			old: gen.CSR("robot", gen.Denied()), sent: gen.CSR("robot", gen.Denied(), gen.Approved()), refused: []string{bothApprovals},
		},
		"approved in place of denied": {
			old: gen.CSR("robot", gen.Denied()), sent: gen.CSR("robot", gen.Approved()), refused: []string{removed("Denied")},
		},
		"no conditions at all drop the verdicts": {
			old: gen.CSR("robot", gen.Approved(), gen.Failed()), sent: gen.CSR("robot"), refused: []string{removed("Approved"), removed("Failed")},
		},
		"a list with the failure alone drops the approval": {
			old: gen.CSR("robot", gen.Approved()), sent: gen.CSR("robot", gen.Failed()), refused: []string{removed("Approved")},
		},
	}
	for sentence, tt := range tests {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			tt.run(t, "approval")
		})
	}
}

// Of two approvers the slower one meets the other's verdict: its version of the object is refused by the store, and
// without a version its verdict is refused here.
func TestApproversRace(t *testing.T) {
	t.Parallel()
	afterTheFaster := gen.CSR("robot", is("Denied", "", long(), long()))

	subresourceTest{old: afterTheFaster, sent: gen.CSR("robot", gen.Approved()), refused: []string{removed("Denied")}}.run(t, "approval")
}
