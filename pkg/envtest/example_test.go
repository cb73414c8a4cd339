// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package envtest_test

import (
	"context"
	"fmt"
	"os"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/envtest"
)

func ExampleEnvironment() {
	if err := requestCertificate(context.Background()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
	// Output:
	// robot asks for example.com/robot as kubernetes-admin
}

// requestCertificate asks a server of its own for a certificate.
func requestCertificate(ctx context.Context) (err error) {
	environment := &envtest.Environment{}
	config, err := environment.Start(ctx)
	if err != nil {
		return err
	}
	defer func() {
		if stopErr := environment.Stop(ctx); err == nil {
			err = stopErr
		}
	}()
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	csr, err := client.CertificatesV1().CertificateSigningRequests().Create(ctx, gen.CSR("robot"), metav1.CreateOptions{})
	if err != nil {
		return err
	}
	fmt.Println(csr.Name, "asks for", csr.Spec.SignerName, "as", csr.Spec.Username)
	return nil
}
