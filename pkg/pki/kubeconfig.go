// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"

	clientcmdv1 "k8s.io/client-go/tools/clientcmd/api/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/yaml"
)

// clusterName is how the cluster and its context are called in a kubeconfig.
const clusterName = "pinnace"

// WriteKubeconfig writes a kubeconfig with which the administrator reaches the server at an https URL. It holds the
// certificates and the key, has mode 0600, and replaces the file that is there. trusted are further PEM certificates
// that the client accepts of the server, besides those of the bundle's CA: of a server that shows a certificate of
// its user's, for example.
func (b *Bundle) WriteKubeconfig(path, serverURL string, trusted ...[]byte) error {
	return b.writeKubeconfig(realEnv(clock.RealClock{}), path, serverURL, trusted...)
}

func (b *Bundle) writeKubeconfig(env env, path, serverURL string, trusted ...[]byte) error {
	if err := validateServer(serverURL); err != nil {
		return fmt.Errorf("kubeconfig %s: server %q: %w", path, serverURL, err)
	}
	authorities := bytes.Join(append([][]byte{b.CA.CertPEM}, trusted...), []byte("\n"))
	content, err := yaml.Marshal(clientcmdv1.Config{
		APIVersion: clientcmdv1.SchemeGroupVersion.String(),
		Kind:       "Config",
		Clusters: []clientcmdv1.NamedCluster{{
			Name:    clusterName,
			Cluster: clientcmdv1.Cluster{Server: serverURL, CertificateAuthorityData: authorities},
		}},
		AuthInfos: []clientcmdv1.NamedAuthInfo{{
			Name:     adminName,
			AuthInfo: clientcmdv1.AuthInfo{ClientCertificateData: b.Admin.CertPEM, ClientKeyData: b.Admin.KeyPEM},
		}},
		Contexts: []clientcmdv1.NamedContext{{
			Name:    clusterName,
			Context: clientcmdv1.Context{Cluster: clusterName, AuthInfo: adminName},
		}},
		CurrentContext: clusterName,
	})
	if err != nil {
		return fmt.Errorf("kubeconfig %s: %w", path, err)
	}
	return env.writeFile(path, content, keyMode)
}

func validateServer(serverURL string) error {
	parsed, err := url.Parse(serverURL)
	switch {
	case err != nil:
		return errors.Unwrap(err) // without the URL, which the caller names
	case parsed.Scheme != "https" || parsed.Host == "":
		return errors.New("not an https URL")
	}
	return nil
}
