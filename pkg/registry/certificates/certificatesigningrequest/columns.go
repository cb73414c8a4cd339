// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest

import (
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	certificatesv1beta1 "k8s.io/api/certificates/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/utils/clock"

	"github.com/pinnace-io/pinnace/pkg/registry/table"
)

// none stands in a cell for a field that isn't set.
const none = "<none>"

// Columns show requests in tables.
// Rules: pkg/printers/internalversion/printers.go of k8s.io/kubernetes.
type Columns struct {
	clock clock.PassiveClock
}

// NewColumns returns the columns of requests; ages count up to now.
func NewColumns(now clock.PassiveClock) Columns {
	return Columns{clock: now}
}

// Definitions returns the columns in order. All are shown without -o wide. Their descriptions are those of v1beta1,
// which kube-apiserver still sends for v1; the requestor's is the one of spec.request there.
func (Columns) Definitions() []metav1.TableColumnDefinition {
	meta := metav1.ObjectMeta{}.SwaggerDoc()
	spec := certificatesv1beta1.CertificateSigningRequestSpec{}.SwaggerDoc()
	status := certificatesv1beta1.CertificateSigningRequestStatus{}.SwaggerDoc()
	return []metav1.TableColumnDefinition{
		{Name: "Name", Type: "string", Format: "name", Description: meta["name"]},
		{Name: "Age", Type: "string", Description: meta["creationTimestamp"]},
		{Name: "SignerName", Type: "string", Description: spec["signerName"]},
		{Name: "Requestor", Type: "string", Description: spec["request"]},
		{Name: "RequestedDuration", Type: "string", Description: spec["expirationSeconds"]},
		{Name: "Condition", Type: "string", Description: status["conditions"]},
	}
}

// Cells returns the row of one request.
func (c Columns) Cells(csr *certificatesv1.CertificateSigningRequest) []any {
	signer, requested := none, none
	if csr.Spec.SignerName != "" {
		signer = csr.Spec.SignerName
	}
	if seconds := csr.Spec.ExpirationSeconds; seconds != nil {
		requested = duration.HumanDuration(time.Duration(*seconds) * time.Second)
	}
	return []any{csr.Name, table.Age(c.clock, csr.CreationTimestamp), signer, csr.Spec.Username, requested, summary(&csr.Status)}
}

// summary returns how far a request has come: Denied, Approved or Pending, then whether signing failed and whether
// there is a certificate. A denial outweighs an approval. Any condition of a type counts, whatever its status.
func summary(status *certificatesv1.CertificateSigningRequestStatus) string {
	has := func(conditionType certificatesv1.RequestConditionType) bool {
		return len(indices(status.Conditions, conditionType)) > 0
	}
	text := "Pending"
	switch {
	case has(certificatesv1.CertificateDenied):
		text = "Denied"
	case has(certificatesv1.CertificateApproved):
		text = "Approved"
	}
	if has(certificatesv1.CertificateFailed) {
		text += ",Failed"
	}
	if len(status.Certificate) > 0 {
		text += ",Issued"
	}
	return text
}
