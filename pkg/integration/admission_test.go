// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"net/http"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/internal/gen"
	"github.com/pinnace-io/pinnace/pkg/controllers/systemnamespaces"
	"github.com/pinnace-io/pinnace/pkg/envtest"
)

// immortal are the namespaces that nobody deletes.
func immortal() []string { return []string{"default", "kube-system", "kube-public"} }

// noDeletion is the failure of a deletion of one of them.
func noDeletion(name string) failure {
	return failure{
		code: http.StatusForbidden, reason: "Forbidden", message: `namespaces "` + name + `" is forbidden: this namespace may not be deleted`,
		details: "{name: " + name + ", kind: namespaces}",
	}
}

// noContent is the failure of a creation in a namespace that is going away.
func noContent(resource, name, namespace string) failure {
	return failure{
		code: http.StatusForbidden, reason: "Forbidden",
		message: resource + `.apps "` + name + `" is forbidden: unable to create new content in namespace ` + namespace + " because it is being terminated",
		details: `{name: "` + name + `", group: apps, kind: ` + resource + `, causes: [{reason: NamespaceTerminating,
			message: namespace ` + namespace + ` is being terminated, field: metadata.namespace}]}`,
	}
}

func revision(name string) map[string]any {
	return map[string]any{
		"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": map[string]any{"name": name}, "revision": 1, "data": map[string]any{"a": "b"},
	}
}

func TestSystemNamespaces(t *testing.T) {
	t.Parallel()
	for _, name := range systemnamespaces.Names() {
		got := mustSend(t, get(namespacePath(name)))
		wantNamespace(t, got, http.StatusOK, name)
		wantField(t, got, "metadata.managedFields.0.manager", "kube-apiserver")
	}
}

func TestImmortalNamespaces(t *testing.T) {
	t.Parallel()
	for _, name := range immortal() {
		before := mustSend(t, get(namespacePath(name)))
		for sentence, query := range map[string]string{"a deletion": "", "a dry run": "?dryRun=All", "in the foreground": "?propagationPolicy=Foreground"} {
			t.Run(name+": "+sentence, func(t *testing.T) {
				wantFailure(t, send(t, call{method: http.MethodDelete, path: namespacePath(name) + query}), noDeletion(name))
			})
		}
		unchanged(t, before, mustSend(t, get(namespacePath(name))))
	}
	wantNamespace(t, send(t, call{method: http.MethodDelete, path: namespacePath("kube-node-lease") + "?dryRun=All"}), http.StatusOK, "kube-node-lease", terminating())
	missing := unique("ns")
	wantFailure(t, send(t, call{method: http.MethodDelete, path: namespacePath(missing)}), noNamespace(missing))
}

// TestMissingNamespace: what creates is refused, what looks finds nothing.
func TestMissingNamespace(t *testing.T) {
	t.Parallel()
	namespace := unique("missing")
	sets, revisions := daemonSetsPath(namespace), revisionsPath(namespace)
	invalidSet := daemonSet(t, "x", spec("{selector: null}"))
	for sentence, test := range map[string]struct {
		call call
		want failure
	}{
		"a DaemonSet":          {call{method: http.MethodPost, path: sets, body: daemonSet(t, "x")}, noNamespace(namespace)},
		"a dry run":            {call{method: http.MethodPost, path: sets + "?dryRun=All", body: daemonSet(t, "x")}, noNamespace(namespace)},
		"a generated name":     {call{method: http.MethodPost, path: sets, body: daemonSet(t, "x", meta("{name: null, generateName: x-}"))}, noNamespace(namespace)},
		"an invalid DaemonSet": {call{method: http.MethodPost, path: sets, body: invalidSet}, noNamespace(namespace)},
		"a revision":           {call{method: http.MethodPost, path: revisions, body: revision("x")}, noNamespace(namespace)},
		"an apply":             {patch(applyPatch, sets+"/x?fieldManager=a", daemonSet(t, "x")), noNamespace(namespace)},
		"a replacement":        {call{method: http.MethodPut, path: sets + "/x", body: daemonSet(t, "x")}, notFound("x")},
		"a patch":              {patch(mergePatch, sets+"/x", `{"metadata":{"labels":{"a":"b"}}}`), notFound("x")},
		"a read":               {get(sets + "/x"), notFound("x")},
		"a deletion":           {call{method: http.MethodDelete, path: sets + "/x"}, notFound("x")},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			wantFailure(t, send(t, test.call), test.want)
		})
	}
	t.Run("the namespace of the body comes first", func(t *testing.T) {
		t.Parallel()
		wantFailure(t, send(t, call{method: http.MethodPost, path: sets, body: daemonSet(t, "x", meta("{namespace: other}"))}), failure{
			code: http.StatusBadRequest, reason: "BadRequest", message: "the namespace of the provided object does not match the namespace sent on the request",
		})
	})
	t.Run("lists and deletions of all are empty", func(t *testing.T) {
		t.Parallel()
		for _, method := range []string{http.MethodGet, http.MethodDelete} {
			wantField(t, mustSend(t, call{method: method, path: sets}, http.StatusOK), "items", "[]")
		}
	})
}

// TestFreshNamespace: the plugin's cache lags behind, and nobody sees it.
func TestFreshNamespace(t *testing.T) {
	t.Parallel()
	for range 20 {
		createDaemonSet(t, newNamespace(t), "x")
	}
}

// TestTerminatingNamespace: nothing new comes in, what is there can be changed and go.
func TestTerminatingNamespace(t *testing.T) {
	t.Parallel()
	namespace := newNamespace(t)
	createDaemonSet(t, namespace, "old")
	mustSend(t, call{method: http.MethodDelete, path: namespacePath(namespace)})
	sets, old := daemonSetsPath(namespace), daemonSetPath(namespace, "old")

	for sentence, test := range map[string]struct {
		call call
		want failure
	}{
		"a DaemonSet":     {call{method: http.MethodPost, path: sets, body: daemonSet(t, "new")}, noContent("daemonsets", "new", namespace)},
		"a dry run":       {call{method: http.MethodPost, path: sets + "?dryRun=All", body: daemonSet(t, "new")}, noContent("daemonsets", "new", namespace)},
		"one there is":    {call{method: http.MethodPost, path: sets, body: daemonSet(t, "old")}, noContent("daemonsets", "old", namespace)},
		"an apply":        {patch(applyPatch, sets+"/new?fieldManager=a", daemonSet(t, "new")), noContent("daemonsets", "new", namespace)},
		"a revision":      {call{method: http.MethodPost, path: revisionsPath(namespace), body: revision("new")}, noContent("controllerrevisions", "new", namespace)},
		"a patch of none": {patch(mergePatch, sets+"/new", `{"metadata":{"labels":{"a":"b"}}}`), notFound("new")},
	} {
		t.Run(sentence, func(t *testing.T) { wantFailure(t, send(t, test.call), test.want) })
	}
	for sentence, c := range map[string]call{
		"a patch":                   patch(mergePatch, old, `{"metadata":{"labels":{"a":"b"}}}`),
		"an apply of what there is": patch(applyPatch, old+"?fieldManager=a", daemonSet(t, "old", meta("{labels: {c: d}}"))),
		"a status":                  patch(mergePatch, old+"/status", `{"status":{"numberReady":1}}`),
		"a label of the namespace":  patch(mergePatch, namespacePath(namespace), `{"metadata":{"labels":{"a":"b"}}}`),
	} {
		t.Run(sentence, func(t *testing.T) { mustSend(t, c, http.StatusOK) })
	}
	mustSend(t, call{method: http.MethodDelete, path: old}, http.StatusOK)

	mustSend(t, call{method: http.MethodPut, path: namespacePath(namespace) + "/finalize", body: namespaceObject(t, namespace, finalizers("[]"))}, http.StatusOK)
	wantFailure(t, send(t, call{method: http.MethodPost, path: sets, body: daemonSet(t, "new")}), noNamespace(namespace))
	createNamespace(t, namespace)
	createDaemonSet(t, namespace, "new")
}

// requestOf is a certificate request of a user in groups.
func requestOf(t *testing.T, groups ...string) []byte {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: "ada", Organization: groups}}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

const clientSigner = "kubernetes.io/kube-apiserver-client"

// noMasters is the refusal of a request for a client certificate of system:masters.
var noMasters = refusal{
	Code: http.StatusForbidden, Reason: "Forbidden",
	Message: `certificatesigningrequests.certificates.k8s.io "$NAME" is forbidden: use of ` + clientSigner + " signer with system:masters group is not allowed",
}

func TestSubjectRestriction(t *testing.T) {
	t.Parallel()
	for sentence, test := range map[string]struct {
		signer  string
		groups  []string
		query   string
		refused bool
	}{
		"an administrator":                 {signer: clientSigner, groups: []string{"system:masters"}, refused: true},
		"an administrator among others":    {signer: clientSigner, groups: []string{"devs", "system:masters"}, refused: true},
		"a dry run":                        {signer: clientSigner, groups: []string{"system:masters"}, query: "?dryRun=All", refused: true},
		"a developer":                      {signer: clientSigner, groups: []string{"devs"}},
		"nobody's group":                   {signer: clientSigner},
		"an administrator, another signer": {signer: "example.com/x", groups: []string{"system:masters"}},
		"a name that only looks like it":   {signer: clientSigner, groups: []string{"System:masters", "system:masters "}},
	} {
		t.Run(sentence, func(t *testing.T) {
			t.Parallel()
			name := unique("csr")
			body := csrBody(t, name, gen.WithSigner(test.signer), gen.WithRequest(requestOf(t, test.groups...)))
			got := send(t, call{method: http.MethodPost, path: csrCollection + test.query, body: body})
			if !test.refused {
				wantCode(t, got, http.StatusCreated)
				return
			}
			checkRefused(t, got, name, noMasters)
			wantField(t, got, "details", "{name: "+name+", group: certificates.k8s.io, kind: certificatesigningrequests}")
			checkGone(t, name)
		})
	}
	t.Run("an apply", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		body := csrBody(t, name, gen.WithSigner(clientSigner), gen.WithRequest(requestOf(t, "system:masters")))
		checkRefused(t, send(t, patch(applyPatch, csrPath(name)+"?fieldManager=a", body)), name, noMasters)
	})
	t.Run("validation comes first", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		body := csrBody(t, name, gen.WithSigner(clientSigner), gen.WithRequest(requestOf(t, "system:masters")), gen.WithUsages())
		checkInvalid(t, send(t, call{method: http.MethodPost, path: csrCollection, body: body}), name, "spec.usages: Required value")
	})
}

// TestAdministratorApprovesAndSigns: the plugins ask, and an administrator may do everything.
func TestAdministratorApprovesAndSigns(t *testing.T) {
	t.Parallel()
	for _, signer := range []string{clientSigner, "example.com/x"} {
		name, _ := newCSR(t, gen.WithSigner(signer))
		approve(t, name)
		issue(t, name)
		if got := conditionsOf(getCSR(t, name)); !slices.Equal(got, []string{"Approved=True"}) {
			t.Errorf("%s: conditions are %v", signer, got)
		}
	}
}

// TestPluginsTurnedOff: each refusal is one plugin's.
func TestPluginsTurnedOff(t *testing.T) {
	t.Parallel()
	onlyPinnace(t, "the test starts servers with flags of their own")
	masters := csrBody(t, "c", gen.WithSigner(clientSigner), gen.WithRequest(requestOf(t, "system:masters")))
	missing := call{method: http.MethodPost, path: daemonSetsPath("missing"), body: daemonSet(t, "x")}
	restricted := call{method: http.MethodPost, path: csrCollection, body: masters}
	immortal := call{method: http.MethodDelete, path: namespacePath("default") + "?dryRun=All"}
	for flag, test := range map[string]map[int][]call{
		"--disable-admission-plugins=NamespaceLifecycle": {
			http.StatusCreated: {missing}, http.StatusOK: {immortal}, http.StatusForbidden: {restricted},
		},
		"--disable-admission-plugins=CertificateSubjectRestriction": {
			http.StatusCreated: {restricted}, http.StatusForbidden: {immortal}, http.StatusNotFound: {missing},
		},
		"--enable-admission-plugins=CertificateSigning": {
			http.StatusForbidden: {restricted, immortal}, http.StatusNotFound: {missing},
		},
	} {
		t.Run(flag, func(t *testing.T) {
			t.Parallel()
			config := startEnvironment(t, &envtest.Environment{Args: []string{flag}})
			for code, calls := range test {
				for _, c := range calls {
					c.config = config
					wantCode(t, send(t, c), code)
				}
			}
		})
	}
}

// TestAnotherUserApprovesNothing: who has no permission at all is stopped before the plugins.
func TestAnotherUserApprovesNothing(t *testing.T) {
	t.Parallel()
	name, before := newCSR(t)
	ada := rest.CopyConfig(shared.config)
	ada.Impersonate = rest.ImpersonationConfig{UserName: "ada"}
	for _, subresource := range []string{"approval", "status"} {
		c := patch(mergePatch, csrPath(name, subresource), withConditions(condition("Failed")))
		c.config = ada
		checkRefused(t, send(t, c), name, refusal{
			Code: http.StatusForbidden, Reason: "Forbidden",
			Message: `certificatesigningrequests.certificates.k8s.io "$NAME" is forbidden: User "ada" cannot patch resource "certificatesigningrequests/` +
				subresource + `" in API group "certificates.k8s.io" at the cluster scope`,
		})
	}
	checkUnchanged(t, name, before)
}
