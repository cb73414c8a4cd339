// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// kubectlVariable names the kubectl to use instead of that on the PATH.
const kubectlVariable = "KUBECTL"

// kubectlFor returns a function that runs kubectl as the administrator and returns what it printed on both outputs. A
// machine without kubectl skips the test.
func kubectlFor(t *testing.T) func(arguments ...string) (string, error) {
	t.Helper()
	program := os.Getenv(kubectlVariable)
	if program == "" {
		found, err := exec.LookPath("kubectl")
		if err != nil {
			t.Skip("there is no kubectl, neither on the PATH nor in " + kubectlVariable)
		}
		program = found
	}
	dir := t.TempDir()
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(kubeconfigOf(shared.config), kubeconfig); err != nil {
		t.Fatal(err)
	}
	return func(arguments ...string) (string, error) {
		command := exec.CommandContext(t.Context(), program, arguments...)
		command.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "HOME="+dir)
		out, err := command.CombinedOutput()
		return string(out), err
	}
}

// kubeconfigOf puts a client's configuration into the form of a file.
func kubeconfigOf(c *rest.Config) clientcmdapi.Config {
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{
		Server: c.Host, CertificateAuthority: c.CAFile, CertificateAuthorityData: c.CAData, InsecureSkipTLSVerify: c.Insecure, TLSServerName: c.ServerName,
	}
	config.AuthInfos["test"] = &clientcmdapi.AuthInfo{
		ClientCertificate: c.CertFile, ClientCertificateData: c.CertData, ClientKey: c.KeyFile, ClientKeyData: c.KeyData, Token: c.BearerToken, TokenFile: c.BearerTokenFile,
	}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	config.CurrentContext = "test"
	return *config
}

// TestOpenAPIExplain shows kubectl explain: it finds each kind, by every name it has, and its fields.
func TestOpenAPIExplain(t *testing.T) {
	t.Parallel()
	kubectl := kubectlFor(t)
	daemonSet := []string{"GROUP:      apps\n", "KIND:       DaemonSet\n", "VERSION:    v1\n"}
	request := []string{"GROUP:      certificates.k8s.io\n", "KIND:       CertificateSigningRequest\n", "VERSION:    v1\n"}
	namespace := []string{"KIND:       Namespace\n", "VERSION:    v1\n"}
	cases := map[string][]string{
		"ds":              append([]string{"DaemonSet represents the configuration of a daemon set."}, daemonSet...),
		"daemonsets.apps": daemonSet,
		"DaemonSet":       daemonSet,
		"daemonset.spec":  append([]string{"FIELD: spec <DaemonSetSpec>\n", "  minReadySeconds\t<integer>\n", "  template\t<PodTemplateSpec> -required-\n"}, daemonSet...),
		"ds.spec.updateStrategy": append([]string{"FIELD: updateStrategy <DaemonSetUpdateStrategy>\n", "  rollingUpdate\t<RollingUpdateDaemonSet>\n", "  type\t<string>\n  enum: OnDelete, RollingUpdate\n",
			" - `\"OnDelete\"` Replace the old daemons only when it's killed\n"}, daemonSet...),
		"ds.spec.template.spec.containers.ports": append([]string{"FIELD: ports <[]ContainerPort>\n", "  protocol\t<string>\n  enum: SCTP, TCP, UDP\n"}, daemonSet...),
		"csr":                                    append([]string{"CertificateSigningRequest objects provide a mechanism to obtain x509"}, request...),
		"csr.status.conditions":                  append([]string{"FIELD: conditions <[]CertificateSigningRequestCondition>\n", "  type\t<string> -required-\n"}, request...),
		"csr.spec":                               append([]string{"  request\t<string> -required-\n", "  signerName\t<string> -required-\n", "  usages\t<[]string>\n"}, request...),
		"ns":                                     namespace,
		"ns.status":                              append([]string{"  phase\t<string>\n  enum: Active, Terminating\n"}, namespace...),
		"controllerrevisions":                    {"KIND:       ControllerRevision\n", "  data\t<RawExtension> -required-\n", "  revision\t<integer>\n"},
	}
	for what, parts := range cases {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			out, err := kubectl("explain", what)
			if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			for _, part := range parts {
				if !strings.Contains(out, part) {
					t.Errorf("the text has no %q:\n%s", part, out)
				}
			}
		})
	}
	for _, what := range []string{"csr.spec.bogus", "ds.bogus"} {
		out, err := kubectl("explain", what)
		if err == nil || !strings.HasSuffix(out, "\n\nerror: field \"bogus\" does not exist\n") {
			t.Errorf("%s: %v: %s", what, err, out)
		}
	}
}

// TestOpenAPIExplainOtherForms shows the whole tree, and the form made from version 2.
func TestOpenAPIExplainOtherForms(t *testing.T) {
	t.Parallel()
	kubectl := kubectlFor(t)
	for _, kind := range []string{"daemonsets", "certificatesigningrequests"} {
		out, err := kubectl("explain", kind, "--recursive")
		if err != nil || !strings.Contains(out, "\n  spec\t") || !strings.Contains(out, "\n    ") {
			t.Errorf("%s: %v: %s", kind, err, out)
		}
		out, err = kubectl("explain", kind, "--output=plaintext-openapiv2")
		if err != nil || !strings.HasPrefix(out, "KIND:     ") || !strings.Contains(out, "\nVERSION:  ") || !strings.Contains(out, "\nFIELDS:\n") {
			t.Errorf("%s by version 2: %v: %s", kind, err, out)
		}
	}
}

// TestOpenAPIResources shows kubectl api-resources.
func TestOpenAPIResources(t *testing.T) {
	t.Parallel()
	kubectl := kubectlFor(t)
	out, err := kubectl("api-resources", "-o", "wide", "--no-headers")
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	all := "create,delete,deletecollection,get,list,patch,update,watch"
	want := map[string]string{
		"namespaces":                 "namespaces ns v1 false Namespace create,delete,get,list,patch,update,watch",
		"controllerrevisions":        "controllerrevisions apps/v1 true ControllerRevision " + all,
		"daemonsets":                 "daemonsets ds apps/v1 true DaemonSet " + all + " all",
		"certificatesigningrequests": "certificatesigningrequests csr certificates.k8s.io/v1 false CertificateSigningRequest " + all,
	}
	got := map[string]string{}
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if _, ok := want[fields[0]]; ok || !shared.foreign {
			got[fields[0]] = strings.Join(fields, " ")
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestOpenAPIClientSide shows what kubectl does with the schemas itself: it refuses unknown fields, and merges lists
// by their keys.
func TestOpenAPIClientSide(t *testing.T) {
	t.Parallel()
	kubectl := kubectlFor(t)
	s := daemonSetSubject(t)
	name := unique("o")
	file := filepath.Join(t.TempDir(), "ds.yaml")
	write := func(containers string) {
		t.Helper()
		text := fmt.Sprintf("apiVersion: apps/v1\nkind: DaemonSet\nmetadata: {name: %s, namespace: %s}\nspec:\n  selector: {matchLabels: {app: x}}\n"+
			"  template:\n    metadata: {labels: {app: x}}\n    spec:\n      containers:\n%s", name, s.namespace, containers)
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("      - {name: c, image: \"img:1\", bogus: 1}\n")
	out, err := kubectl("apply", "-f", file)
	if err == nil || !strings.Contains(out, `strict decoding error: unknown field "spec.template.spec.containers[0].bogus"`) {
		t.Errorf("an unknown field: %v: %s", err, out)
	}
	write("      - {name: c, image: \"img:1\"}\n")
	if out, err = kubectl("apply", "-f", file); err != nil || out != "daemonset.apps/"+name+" created\n" {
		t.Fatalf("apply: %v: %s", err, out)
	}
	write("      - {name: c, image: \"img:2\"}\n      - {name: d, image: \"img:3\"}\n")
	if out, err = kubectl("apply", "-f", file); err != nil || out != "daemonset.apps/"+name+" configured\n" {
		t.Errorf("apply: %v: %s", err, out)
	}
	a := s.get(t, name)
	if a.text("spec.template.spec.containers.0.image") != "img:2" || a.text("spec.template.spec.containers.1.image") != "img:3" {
		t.Errorf("got %s", a.raw)
	}
	if out, err = kubectl("apply", "-f", file, "--dry-run=server", "--server-side", "--force-conflicts"); err != nil || !strings.HasSuffix(out, "daemonset.apps/"+name+" serverside-applied (server dry run)\n") {
		t.Errorf("server-side: %v: %s", err, out)
	}
}
