// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"
	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiwatch "k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"

	"github.com/pinnace-io/pinnace/internal/kube"
	"github.com/pinnace-io/pinnace/pkg/envtest"
)

const (
	interchangeNamespace = "interchange"
	interchangeTimeout   = 30 * time.Second
	holdFinalizer        = "example.com/hold"
)

// side is one of the two servers over the same etcd.
type side struct {
	name   string
	client dynamic.Interface
}

// interchangeKind is a served kind.
type interchangeKind struct {
	resource   schema.GroupVersionResource
	namespaced bool
	// object is what is created, without a name.
	object string
	// status is merged into the object and written to the subresource; none when empty.
	subresource, status string
	// message makes an empty object of the stored form.
	message func() storedMessage
}

// storedMessage is an object of k8s.io/api with its protobuf form.
type storedMessage interface {
	metav1.Object
	Marshal() ([]byte, error)
	Unmarshal([]byte) error
}

func interchangeKinds(t *testing.T) map[string]interchangeKind {
	t.Helper()
	request := base64.StdEncoding.EncodeToString(certificateRequest(t))
	return map[string]interchangeKind{
		"DaemonSet": {
			resource: appsv1.SchemeGroupVersion.WithResource("daemonsets"), namespaced: true,
			object: `{apiVersion: apps/v1, kind: DaemonSet, spec: {selector: {matchLabels: {app: x}}, updateStrategy: {rollingUpdate: {maxSurge: 10%, maxUnavailable: 0}},
				template: {metadata: {labels: {app: x}}, spec: {nodeSelector: {b: '1', a: '2'}, volumes: [{name: v, emptyDir: {sizeLimit: 1Gi}}],
				containers: [{name: c, image: 'img:1', resources: {limits: {cpu: 100m, memory: 64Mi}}, livenessProbe: {httpGet: {port: 80}}}]}}}}`,
			subresource: "status",
			status: `{status: {currentNumberScheduled: 1, desiredNumberScheduled: 2, numberMisscheduled: 0, numberReady: 1, observedGeneration: 1,
				conditions: [{type: Odd, status: 'True', lastTransitionTime: '2024-05-06T07:08:09Z'}]}}`,
			message: func() storedMessage { return &appsv1.DaemonSet{} },
		},
		"ControllerRevision": {
			resource: appsv1.SchemeGroupVersion.WithResource("controllerrevisions"), namespaced: true,
			object:  `{apiVersion: apps/v1, kind: ControllerRevision, revision: 3, data: {b: [1, 2.5, null, true], a: {nested: text}}}`,
			message: func() storedMessage { return &appsv1.ControllerRevision{} },
		},
		"CertificateSigningRequest": {
			resource: certificatesv1.SchemeGroupVersion.WithResource("certificatesigningrequests"),
			object: `{apiVersion: certificates.k8s.io/v1, kind: CertificateSigningRequest,
				spec: {request: ` + request + `, signerName: example.com/robot, usages: [client auth], expirationSeconds: 3600}}`,
			subresource: "approval",
			status:      `{status: {conditions: [{type: Approved, status: 'True', reason: Tested, message: by a test, lastUpdateTime: '2024-05-06T07:08:09Z'}]}}`,
			message:     func() storedMessage { return &certificatesv1.CertificateSigningRequest{} },
		},
		"Namespace": {
			resource: corev1.SchemeGroupVersion.WithResource("namespaces"),
			object:   `{apiVersion: v1, kind: Namespace, spec: {finalizers: [kubernetes]}}`, subresource: "status",
			status:  `{status: {conditions: [{type: NamespaceContentRemaining, status: 'False', reason: Tested, message: by a test, lastTransitionTime: '2024-05-06T07:08:09Z'}]}}`,
			message: func() storedMessage { return &corev1.Namespace{} },
		},
	}
}

func (k interchangeKind) on(s side) dynamic.ResourceInterface {
	if k.namespaced {
		return s.client.Resource(k.resource).Namespace(interchangeNamespace)
	}
	return s.client.Resource(k.resource)
}

// key is where the object is stored.
func (k interchangeKind) key(name string) string {
	if k.namespaced {
		name = interchangeNamespace + "/" + name
	}
	return "/registry/" + k.resource.Resource + "/" + name
}

// named is the object of the kind with a name, and a finalizer so that it can be seen while it is being deleted.
func (k interchangeKind) named(t *testing.T, name string) *unstructured.Unstructured {
	t.Helper()
	out := &unstructured.Unstructured{Object: fromYAML(t, k.object)}
	out.SetName(name)
	out.SetLabels(map[string]string{"b": "1", "a": "2"})
	out.SetAnnotations(map[string]string{"note": "first", "another": "second"})
	out.SetFinalizers([]string{holdFinalizer})
	return out
}

// interchangeServers starts kube-apiserver and Pinnace over one etcd.
func interchangeServers(t *testing.T) (theirs, ours side, etcd *clientv3.Client) {
	t.Helper()
	onlyPinnace(t, "it starts both servers itself")
	assets, err := kube.Assets()
	if err != nil {
		t.Skipf("both servers over one etcd are not tested: %v", err)
	}
	cluster := &kube.Cluster{Assets: assets}
	if err := cluster.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := cluster.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	environment := &envtest.Environment{Args: []string{"--etcd-servers=" + cluster.EtcdEndpoint()}}
	startEnvironment(t, environment)
	newSide := func(name string, user func(string, ...string) (*rest.Config, error)) side {
		config, err := user("interchange", "system:masters")
		if err != nil {
			t.Fatal(err)
		}
		config.UserAgent = "interchange"
		client, err := dynamic.NewForConfig(config)
		if err != nil {
			t.Fatal(err)
		}
		return side{name, client}
	}
	theirs, ours = newSide("kube-apiserver", cluster.User), newSide("Pinnace", environment.AddUser)
	namespaces := interchangeKinds(t)["Namespace"]
	namespace := namespaces.named(t, interchangeNamespace)
	namespace.SetFinalizers(nil)
	if _, err := namespaces.on(theirs).Create(t.Context(), namespace, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	return theirs, ours, cluster.Etcd()
}

// TestInterchange writes objects by one server and goes on with the other, over one etcd: what one has written is the
// other's to read, watch, change and delete, and both store the same bytes.
func TestInterchange(t *testing.T) {
	t.Parallel()
	theirs, ours, etcd := interchangeServers(t)
	awaitNamespace(t, ours)
	for name, kind := range interchangeKinds(t) {
		for _, direction := range [][2]side{{theirs, ours}, {ours, theirs}} {
			t.Run(fmt.Sprintf("%s from %s to %s", name, direction[0].name, direction[1].name), func(t *testing.T) {
				handOver(t, kind, direction[0], direction[1])
			})
		}
		t.Run(name+" in the same bytes", func(t *testing.T) {
			want, got := storedLife(t, kind, theirs, etcd), storedLife(t, kind, ours, etcd)
			for i, stage := range want {
				if diff := cmp.Diff(stage, got[i]); diff != "" {
					t.Errorf("what is stored differs when it %s (-kube-apiserver +Pinnace):\n%s", stage.When, diff)
				}
			}
		})
	}
}

// awaitNamespace waits until the other server, too, knows the namespace: it learns of it by a watch.
func awaitNamespace(t *testing.T, s side) {
	t.Helper()
	revisions := interchangeKinds(t)["ControllerRevision"]
	soon(t, func() error {
		_, err := revisions.on(s).Create(t.Context(), revisions.named(t, "probe"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
}

// handOver creates by from, and does everything else by to.
func handOver(t *testing.T, kind interchangeKind, from, to side) {
	ctx, name := t.Context(), strings.ToLower("from-"+from.name)
	created, err := kind.on(from).Create(ctx, kind.named(t, name), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sameOnBoth(t, kind, created, from, to)
	watches := map[string]apiwatch.Interface{}
	for _, s := range []side{from, to} {
		options := metav1.ListOptions{ResourceVersion: created.GetResourceVersion(), FieldSelector: "metadata.name=" + name}
		w, err := kind.on(s).Watch(ctx, options)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(w.Stop)
		watches[s.name] = w
	}
	var writes []*unstructured.Unstructured
	write := func(what string, object *unstructured.Unstructured, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s by %s: %v", what, to.name, err)
		}
		sameOnBoth(t, kind, object, from, to)
		writes = append(writes, object)
	}
	updated := created.DeepCopy()
	updated.SetLabels(map[string]string{"a": "3", "c": "4"})
	updated, err = kind.on(to).Update(ctx, updated, metav1.UpdateOptions{})
	write("update", updated, err)
	applied := &unstructured.Unstructured{Object: map[string]any{}}
	applied.SetGroupVersionKind(created.GroupVersionKind())
	applied.SetName(name)
	applied.SetAnnotations(map[string]string{"applied": "yes", "note": "second"})
	applied, err = kind.on(to).Apply(ctx, name, applied, metav1.ApplyOptions{FieldManager: "applier", Force: true})
	write("apply", applied, err)
	if kind.status != "" {
		object, err := writeStatus(t, kind, to, applied)
		write(kind.subresource, object, err)
	}
	// The one that created it wins over the one that has changed it since.
	back := writes[len(writes)-1].DeepCopy()
	back.SetLabels(map[string]string{"back": "yes"})
	back, err = kind.on(from).Update(ctx, back, metav1.UpdateOptions{})
	write("update back", back, err)
	writes = append(writes, deleteHeld(t, kind, to, name)...)
	for _, s := range []side{from, to} {
		if _, err := kind.on(s).Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			t.Errorf("%s has it after the deletion: %v", s.name, err)
		}
		sawWrites(t, s.name, watches[s.name], writes)
	}
}

// sameOnBoth checks that both servers have the object as the writer answered.
func sameOnBoth(t *testing.T, kind interchangeKind, want *unstructured.Unstructured, sides ...side) {
	t.Helper()
	for _, s := range sides {
		got, err := kind.on(s).Get(t.Context(), want.GetName(), metav1.GetOptions{})
		if err != nil {
			t.Fatalf("%s: %v", s.name, err)
		}
		if diff := cmp.Diff(want.Object, got.Object); diff != "" {
			t.Errorf("%s has it otherwise (-want +got):\n%s", s.name, diff)
		}
	}
}

func writeStatus(t *testing.T, kind interchangeKind, by side, object *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	t.Helper()
	object = object.DeepCopy()
	merge(object.Object, fromYAML(t, kind.status))
	return kind.on(by).Update(t.Context(), object, metav1.UpdateOptions{}, kind.subresource)
}

// deleteHeld deletes the object, lets go of its finalizers, and returns what a watcher sees of it.
func deleteHeld(t *testing.T, kind interchangeKind, by side, name string) []*unstructured.Unstructured {
	t.Helper()
	if err := kind.on(by).Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	held, err := kind.on(by).Get(t.Context(), name, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if held.GetDeletionTimestamp() == nil {
		t.Error("it is not being deleted")
	}
	freed := held.DeepCopy()
	freed.SetFinalizers(nil)
	if freed, err = kind.on(by).Update(t.Context(), freed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	if kind.resource.Resource != "namespaces" {
		return []*unstructured.Unstructured{held, freed}
	}
	finalized := freed.DeepCopy()
	unstructured.RemoveNestedField(finalized.Object, "spec", "finalizers")
	if finalized, err = kind.on(by).Update(t.Context(), finalized, metav1.UpdateOptions{}, "finalize"); err != nil {
		t.Fatal(err)
	}
	return []*unstructured.Unstructured{held, freed, finalized}
}

// sawWrites checks that a watch told of all writes, the last of which deleted the object.
func sawWrites(t *testing.T, server string, w apiwatch.Interface, writes []*unstructured.Unstructured) {
	t.Helper()
	late := time.After(interchangeTimeout)
	for i, want := range writes {
		select {
		case event, ok := <-w.ResultChan():
			if !ok {
				t.Fatalf("%s: the watch ended before write %d", server, i+1)
			}
			got, _ := event.Object.(*unstructured.Unstructured)
			if i == len(writes)-1 {
				if event.Type != apiwatch.Deleted || got.GetName() != want.GetName() {
					t.Errorf("%s: the last event is %s %v", server, event.Type, event.Object)
				}
				continue
			}
			if event.Type != apiwatch.Modified {
				t.Errorf("%s: event %d is %s", server, i+1, event.Type)
			}
			if diff := cmp.Diff(want.Object, got.Object); diff != "" {
				t.Errorf("%s: event %d differs (-written +seen):\n%s", server, i+1, diff)
			}
		case <-late:
			t.Fatalf("%s: there is no event of write %d", server, i+1)
		}
	}
}

// storedStage is what etcd has of an object at some time.
type storedStage struct {
	When string
	Keys []string
	// Envelope is what is around the object; Bytes the object itself, after what can't be the same was made so.
	Envelope runtime.Unknown
	Bytes    []byte
}

// storedLife creates, changes and deletes an object, and returns what etcd had of it meanwhile.
func storedLife(t *testing.T, kind interchangeKind, by side, etcd *clientv3.Client) []storedStage {
	t.Helper()
	const name = "bytes"
	ctx := t.Context()
	var out []storedStage
	note := func(when string, err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %s: %v", by.name, when, err)
		}
		out = append(out, storedNow(t, kind, etcd, name))
		out[len(out)-1].When = when
	}
	object, err := kind.on(by).Create(ctx, kind.named(t, name), metav1.CreateOptions{})
	note("was created", err)
	object.SetLabels(map[string]string{"a": "3", "c": "4"})
	if kind.resource.Resource == "daemonsets" {
		merge(object.Object, fromYAML(t, "{spec: {template: {spec: {hostNetwork: true, dnsPolicy: ClusterFirstWithHostNet}}}}"))
	}
	object, err = kind.on(by).Update(ctx, object, metav1.UpdateOptions{})
	note("was updated", err)
	if kind.status != "" {
		_, err = writeStatus(t, kind, by, object)
		note("has a status", err)
	}
	applied := &unstructured.Unstructured{Object: map[string]any{}}
	applied.SetGroupVersionKind(object.GroupVersionKind())
	applied.SetAnnotations(map[string]string{"applied": "yes"})
	applied.SetName(name)
	_, err = kind.on(by).Apply(ctx, name, applied, metav1.ApplyOptions{FieldManager: "applier"})
	note("was applied to", err)
	foreground := metav1.DeletePropagationForeground
	note("is being deleted", kind.on(by).Delete(ctx, name, metav1.DeleteOptions{PropagationPolicy: &foreground}))
	deleteHeld(t, kind, by, name)
	if left, err := etcd.Get(ctx, kind.key(name), clientv3.WithPrefix()); err != nil || left.Count != 0 {
		t.Errorf("%s leaves %d keys behind: %v", by.name, left.Count, err)
	}
	return out
}

// storedNow reads an object from etcd.
func storedNow(t *testing.T, kind interchangeKind, etcd *clientv3.Client, name string) storedStage {
	t.Helper()
	response, err := etcd.Get(t.Context(), "/registry/"+kind.resource.Resource, clientv3.WithPrefix())
	if err != nil {
		t.Fatal(err)
	}
	var out storedStage
	for _, kv := range response.Kvs {
		if !strings.HasSuffix(string(kv.Key), "/"+name) {
			continue
		}
		out.Keys = append(out.Keys, string(kv.Key))
		body, ok := bytes.CutPrefix(kv.Value, protobufMagic)
		if !ok {
			t.Fatalf("%s begins with %q", kv.Key, kv.Value[:min(8, len(kv.Value))])
		}
		if err := out.Envelope.Unmarshal(body); err != nil {
			t.Fatal(err)
		}
		encoded, err := out.Envelope.Marshal()
		if err != nil || !bytes.Equal(encoded, body) {
			t.Errorf("the envelope is not what it decodes to: %v", err)
		}
		out.Bytes = equalized(t, kind, out.Envelope.Raw)
		out.Envelope.Raw = nil
	}
	if want := []string{kind.key(name)}; !slices.Equal(out.Keys, want) {
		t.Errorf("the keys are %q, want %q", out.Keys, want)
	}
	return out
}

// equalized decodes an object, makes equal what differs from write to write, and encodes it again. Before that, the bytes
// have to be those that the object encodes to, so that nothing gets lost here.
func equalized(t *testing.T, kind interchangeKind, raw []byte) []byte {
	t.Helper()
	object := kind.message()
	if err := object.Unmarshal(raw); err != nil {
		t.Fatal(err)
	}
	encoded, err := object.Marshal()
	if err != nil || !bytes.Equal(encoded, raw) {
		t.Errorf("the stored bytes are not what the object encodes to: %v", err)
	}
	then := metav1.Unix(1, 0)
	object.SetUID("uid")
	object.SetCreationTimestamp(then)
	if object.GetDeletionTimestamp() != nil {
		object.SetDeletionTimestamp(&then)
	}
	managed := object.GetManagedFields()
	for i := range managed {
		managed[i].Time = &then
	}
	object.SetManagedFields(managed)
	if request, ok := object.(*certificatesv1.CertificateSigningRequest); ok {
		// The certificate of the client is another one at each server.
		if len(request.Spec.Extra["authentication.kubernetes.io/credential-id"]) != 1 {
			t.Errorf("spec.extra is %v", request.Spec.Extra)
		}
		request.Spec.Extra["authentication.kubernetes.io/credential-id"] = certificatesv1.ExtraValue{"X509SHA256=…"}
		for i := range request.Status.Conditions {
			request.Status.Conditions[i].LastTransitionTime = then
		}
	}
	if encoded, err = object.Marshal(); err != nil {
		t.Fatal(err)
	}
	return encoded
}
