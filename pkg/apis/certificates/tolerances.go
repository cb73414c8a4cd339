// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import certificatesv1 "k8s.io/api/certificates/v1"

// tolerances are the faults that an update may carry on because the stored object has them: rules are younger than
// some objects, and whoever edits a label did not make the fault. The zero value tolerates nothing.
type tolerances struct {
	// legacySignerName allows "kubernetes.io/legacy-unknown".
	legacySignerName bool
	// unknownUsages allows usages outside the known set.
	unknownUsages bool
	// duplicateUsages allows a usage to be named twice.
	duplicateUsages bool
	// emptyConditionType allows conditions of type "".
	emptyConditionType bool
	// duplicateConditionTypes allows two conditions of one type.
	duplicateConditionTypes bool
	// bothApprovedAndDenied allows the two side by side.
	bothApprovedAndDenied bool
	// arbitraryCertificate allows anything in status.certificate.
	arbitraryCertificate bool
}

// tolerancesFor returns what is tolerated in changes of oldCSR.
func tolerancesFor(oldCSR *certificatesv1.CertificateSigningRequest) tolerances {
	conditions := oldCSR.Status.Conditions
	return tolerances{
		legacySignerName:        oldCSR.Spec.SignerName == LegacyUnknownSignerName,
		unknownUsages:           hasUnknownUsage(oldCSR.Spec.Usages),
		duplicateUsages:         hasDuplicateUsage(oldCSR.Spec.Usages),
		emptyConditionType:      hasCondition(conditions, ""),
		duplicateConditionTypes: hasDuplicateConditionType(conditions),
		bothApprovedAndDenied:   hasCondition(conditions, certificatesv1.CertificateApproved) && hasCondition(conditions, certificatesv1.CertificateDenied),
		arbitraryCertificate:    checkCertificate(oldCSR.Status.Certificate) != nil,
	}
}
