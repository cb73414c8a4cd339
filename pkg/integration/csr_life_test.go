// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/fields"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/certificate/csr"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// clientset is client-go's typed client.
func clientset(t *testing.T) *kubernetes.Clientset {
	t.Helper()
	client, err := kubernetes.NewForConfig(shared.config)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// A certificate is asked for, approved, signed and fetched, with what client-go has for each of the four.
func TestCSRLife(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := clientset(t)
	key := curveKey(t, elliptic.P256())
	request := requestFor(t, key)
	usages := []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageClientAuth}
	signer, hour := "example.com/"+unique("signer"), time.Hour

	name, uid, err := csr.RequestCertificate(client, request, unique("csr"), signer, &hour, usages, key)
	if err != nil {
		t.Fatal(err)
	}
	// To ask again with the same name is to wait for the same answer.
	if again, sameUID, err := csr.RequestCertificate(client, request, name, signer, &hour, usages, key); err != nil || again != name || sameUID != uid {
		t.Fatalf("asked again: %s %s, %v; want %s %s", again, sameUID, err, name, uid)
	}
	waited := make(chan []byte, 1)
	failed := make(chan error, 1)
	go func() {
		certificate, err := csr.WaitForCertificate(ctx, client, name, uid)
		waited <- certificate
		failed <- err
	}()

	object, err := client.CertificatesV1().CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if *object.Spec.ExpirationSeconds != 3600 || !slices.Equal(object.Spec.Usages, usages) || object.Spec.SignerName != signer {
		t.Errorf("spec %v", object.Spec)
	}
	object.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{{
		Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Policy", Message: "a test said so",
	}}
	object, err = client.CertificatesV1().CertificateSigningRequests().UpdateApproval(ctx, name, object, metav1.UpdateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object.Status.Certificate = sign(t, object.Spec.Request)
	if _, err = client.CertificatesV1().CertificateSigningRequests().UpdateStatus(ctx, object, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	certificate, err := <-waited, <-failed
	if err != nil || !bytes.Equal(certificate, object.Status.Certificate) {
		t.Fatalf("waited for the certificate: %v, %q", err, certificate)
	}
	block, _ := pem.Decode(certificate)
	parsed, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	if parsed.Subject.CommonName != "robot-17" || !key.PublicKey.Equal(parsed.PublicKey) {
		t.Errorf("certificate for %s, another key: %t", parsed.Subject, !key.PublicKey.Equal(parsed.PublicKey))
	}
}

// sign answers a PKCS#10 request with a certificate of a CA that is made for it.
func sign(t *testing.T, request []byte) []byte {
	t.Helper()
	block, _ := pem.Decode(request)
	parsed, err := x509.ParseCertificateRequest(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(7), Subject: parsed.Subject, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, parsed.PublicKey, curveKey(t, elliptic.P256()))
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})
}

// Who waits for a certificate is told of a denial and of a failure.
func TestCSRWaitForRefusal(t *testing.T) {
	t.Parallel()
	for kind, want := range map[string]string{
		"Denied": "certificate signing request is denied, reason: Because, message: text",
		"Failed": "certificate signing request failed, reason: Because, message: text",
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			name, created := newCSR(t)
			client, failed := clientset(t), make(chan error, 1)
			go func() {
				_, err := csr.WaitForCertificate(ctx, client, name, types.UID(created.text("metadata.uid")))
				failed <- err
			}()
			writeConditions(t, name, condition(kind, "reason", "Because", "message", "text"))
			if err := <-failed; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got the error %v, want %s", err, want)
			}
		})
	}
}

// An informer with a signer's selector is in sync at once, also when there is nothing, and sees what follows.
func TestCSRInformer(t *testing.T) {
	t.Parallel()
	client := clientset(t)
	for about, before := range map[string]int{"nothing there": 0, "two there": 2} {
		t.Run(about, func(t *testing.T) {
			t.Parallel()
			signer := "example.com/" + unique("signer")
			for range before {
				newCSR(t, gen.WithSigner(signer))
			}
			factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithTweakListOptions(func(options *metav1.ListOptions) {
				options.FieldSelector = fields.OneTermEqualSelector("spec.signerName", signer).String()
			}))
			informer := factory.Certificates().V1().CertificateSigningRequests()
			seen := make(chan string, 10)
			if _, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
				AddFunc:    func(obj any) { seen <- "added " + obj.(metav1.Object).GetName() },
				UpdateFunc: func(_, obj any) { seen <- "updated " + obj.(metav1.Object).GetName() },
				DeleteFunc: func(obj any) { seen <- "deleted " + obj.(metav1.Object).GetName() },
			}); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer cancel()
			factory.Start(ctx.Done())
			if !cache.WaitForCacheSync(ctx.Done(), informer.Informer().HasSynced) {
				t.Fatal("the informer did not get in sync")
			}
			if got := len(informer.Informer().GetStore().List()); got != before {
				t.Errorf("%d objects in the store, want %d", got, before)
			}
			expect := func(want string) {
				t.Helper()
				for {
					select {
					case got := <-seen:
						if got == want {
							return
						}
					case <-ctx.Done():
						t.Fatalf("%q was not seen", want)
					}
				}
			}
			name, _ := newCSR(t, gen.WithSigner(signer))
			expect("added " + name)
			approve(t, name)
			expect("updated " + name)
			if err := client.CertificatesV1().CertificateSigningRequests().Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
			expect("deleted " + name)
			if _, err := client.CertificatesV1().CertificateSigningRequests().Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				t.Errorf("got %v, want not found", err)
			}
		})
	}
}
