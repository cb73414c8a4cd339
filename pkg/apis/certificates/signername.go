// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificates

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// LegacyUnknownSignerName is the signer of requests that named none under certificates.k8s.io/v1beta1. v1 refuses it
// in new requests and tolerates it in stored ones.
const LegacyUnknownSignerName = "kubernetes.io/legacy-unknown"

const (
	maxSignerDomainLength = validation.DNS1123SubdomainMaxLength
	// A signer's path leaves room for "<namespace>.<name>": a label, a dot, a subdomain.
	maxSignerPathLength = validation.DNS1123LabelMaxLength + 1 + validation.DNS1123SubdomainMaxLength
	maxSignerNameLength = maxSignerDomainLength + 1 + maxSignerPathLength
)

// ValidateSignerName returns what is wrong with the name of a signer, which has the form "domain/path". The domain is
// two or more DNS labels (RFC 1123), at most 253 bytes; the path is DNS subdomains separated by dots; the whole is at
// most 571 bytes. Of a domain or a path only the first wrong label is reported.
// Rule: ValidateSignerName in pkg/apis/core/validation/names.go of k8s.io/kubernetes.
func ValidateSignerName(name string, path *field.Path) field.ErrorList {
	if name == "" {
		return field.ErrorList{field.Required(path, "")}
	}
	domain, rest, found := strings.Cut(name, "/")
	if !found || strings.Contains(rest, "/") {
		return field.ErrorList{field.Invalid(path, name, "must be a fully qualified domain and path of the form 'example.com/signer-name'")}
	}

	errs := validateSignerDomain(domain, path)
	errs = append(errs, firstBadLabel(rest, validation.IsDNS1123Subdomain, path)...)
	if len(name) > maxSignerNameLength {
		errs = append(errs, field.TooLong(path, name, maxSignerNameLength))
	}
	return errs
}

func validateSignerDomain(domain string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if len(domain) > maxSignerDomainLength {
		errs = append(errs, field.TooLong(path, domain, maxSignerDomainLength))
	}
	errs = append(errs, firstBadLabel(domain, validation.IsDNS1123Label, path)...)
	if !strings.Contains(domain, ".") {
		errs = append(errs, field.Invalid(path, domain, "should be a domain with at least two segments separated by dots"))
	}
	return errs
}

// firstBadLabel returns what check says against the first dot-separated label of segment that it refuses. Messages
// about further labels could not be told from it: they carry the same field and value.
func firstBadLabel(segment string, check func(string) []string, path *field.Path) field.ErrorList {
	for label := range strings.SplitSeq(segment, ".") {
		problems := check(label)
		if len(problems) == 0 {
			continue
		}
		var errs field.ErrorList
		for _, problem := range problems {
			errs = append(errs, field.Invalid(path, segment, fmt.Sprintf("validating label %q: %s", label, problem)))
		}
		return errs
	}
	return nil
}
