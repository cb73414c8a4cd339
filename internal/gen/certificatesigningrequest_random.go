// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package gen

import (
	"bytes"
	"encoding/pem"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// RandomCSR returns a CertificateSigningRequest whose fields are mostly valid and now and then what a rule is about.
// It may have a status, as a stored object has.
func RandomCSR(random *rand.Rand) *certificatesv1.CertificateSigningRequest {
	csr := CSR("robot")
	csr.UID = "1f0a2a3c"
	csr.ResourceVersion = "7"
	csr.CreationTimestamp = metav1.NewTime(time.Date(1999, time.March, 2, 10, 0, 0, 0, time.UTC))
	if oneIn(random, 3) {
		changeMeta(random, &csr.ObjectMeta)
	}
	for range random.IntN(3) {
		changeSpec(random, &csr.Spec)
	}
	for range random.IntN(4) {
		changeConditions(random, &csr.Status)
	}
	if oneIn(random, 3) {
		csr.Status.Certificate = randomCertificate(random)
	}
	return csr
}

// RandomCSRUpdate returns a changed copy of old: few fields differ, and some of them in a way that a rule is about.
func RandomCSRUpdate(random *rand.Rand, old *certificatesv1.CertificateSigningRequest) *certificatesv1.CertificateSigningRequest {
	csr := old.DeepCopy()
	if oneIn(random, 3) {
		changeMeta(random, &csr.ObjectMeta)
	}
	if oneIn(random, 4) {
		changeSpec(random, &csr.Spec)
	}
	for range random.IntN(3) {
		changeConditions(random, &csr.Status)
	}
	if oneIn(random, 4) {
		csr.Status.Certificate = randomCertificate(random)
	}
	return csr
}

func oneIn(random *rand.Rand, n int) bool { return random.IntN(n) == 0 }

func pick[T any](random *rand.Rand, values ...T) T { return values[random.IntN(len(values))] }

// changeMeta changes one field of the metadata.
func changeMeta(random *rand.Rand, meta *metav1.ObjectMeta) {
	changes := []func(){
		func() {
			meta.Name = pick(random, ".", "..", "a/b", "a%b", "UPPER case é", strings.Repeat("n", 300))
		},
		func() { meta.Name = "" },
		func() { meta.GenerateName = pick(random, "Node CSR_", "a/b", "%", "node-") },
		func() { meta.Namespace = "t" },
		func() { meta.UID = pick[types.UID](random, "", "another") },
		func() { meta.ResourceVersion = pick(random, "", "8") },
		func() { meta.Generation = pick[int64](random, -1, 0, 3) },
		func() { meta.CreationTimestamp = pick(random, metav1.Time{}, randomTime(random)) },
		func() { moment := randomTime(random); meta.DeletionTimestamp = &moment },
		func() { meta.DeletionTimestamp = nil },
		func() { seconds := int64(random.IntN(3)); meta.DeletionGracePeriodSeconds = &seconds },
		func() { meta.Labels = map[string]string{pick(random, "app", "-bad"): pick(random, "x", "not a label")} },
		func() { meta.Annotations = map[string]string{pick(random, "note", "-bad-"): "text"} },
		func() {
			meta.Finalizers = append(slices.Clone(meta.Finalizers), pick(random, "example.com/hold", "orphan", "foregroundDeletion", "short", "a b"))
		},
		func() {
			meta.OwnerReferences = []metav1.OwnerReference{{
				APIVersion: pick(random, "v1", "", "a/b/c"), Kind: pick(random, "Node", ""), Name: pick(random, "n1", ""), UID: pick[types.UID](random, "u", ""),
			}}
		},
		func() {
			meta.ManagedFields = []metav1.ManagedFieldsEntry{{
				Manager:    pick(random, "kubectl", strings.Repeat("m", 200)),
				Operation:  pick(random, metav1.ManagedFieldsOperationApply, metav1.ManagedFieldsOperationUpdate, "", "Bogus"),
				FieldsType: pick(random, "FieldsV1", "", "Other"),
			}}
		},
	}
	pick(random, changes...)()
}

// changeSpec changes one field of the spec.
func changeSpec(random *rand.Rand, spec *certificatesv1.CertificateSigningRequestSpec) {
	switch random.IntN(5) {
	case 0:
		spec.Request = randomRequest(random)
	case 1:
		spec.SignerName = randomSigner(random)
	case 2:
		spec.ExpirationSeconds = pick(random, nil, new(int32(0)), new(int32(-1)), new(int32(599)), new(int32(600)), new(int32(math.MaxInt32)))
	case 3:
		spec.Usages = pick(random, nil, []certificatesv1.KeyUsage{},
			[]certificatesv1.KeyUsage{"digital signature", "key encipherment", "server auth"},
			[]certificatesv1.KeyUsage{"client auth", "client auth", "any", "client auth"},
			[]certificatesv1.KeyUsage{"", "Client Auth", "client auth", "<any>", ""})
	case 4:
		spec.Username, spec.UID, spec.Groups = "mallory", "666", []string{"system:masters"}
		spec.Extra = map[string]certificatesv1.ExtraValue{"scopes": {"all"}}
	}
}

func randomRequest(random *rand.Rand) []byte {
	valid := RobotRequest()
	block, _ := pem.Decode(valid)
	return pick(random, valid, nil, []byte{}, []byte("text"),
		append([]byte("text before\n"), valid...),
		valid[:len(valid)/2],
		pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: block.Bytes[:len(block.Bytes)-10]}),
		pem.EncodeToMemory(&pem.Block{Type: block.Type, Bytes: append(block.Bytes, 0, 0)}),
		bytes.ReplaceAll(valid, []byte("CERTIFICATE REQUEST"), []byte("NEW CERTIFICATE REQUEST")),
		bytes.Replace(valid, []byte("jY3UIw=="), []byte("jY3UIA=="), 1), // the last byte of the signature
		RobotCertificate())
}

func randomSigner(random *rand.Rand) string {
	return pick(random, "", "kubernetes.io/legacy-unknown", "kubernetes.io/kube-apiserver-client",
		"example.com", "example.com/", "/robot", "example.com/a/b", "example/robot", "Example.com/robot", "example.com/Robot_1",
		"example.com/ns.name", "example.com/ns..name", "exam..ple/Ro..bot", strings.Repeat("a", 64)+".io/x",
		"a.io/"+strings.Repeat("b", 254), strings.Repeat("a.", 126)+"io/x", strings.Repeat("a.", 150)+"io/"+strings.Repeat("b.", 150)+"c")
}

// changeConditions adds, drops, moves or changes a condition.
func changeConditions(random *rand.Rand, status *certificatesv1.CertificateSigningRequestStatus) {
	last := len(status.Conditions) - 1
	switch {
	case last < 0 || oneIn(random, 2):
		status.Conditions = append(status.Conditions, randomCondition(random))
	case oneIn(random, 4):
		status.Conditions = slices.Delete(status.Conditions, last, last+1)
	case oneIn(random, 3):
		slices.Reverse(status.Conditions)
	default:
		condition := &status.Conditions[random.IntN(last+1)]
		switch random.IntN(4) {
		case 0:
			condition.Reason = pick(random, "", "Policy", "<Policy>")
		case 1:
			condition.LastTransitionTime = pick(random, metav1.Time{}, randomTime(random))
		case 2:
			condition.LastUpdateTime = pick(random, metav1.Time{}, randomTime(random))
		case 3:
			*condition = randomCondition(random)
		}
	}
}

func randomCondition(random *rand.Rand) certificatesv1.CertificateSigningRequestCondition {
	condition := certificatesv1.CertificateSigningRequestCondition{
		Type: pick(random, certificatesv1.CertificateApproved, certificatesv1.CertificateApproved,
			certificatesv1.CertificateDenied, certificatesv1.CertificateFailed, "Weird", "<Weird>", ""),
		Status:  pick(random, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionTrue, corev1.ConditionFalse, corev1.ConditionUnknown, "true", ""),
		Reason:  pick(random, "", "Policy"),
		Message: pick(random, "", "said so"),
	}
	if oneIn(random, 2) {
		condition.LastUpdateTime = randomTime(random)
	}
	if oneIn(random, 2) {
		condition.LastTransitionTime = randomTime(random)
	}
	return condition
}

func randomCertificate(random *rand.Rand) []byte {
	leaf, authority := RobotCertificate(), RobotAuthority()
	return pick(random, nil, []byte{}, leaf, authority,
		slices.Concat(leaf, authority),
		slices.Concat([]byte("text\n"), leaf, []byte("text\n")),
		slices.Concat(leaf, RobotRequest()),
		bytes.Replace(leaf, []byte("-\n"), []byte("-\nComment: x\n\n"), 1),
		[]byte("text"),
		[]byte("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
		[]byte("-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----\n"))
}

// randomTime returns one of few moments, so that equal ones meet.
func randomTime(random *rand.Rand) metav1.Time {
	return metav1.NewTime(time.Date(1999, time.April, 1+random.IntN(3), 12, 0, 0, 0, time.UTC))
}
