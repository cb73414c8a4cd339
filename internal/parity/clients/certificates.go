// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/certificate"
)

// signer is the name of a signer that no other run uses.
func (s *script) signer() string { return "example.com/" + s.namespace }

func subject() pkix.Name {
	return pkix.Name{Organization: []string{"dev-team"}, CommonName: "robot-17"}
}

// newRequest makes a key and a request that is signed with it.
func (s *script) newRequest(name string) (*certificatesv1.CertificateSigningRequest, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: subject()}, key)
	if err != nil {
		return nil, err
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: s.signer(),
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageClientAuth},
		},
	}, nil
}

// authority is a CA for this run alone. It counts what it has signed.
type authority struct {
	key         *ecdsa.PrivateKey
	certificate *x509.Certificate
	signed      int64
}

func newAuthority() (*authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1000), Subject: pkix.Name{CommonName: "throwaway"}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-24 * time.Hour), NotAfter: time.Now().Add(24 * time.Hour), KeyUsage: x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		return nil, err
	}
	parsed, err := x509.ParseCertificate(der)
	return &authority{key: key, certificate: parsed}, err
}

// sign signs a request. The certificate was made some time ago, so that its age makes the holder ask for another.
func (a *authority) sign(request []byte, age, rest time.Duration) ([]byte, error) {
	block, _ := pem.Decode(request)
	if block == nil {
		return nil, errors.New("the request is no PEM")
	}
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		return nil, err
	}
	a.signed++
	template := &x509.Certificate{SerialNumber: big.NewInt(a.signed), Subject: parsed.Subject, DNSNames: parsed.DNSNames,
		NotBefore: time.Now().Add(-age), NotAfter: time.Now().Add(rest),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}}
	der, err := x509.CreateCertificate(rand.Reader, template, a.certificate, parsed.PublicKey, a.key)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), nil
}

// certificateManager lets client-go's certificate manager ask for a certificate, gives it one that is about to expire,
// and then another.
func (s *script) certificateManager(ctx context.Context) (err error) {
	client, err := s.clientset(runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	ca, err := newAuthority()
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "clients-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := certificate.NewFileStore("robot", dir, dir, "", "")
	if err != nil {
		return err
	}
	life := time.Hour
	manager, err := certificate.NewManager(&certificate.Config{
		ClientsetFn:                  func(*tls.Certificate) (kubernetes.Interface, error) { return client, nil },
		Template:                     &x509.CertificateRequest{Subject: subject()},
		SignerName:                   s.signer(),
		RequestedCertificateLifetime: &life,
		Usages:                       []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth},
		CertificateStore:             store,
		Name:                         "robot",
		Ctx:                          &ctx,
	})
	if err != nil {
		return err
	}
	// Once the manager has the second one it sleeps until that one is old, and Stop ends it.
	manager.Start()
	defer manager.Stop()
	if err := s.serveManager(ctx, client, ca, 10*time.Hour); err != nil {
		return err
	}
	if err := s.serveManager(ctx, client, ca, 0); err != nil {
		return err
	}
	current, err := awaitSerial(ctx, manager, ca.signed)
	if err != nil {
		return err
	}
	s.say("the manager has certificate %v of %s, issued by %s", current.Leaf.SerialNumber, current.Leaf.Subject, current.Leaf.Issuer)
	stored, err := store.Current()
	if err != nil {
		return err
	}
	s.say("and it is stored: %t", stored.Leaf.Equal(current.Leaf))
	return client.CertificatesV1().CertificateSigningRequests().DeleteCollection(ctx, metav1.DeleteOptions{},
		metav1.ListOptions{FieldSelector: "spec.signerName=" + s.signer()})
}

// serveManager waits for a request of the manager, approves it, and signs a certificate of some age.
func (s *script) serveManager(ctx context.Context, client kubernetes.Interface, ca *authority, age time.Duration) error {
	requests := client.CertificatesV1().CertificateSigningRequests()
	request, err := s.awaitRequest(ctx, client)
	if err != nil {
		return err
	}
	s.show("the manager asks", request, nil)
	request.Status.Conditions = append(request.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Tested", Message: "by a script"})
	if request, err = requests.UpdateApproval(ctx, request.Name, request, metav1.UpdateOptions{}); err != nil {
		return err
	}
	if request.Status.Certificate, err = ca.sign(request.Spec.Request, age, 10*time.Minute); err != nil {
		return err
	}
	request, err = requests.UpdateStatus(ctx, request, metav1.UpdateOptions{})
	s.show("it is given a certificate", request, err)
	return err
}

// awaitRequest waits for a request that was not answered yet.
func (s *script) awaitRequest(ctx context.Context, client kubernetes.Interface) (*certificatesv1.CertificateSigningRequest, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	w, err := client.CertificatesV1().CertificateSigningRequests().Watch(ctx, metav1.ListOptions{FieldSelector: "spec.signerName=" + s.signer()})
	if err != nil {
		return nil, err
	}
	defer w.Stop()
	for event := range w.ResultChan() {
		request, ok := event.Object.(*certificatesv1.CertificateSigningRequest)
		if !ok {
			return nil, fmt.Errorf("the watch tells %s %v", event.Type, event.Object)
		}
		if event.Type == watch.Added && len(request.Status.Conditions) == 0 {
			return request, nil
		}
	}
	return nil, errors.New("there is no request")
}

// awaitSerial waits until the manager has a certificate of a number.
func awaitSerial(ctx context.Context, manager certificate.Manager, serial int64) (*tls.Certificate, error) {
	ctx, cancel := context.WithTimeout(ctx, waitTimeout)
	defer cancel()
	for {
		if current := manager.Current(); current != nil && current.Leaf.SerialNumber.Int64() == serial {
			return current, nil
		}
		select {
		case <-ctx.Done():
			return nil, errors.New("the manager does not pick the certificate up")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
