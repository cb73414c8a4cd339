// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package certificatesigningrequest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/storage/names"
	"k8s.io/klog/v2"
	clocktesting "k8s.io/utils/clock/testing"

	"github.com/pinnace-io/pinnace/pkg/apis/certificates"
	"github.com/pinnace-io/pinnace/pkg/registry/certificates/certificatesigningrequest"
)

// now is what the strategies' clock shows. It is also when time starts in a bubble of testing/synctest, so that there
// the clock that upstream reads shows the same.
func now() time.Time { return time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC) }

// decisions are what a strategy of this package decides.
type decisions interface {
	PrepareForCreate(ctx context.Context, csr *certificatesv1.CertificateSigningRequest)
	Validate(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) field.ErrorList
	WarningsOnCreate(ctx context.Context, csr *certificatesv1.CertificateSigningRequest) []string
	Canonicalize(csr *certificatesv1.CertificateSigningRequest)
	PrepareForUpdate(ctx context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest)
	ValidateUpdate(ctx context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) field.ErrorList
	WarningsOnUpdate(ctx context.Context, newCSR, oldCSR *certificatesv1.CertificateSigningRequest) []string
	AllowCreateOnUpdate(ctx context.Context) bool
	AllowUnconditionalUpdate(ctx context.Context) bool
}

// endpoint puts decisions before the registry as a generated adapter does.
type endpoint struct {
	rest.DeclarativeValidation
	names.NameGenerator
	decisions decisions
}

var (
	_ rest.RESTCreateStrategy            = endpoint{}
	_ rest.RESTUpdateStrategy            = endpoint{}
	_ rest.DeclarativeValidationStrategy = endpoint{}
)

func (endpoint) NamespaceScoped() bool { return false }

func (e endpoint) PrepareForCreate(ctx context.Context, obj runtime.Object) {
	e.decisions.PrepareForCreate(ctx, obj.(*certificatesv1.CertificateSigningRequest))
}

func (e endpoint) Validate(ctx context.Context, obj runtime.Object) field.ErrorList {
	return e.decisions.Validate(ctx, obj.(*certificatesv1.CertificateSigningRequest))
}

func (e endpoint) WarningsOnCreate(ctx context.Context, obj runtime.Object) []string {
	return e.decisions.WarningsOnCreate(ctx, obj.(*certificatesv1.CertificateSigningRequest))
}

func (e endpoint) Canonicalize(obj runtime.Object) {
	e.decisions.Canonicalize(obj.(*certificatesv1.CertificateSigningRequest))
}

func (e endpoint) PrepareForUpdate(ctx context.Context, obj, old runtime.Object) {
	e.decisions.PrepareForUpdate(ctx, obj.(*certificatesv1.CertificateSigningRequest), old.(*certificatesv1.CertificateSigningRequest))
}

func (e endpoint) ValidateUpdate(ctx context.Context, obj, old runtime.Object) field.ErrorList {
	return e.decisions.ValidateUpdate(ctx, obj.(*certificatesv1.CertificateSigningRequest), old.(*certificatesv1.CertificateSigningRequest))
}

func (e endpoint) WarningsOnUpdate(ctx context.Context, obj, old runtime.Object) []string {
	return e.decisions.WarningsOnUpdate(ctx, obj.(*certificatesv1.CertificateSigningRequest), old.(*certificatesv1.CertificateSigningRequest))
}

func (e endpoint) AllowCreateOnUpdate(ctx context.Context) bool {
	return e.decisions.AllowCreateOnUpdate(ctx)
}

func (e endpoint) AllowUnconditionalUpdate(ctx context.Context) bool {
	return e.decisions.AllowUnconditionalUpdate(ctx)
}

// newEndpoint returns the endpoint of a subresource, "" for the main one.
func newEndpoint(t *testing.T, subresource string) endpoint {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := certificates.Install(scheme, certificatesv1.SchemeGroupVersion); err != nil {
		t.Fatal(err)
	}
	clock := clocktesting.NewFakePassiveClock(now())
	main := certificatesigningrequest.NewStrategy()
	e := endpoint{DeclarativeValidation: rest.DeclarativeValidation{Scheme: scheme}, NameGenerator: names.SimpleNameGenerator, decisions: main}
	switch subresource {
	case "status":
		e.decisions = certificatesigningrequest.NewStatusStrategy(main, clock)
	case "approval":
		e.decisions = certificatesigningrequest.NewApprovalStrategy(main, clock)
	}
	return e
}

// requestContext returns the context of a request to a subresource, "" for the main endpoint. requestor may be nil. What
// the registry logs about rules that upstream has both declared and written is dropped.
func requestContext(ctx context.Context, subresource string, requestor user.Info) context.Context {
	ctx = klog.NewContext(ctx, klog.Logger{})
	ctx = genericapirequest.WithNamespace(ctx, metav1.NamespaceNone)
	ctx = genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		IsResourceRequest: true, APIGroup: "certificates.k8s.io", APIVersion: "v1", Resource: "certificatesigningrequests", Subresource: subresource,
	})
	if requestor != nil {
		ctx = genericapirequest.WithUser(ctx, requestor)
	}
	return ctx
}

// causes returns what a client reads about each field that is wrong, nil for no error.
func causes(t *testing.T, err error) []string {
	t.Helper()
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !apierrors.IsInvalid(err) {
		t.Fatalf("error %v, want one of validation", err)
	}
	var texts []string
	for _, cause := range status.Status().Details.Causes {
		texts = append(texts, cause.Field+": "+cause.Message)
	}
	return texts
}
