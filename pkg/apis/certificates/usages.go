// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"slices"

	certificatesv1 "k8s.io/api/certificates/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// knownUsages returns the key usages that v1 knows (RFC 5280, sections 4.2.1.3 and 4.2.1.12, and two of old browsers),
// in alphabetical order: that is how the refusal of another one lists them.
func knownUsages() []certificatesv1.KeyUsage {
	return []certificatesv1.KeyUsage{
		certificatesv1.UsageAny,
		certificatesv1.UsageCertSign,
		certificatesv1.UsageClientAuth,
		certificatesv1.UsageCodeSigning,
		certificatesv1.UsageContentCommitment,
		certificatesv1.UsageCRLSign,
		certificatesv1.UsageDataEncipherment,
		certificatesv1.UsageDecipherOnly,
		certificatesv1.UsageDigitalSignature,
		certificatesv1.UsageEmailProtection,
		certificatesv1.UsageEncipherOnly,
		certificatesv1.UsageIPsecEndSystem,
		certificatesv1.UsageIPsecTunnel,
		certificatesv1.UsageIPsecUser,
		certificatesv1.UsageKeyAgreement,
		certificatesv1.UsageKeyEncipherment,
		certificatesv1.UsageMicrosoftSGC,
		certificatesv1.UsageNetscapeSGC,
		certificatesv1.UsageOCSPSigning,
		certificatesv1.UsageSMIME,
		certificatesv1.UsageServerAuth,
		certificatesv1.UsageSigning,
		certificatesv1.UsageTimestamping,
	}
}

func validateUsages(usages []certificatesv1.KeyUsage, tolerated tolerances, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(usages) == 0 {
		errs = append(errs, field.Required(path, ""))
	}
	if !tolerated.unknownUsages {
		known := knownUsages()
		for i, usage := range usages {
			if !slices.Contains(known, usage) {
				errs = append(errs, field.NotSupported(path.Index(i), usage, known))
			}
		}
	}
	if !tolerated.duplicateUsages {
		seen := sets.New[certificatesv1.KeyUsage]()
		for i, usage := range usages {
			if seen.Has(usage) {
				errs = append(errs, field.Duplicate(path.Index(i), usage))
			}
			seen.Insert(usage)
		}
	}
	return errs
}

func hasUnknownUsage(usages []certificatesv1.KeyUsage) bool {
	known := knownUsages()
	return slices.ContainsFunc(usages, func(usage certificatesv1.KeyUsage) bool {
		return !slices.Contains(known, usage)
	})
}

func hasDuplicateUsage(usages []certificatesv1.KeyUsage) bool {
	return sets.New(usages...).Len() < len(usages)
}
