// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// encryption is an EncryptionConfiguration with one key, of 32 bytes.
const encryption = `apiVersion: apiserver.config.k8s.io/v1
kind: EncryptionConfiguration
resources:
- resources: [certificatesigningrequests.certificates.k8s.io]
  providers:
  - secretbox: {keys: [{name: one, secret: MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=}]}
  - identity: {}
`

func TestEncryptionAtRest(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts a server over an etcd that it can read")
	file := filepath.Join(t.TempDir(), "encryption.yaml")
	if err := os.WriteFile(file, []byte(encryption), 0o600); err != nil {
		t.Fatal(err)
	}
	etcd := startEtcd(t)
	config := startEnvironment(t, &envtest.Environment{Args: []string{"--etcd-servers=" + etcd.Endpoints()[0], "--encryption-provider-config=" + file}})
	csr := map[string]any{
		"apiVersion": "certificates.k8s.io/v1", "kind": "CertificateSigningRequest", "metadata": map[string]any{"name": "x"},
		"spec": map[string]any{"request": gen.RobotRequest(), "signerName": "example.com/robot", "usages": []any{"client auth"}},
	}
	const collection = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
	created := mustSend(t, call{config: config, method: http.MethodPost, path: collection, body: csr})
	stored, err := etcd.Get(t.Context(), "/registry/certificatesigningrequests/x")
	if err != nil || len(stored.Kvs) != 1 {
		t.Fatalf("nothing is stored: %v", err)
	}
	if value := stored.Kvs[0].Value; !bytes.HasPrefix(value, []byte("k8s:enc:secretbox:v1:one:")) || bytes.Contains(value, []byte("BEGIN CERTIFICATE")) {
		t.Errorf("what is stored is not encrypted: %q", value)
	}
	read := mustSend(t, call{config: config, method: http.MethodGet, path: collection + "/x"})
	if got, want := fmt.Sprint(read.object), fmt.Sprint(created.object); got != want {
		t.Errorf("read %s, want %s", got, want)
	}
}
