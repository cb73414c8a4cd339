// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// checkKubectl runs kubectl and fails the test unless want comes of it; $CSR and $NAME stand for the object of that name.
func checkKubectl(t *testing.T, k kubectl, name string, want output, stdin string, arguments ...string) {
	t.Helper()
	fill := strings.NewReplacer("$CSR", "certificatesigningrequest.certificates.k8s.io/"+name, "$NAME", name)
	want.stdout, want.stderr = fill.Replace(want.stdout), fill.Replace(want.stderr)
	if diff := cmp.Diff(want, k.run(t, stdin, arguments...), cmp.AllowUnexported(output{})); diff != "" {
		t.Errorf("kubectl %s (-want +got):\n%s", strings.Join(arguments, " "), diff)
	}
}

// csrManifest is a CertificateSigningRequest for kubectl.
func csrManifest(t *testing.T, metadata string, options ...gen.CSROption) string {
	t.Helper()
	spec, err := json.Marshal(csrBody(t, "", options...)["spec"])
	if err != nil {
		t.Fatal(err)
	}
	return "apiVersion: certificates.k8s.io/v1\nkind: CertificateSigningRequest\nmetadata: " + metadata + "\nspec: " + string(spec) + "\n"
}

func TestCSRKubectlCertificate(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, "")
	const (
		approved = "certificatesigningrequest.certificates.k8s.io/$NAME approved\n"
		denied   = "certificatesigningrequest.certificates.k8s.io/$NAME denied\n"
	)
	verdict := func(name string, want ...string) {
		t.Helper()
		if diff := cmp.Diff(want, conditionsOf(getCSR(t, name))); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
	}
	c, _ := newCSR(t)
	checkKubectl(t, k, c, output{stdout: approved}, "", "certificate", "approve", c)
	verdict(c, "Approved=True/KubectlApprove")
	first := getCSR(t, c)
	checkField(t, first, "status.conditions.0.message", "This CSR was approved by kubectl certificate approve.")
	checkKubectl(t, k, c, output{stdout: approved}, "", "certificate", "approve", c)
	checkUnchanged(t, c, first)
	checkKubectl(t, k, c, output{stdout: approved}, "", "certificate", "approve", c, "--force")
	verdict(c, "Approved=True/KubectlApprove")
	checkKubectl(t, k, c, output{code: 1, stderr: "error: certificate signing request \"$NAME\" is already Approved\n"}, "", "certificate", "deny", c)
	verdict(c, "Approved=True/KubectlApprove")

	d, _ := newCSR(t)
	checkKubectl(t, k, d, output{stdout: denied}, "", "certificate", "deny", d)
	verdict(d, "Denied=True/KubectlDeny")
	checkKubectl(t, k, d, output{code: 1, stderr: "error: certificate signing request \"$NAME\" is already Denied\n"}, "", "certificate", "approve", d)
	verdict(d, "Denied=True/KubectlDeny")

	missing := unique("csr")
	checkKubectl(t, k, missing, output{
		code: 1, stderr: "Error from server (NotFound): certificatesigningrequests.certificates.k8s.io \"$NAME\" not found\n",
	}, "", "certificate", "approve", missing)
}

func TestCSRKubectlGet(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, "")
	f := newFamily(t)
	approve(t, f.a)
	requestor := getCSR(t, f.a).text("spec.username")
	rows := func(out output) []string {
		lines := strings.Split(strings.TrimSpace(regexp.MustCompile(` +`).ReplaceAllString(out.stdout, " ")), "\n")
		for i, line := range lines {
			if cells := strings.Split(line, " "); len(cells) == 6 && justCreated.MatchString(cells[1]) {
				cells[1] = "AGE"
				lines[i] = strings.Join(cells, " ")
			}
		}
		return lines
	}
	header := "NAME AGE SIGNERNAME REQUESTOR REQUESTEDDURATION CONDITION"
	row := func(name, signer, condition string) string {
		return name + " AGE " + signer + " " + requestor + " <none> " + condition
	}
	for args, want := range map[string][]string{
		"get csr --field-selector spec.signerName=" + f.one:                  {header, row(f.a, f.one, "Approved"), row(f.b, f.one, "Pending")},
		"get csr -l family=" + f.label + ",color=red":                        {header, row(f.a, f.one, "Approved"), row(f.c, f.other, "Pending")},
		"get certificatesigningrequest " + f.c:                               {header, row(f.c, f.other, "Pending")},
		"get certificatesigningrequests.v1.certificates.k8s.io " + f.b:       {header, row(f.b, f.one, "Pending")},
		"get csr/" + f.a + " --subresource=status":                           {header, row(f.a, f.one, "Approved")},
		"get csr --no-headers -o name --field-selector metadata.name=" + f.a: {"certificatesigningrequest.certificates.k8s.io/" + f.a},
		"get csr " + f.a + " -o jsonpath={.status.conditions[*].type}":       {"Approved"},
	} {
		got := k.run(t, "", strings.Split(args, " ")...)
		if diff := cmp.Diff(want, rows(got)); got.code != 0 || diff != "" {
			t.Errorf("kubectl %s: code %d, %s (-want +got):\n%s", args, got.code, got.stderr, diff)
		}
	}
	checkKubectl(t, k, "", output{stderr: "No resources found\n"}, "", "get", "csr", "--field-selector", "spec.signerName="+f.one+".not")
	got := k.run(t, "", "get", "csr", "--field-selector", "spec.username=x")
	const unsupported = `Error from server (BadRequest): Unable to find "certificates.k8s.io/v1, Resource=certificatesigningrequests" that match label selector "", ` +
		`field selector "spec.username=x": field label not supported: spec.username` + "\n"
	if diff := cmp.Diff(output{code: 1, stderr: unsupported}, got, cmp.AllowUnexported(output{})); diff != "" {
		t.Errorf("an unsupported field (-want +got):\n%s", diff)
	}
	described := k.run(t, "", "describe", "csr", f.a)
	for _, line := range []string{"Name: ", "Requesting User: ", "Signer: ", "Status: ", "Common Name: "} {
		if !strings.Contains(regexp.MustCompile(` +`).ReplaceAllString(described.stdout, " "), line) {
			t.Errorf("describe shows no %q: %s%s", line, described.stdout, described.stderr)
		}
	}
}

func TestCSRKubectlWait(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, "")
	name, _ := newCSR(t)
	approve(t, name)
	checkKubectl(t, k, name, output{stdout: "certificatesigningrequest.certificates.k8s.io/$NAME condition met\n"}, "", "wait", "--for=condition=Approved", "csr/"+name)
	checkKubectl(t, k, name, output{code: 1, stderr: "error: timed out waiting for the condition on certificatesigningrequests/$NAME\n"},
		"", "wait", "--for=condition=Denied", "csr/"+name, "--timeout=1s")
	waited := make(chan output, 1)
	go func() { waited <- k.run(t, "", "wait", "--for=condition=Failed", "csr/"+name, "--timeout=30s") }()
	writeConditions(t, name, condition("Approved"), condition("Failed"))
	want := output{stdout: "certificatesigningrequest.certificates.k8s.io/" + name + " condition met\n"}
	if diff := cmp.Diff(want, <-waited, cmp.AllowUnexported(output{})); diff != "" {
		t.Errorf("wait for Failed (-want +got):\n%s", diff)
	}
}

func TestCSRKubectlWrite(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, "")
	name := unique("csr")
	for _, step := range []struct {
		stdin string
		args  string
		want  output
	}{
		{csrManifest(t, "{name: "+name+"}"), "create -f -", output{stdout: "$CSR created\n"}},
		{csrManifest(t, "{name: "+name+"}"), "create -f -", output{code: 1, stderr: "Error from server (AlreadyExists): error when creating \"STDIN\": certificatesigningrequests.certificates.k8s.io \"$NAME\" already exists\n"}},
		{"", "label csr " + name + " a=b", output{stdout: "$CSR labeled\n"}},
		{"", "annotate csr " + name + " a=b", output{stdout: "$CSR annotated\n"}},
		{"", "patch csr " + name + " --type=merge -p {\"metadata\":{\"labels\":{\"c\":\"d\"}}}", output{stdout: "$CSR patched\n"}},
		{"", "patch csr " + name + " --type=merge -p {\"spec\":{\"signerName\":\"example.com/x\"}}", output{stdout: "$CSR patched (no change)\n"}},
		{"", "delete csr " + name + " --dry-run=server", output{stdout: "certificatesigningrequest.certificates.k8s.io \"$NAME\" deleted (server dry run)\n"}},
		{"", "get csr " + name + " -o name", output{stdout: "$CSR\n"}},
		{"", "delete csr " + name, output{stdout: "certificatesigningrequest.certificates.k8s.io \"$NAME\" deleted\n"}},
		{csrManifest(t, "{name: "+name+"}"), "apply -f -", output{stdout: "$CSR created\n"}},
		{csrManifest(t, "{name: "+name+"}"), "apply -f -", output{stdout: "$CSR unchanged\n"}},
		{csrManifest(t, "{name: "+name+", labels: {a: b}}"), "apply -f -", output{stdout: "$CSR configured\n"}},
		{csrManifest(t, "{name: "+name+", labels: {a: c}}"), "apply --server-side -f -", output{stdout: "$CSR serverside-applied\n"}},
		{csrManifest(t, "{generateName: x-}"), "apply -f -", output{code: 1, stderr: "error: from x-: cannot use generate name with apply\n"}},
		{"", "delete csr " + name, output{stdout: "certificatesigningrequest.certificates.k8s.io \"$NAME\" deleted\n"}},
	} {
		checkKubectl(t, k, name, step.want, step.stdin, strings.Split(step.args, " ")...)
	}
	generated := k.run(t, csrManifest(t, "{generateName: x-}"), "create", "-f", "-", "-o", "name")
	if !regexp.MustCompile(`^certificatesigningrequest\.certificates\.k8s\.io/x-[a-z0-9]{5}\n$`).MatchString(generated.stdout) {
		t.Errorf("create with generateName: %v", generated)
	}
}

func TestCSRKubectlExplain(t *testing.T) {
	t.Parallel()
	k := newKubectl(t, "")
	for args, want := range map[string][]string{
		"explain csr":                                           {"GROUP:      certificates.k8s.io\n", "KIND:       CertificateSigningRequest\n", "VERSION:    v1\n", "  spec\t<CertificateSigningRequestSpec> -required-\n"},
		"explain csr.status.conditions":                         {"FIELD: conditions <[]CertificateSigningRequestCondition>\n", "  lastTransitionTime\t<string>\n", "  type\t<string> -required-\n"},
		"explain csr --recursive":                               {"  expirationSeconds\t<integer>\n"},
		"explain csr --output=plaintext-openapiv2":              {"KIND:     CertificateSigningRequest\n", "VERSION:  certificates.k8s.io/v1\n"},
		"explain csr.spec.usages":                               {"FIELD: usages <[]string>\n"},
		"api-resources --api-group=certificates.k8s.io":         {"certificatesigningrequests"},
		"api-resources --api-group=certificates.k8s.io -o wide": {"create,delete,deletecollection,get,list,patch,update,watch"},
	} {
		got := k.run(t, "", strings.Split(args, " ")...)
		for _, text := range want {
			if got.code != 0 || !strings.Contains(got.stdout, text) {
				t.Errorf("kubectl %s: code %d, no %q in\n%s%s", args, got.code, text, got.stdout, got.stderr)
			}
		}
	}
	bogus := k.run(t, "", "explain", "csr.spec.bogus")
	if bogus.code != 1 || bogus.stderr != "error: field \"bogus\" does not exist\n" {
		t.Errorf("explain of a field that isn't there: %v", bogus)
	}
}
