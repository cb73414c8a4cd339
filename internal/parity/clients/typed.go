// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/applyconfigurations/apps/v1"
	applymetav1 "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/restmapper"
	"k8s.io/client-go/util/retry"
)

func isServed(resource string) bool {
	name, _, _ := strings.Cut(resource, "/")
	return slices.Contains([]string{"daemonsets", "controllerrevisions", "certificatesigningrequests", "namespaces"}, name)
}

// discovery finds the served resources, and maps kinds to them.
func (s *script) discovery(context.Context) error {
	client, err := discovery.NewDiscoveryClientForConfig(s.config)
	if err != nil {
		return err
	}
	for _, group := range []string{"v1", "apps/v1", "certificates.k8s.io/v1"} {
		list, err := client.ServerResourcesForGroupVersion(group)
		if err != nil {
			return err
		}
		for _, r := range list.APIResources {
			if isServed(r.Name) {
				s.say("%s %s %s %t %v %v %v", group, r.Name, r.Kind, r.Namespaced, r.Verbs, r.ShortNames, r.Categories)
			}
		}
	}
	groups, err := restmapper.GetAPIGroupResources(client)
	if err != nil {
		return err
	}
	mapper := restmapper.NewShortcutExpander(restmapper.NewDiscoveryRESTMapper(groups), client, nil)
	for _, name := range []string{"ds", "daemonset", "csr", "controllerrevisions", "ns"} {
		resource, err := mapper.ResourceFor(schema.GroupVersionResource{Resource: name})
		s.say("%s is %v %v", name, resource, err)
	}
	for _, kind := range []schema.GroupKind{{Group: "apps", Kind: "DaemonSet"}, {Group: "certificates.k8s.io", Kind: "CertificateSigningRequest"}} {
		mapping, err := mapper.RESTMapping(kind)
		if err != nil {
			return err
		}
		s.say("%v is %v, %s", kind, mapping.Resource, mapping.Scope.Name())
	}
	return nil
}

func newDaemonSet(name string) *appsv1.DaemonSet {
	labels := map[string]string{"app": name}
	return &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
			},
		},
	}
}

func (s *script) clientset(contentType string) (kubernetes.Interface, error) {
	config := rest.CopyConfig(s.config)
	config.ContentType, config.AcceptContentTypes = contentType, contentType+","+runtime.ContentTypeJSON
	return kubernetes.NewForConfig(config)
}

// typed goes through the served kinds with the clients made for them.
func (s *script) typed(ctx context.Context, contentType string) error {
	client, err := s.clientset(contentType)
	if err != nil {
		return err
	}
	for _, play := range []func(context.Context, kubernetes.Interface) error{s.daemonSets, s.revisions, s.requests, s.namespaces} {
		if err := play(ctx, client); err != nil {
			return err
		}
	}
	return nil
}

func (s *script) daemonSets(ctx context.Context, client kubernetes.Interface) error {
	sets := client.AppsV1().DaemonSets(s.namespace)
	created, err := sets.Create(ctx, newDaemonSet("d"), metav1.CreateOptions{})
	s.show("create", created, err)
	if err != nil {
		return err
	}
	_, err = sets.Create(ctx, newDaemonSet("d"), metav1.CreateOptions{})
	s.show("create again", nil, err)
	changed := created.DeepCopy()
	changed.Spec.Template.Spec.Containers[0].Image = "img:2"
	changed, err = sets.Update(ctx, changed, metav1.UpdateOptions{})
	s.show("update", changed, err)
	_, err = sets.Update(ctx, created, metav1.UpdateOptions{})
	s.show("update of what was read before", nil, err)
	changed.Status = appsv1.DaemonSetStatus{NumberReady: 1, DesiredNumberScheduled: 2, ObservedGeneration: changed.Generation}
	changed, err = sets.UpdateStatus(ctx, changed, metav1.UpdateOptions{})
	s.show("update of the status", changed, err)
	patched, err := sets.Patch(ctx, "d", types.StrategicMergePatchType, []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"e","image":"img:3"}]}}}}`), metav1.PatchOptions{})
	s.show("strategic patch", patched, err)
	patched, err = sets.Patch(ctx, "d", types.JSONPatchType, []byte(`[{"op":"remove","path":"/spec/template/spec/containers/0"}]`), metav1.PatchOptions{})
	s.show("JSON patch", patched, err)
	patched, err = sets.Patch(ctx, "d", types.MergePatchType, []byte(`{"status":{"numberReady":2}}`), metav1.PatchOptions{}, "status")
	s.show("merge patch of the status", patched, err)
	apply := v1.DaemonSet("d", s.namespace).WithLabels(map[string]string{"applied": "yes"}).WithSpec(v1.DaemonSetSpec().WithMinReadySeconds(5))
	appliedSet, err := sets.Apply(ctx, apply, metav1.ApplyOptions{FieldManager: "applier"})
	s.show("apply", appliedSet, err)
	_, err = sets.Apply(ctx, v1.DaemonSet("d", s.namespace).WithSpec(v1.DaemonSetSpec().WithMinReadySeconds(6)), metav1.ApplyOptions{FieldManager: "other"})
	s.show("apply with a conflict", nil, err)
	if err == nil {
		return fmt.Errorf("the second applier was not refused")
	}
	extracted, err := v1.ExtractDaemonSet(appliedSet, "applier")
	s.show("what the applier owns", extracted, err)
	list, err := sets.List(ctx, metav1.ListOptions{LabelSelector: "applied=yes", FieldSelector: "metadata.name=d"})
	s.show("list", list, err)
	return s.daemonSetDeletions(ctx, client)
}

func (s *script) daemonSetDeletions(ctx context.Context, client kubernetes.Interface) error {
	sets := client.AppsV1().DaemonSets(s.namespace)
	wrong := types.UID("00000000-0000-0000-0000-000000000000")
	s.uids[string(wrong)] = string(wrong)
	err := sets.Delete(ctx, "d", metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &wrong}})
	s.show("delete of another", nil, err)
	_, err = sets.Create(ctx, newDaemonSet("e"), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	s.say("create in a dry run: %v", err)
	if err := sets.Delete(ctx, "d", metav1.DeleteOptions{}); err != nil {
		return err
	}
	_, err = sets.Get(ctx, "d", metav1.GetOptions{})
	s.show("get after the deletion", nil, err)
	for _, name := range []string{"f", "g"} {
		if _, err := sets.Create(ctx, newDaemonSet(name), metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	if err := sets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "app=f"}); err != nil {
		return err
	}
	list, err := sets.List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	for _, item := range list.Items {
		s.say("left: %s", item.Name)
	}
	return sets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}

func (s *script) revisions(ctx context.Context, client kubernetes.Interface) error {
	revisions := client.AppsV1().ControllerRevisions(s.namespace)
	revision := &appsv1.ControllerRevision{ObjectMeta: metav1.ObjectMeta{Name: "r"}, Revision: 1,
		Data: runtime.RawExtension{Raw: []byte(`{"b":[1,2.5,null],"a":{"text":"x"}}`)}}
	created, err := revisions.Create(ctx, revision, metav1.CreateOptions{})
	s.show("create a revision", created, err)
	if err != nil {
		return err
	}
	created.Revision = 2
	created, err = revisions.Update(ctx, created, metav1.UpdateOptions{})
	s.show("update a revision", created, err)
	if err != nil {
		return err
	}
	created.Data = runtime.RawExtension{Raw: []byte(`{"b":1}`)}
	_, err = revisions.Update(ctx, created, metav1.UpdateOptions{})
	s.show("update its data", nil, err)
	return revisions.Delete(ctx, "r", metav1.DeleteOptions{})
}

func (s *script) requests(ctx context.Context, client kubernetes.Interface) error {
	requests, name := client.CertificatesV1().CertificateSigningRequests(), s.namespace+"-typed"
	object, err := s.newRequest(name)
	if err != nil {
		return err
	}
	created, err := requests.Create(ctx, object, metav1.CreateOptions{})
	s.show("create a request", created, err)
	if err != nil {
		return err
	}
	created.Status.Conditions = []certificatesv1.CertificateSigningRequestCondition{
		{Type: certificatesv1.CertificateApproved, Status: corev1.ConditionTrue, Reason: "Tested"}}
	approved, err := requests.UpdateApproval(ctx, name, created, metav1.UpdateOptions{})
	s.show("approve", approved, err)
	if err != nil {
		return err
	}
	denied := approved.DeepCopy()
	denied.Status.Conditions = append(denied.Status.Conditions, certificatesv1.CertificateSigningRequestCondition{Type: certificatesv1.CertificateDenied, Status: corev1.ConditionTrue})
	_, err = requests.UpdateApproval(ctx, name, denied, metav1.UpdateOptions{})
	s.show("deny what is approved", nil, err)
	approved.Status.Certificate = []byte("no certificate")
	_, err = requests.UpdateStatus(ctx, approved, metav1.UpdateOptions{})
	s.show("no certificate", nil, err)
	return requests.Delete(ctx, name, metav1.DeleteOptions{})
}

func (s *script) namespaces(ctx context.Context, client kubernetes.Interface) error {
	namespaces, name := client.CoreV1().Namespaces(), s.namespace+"-"+fmt.Sprint(len(s.uids))
	created, err := namespaces.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}, metav1.CreateOptions{})
	s.show("create a namespace", created, err)
	if err != nil {
		return err
	}
	if err := namespaces.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	leaving, err := namespaces.Get(ctx, name, metav1.GetOptions{})
	s.show("it leaves", leaving, err)
	if err != nil {
		return err
	}
	_, err = client.AppsV1().DaemonSets(name).Create(ctx, newDaemonSet("late"), metav1.CreateOptions{})
	s.show("create in it", nil, err)
	leaving.Spec.Finalizers = nil
	leaving, err = namespaces.Finalize(ctx, leaving, metav1.UpdateOptions{})
	s.show("finalize it", leaving, err)
	_, err = namespaces.Get(ctx, name, metav1.GetOptions{})
	s.show("it is gone", nil, err)
	return nil
}

// retries counts an annotation up by several at once, each of which tries again on a conflict.
func (s *script) retries(ctx context.Context) error {
	client, err := s.clientset(runtime.ContentTypeJSON)
	if err != nil {
		return err
	}
	sets := client.AppsV1().DaemonSets(s.namespace)
	if _, err := sets.Create(ctx, newDaemonSet("count"), metav1.CreateOptions{}); err != nil {
		return err
	}
	// Each conflict means that another one has got on, so that this is enough.
	patient := wait.Backoff{Steps: 50, Duration: 5 * time.Millisecond, Jitter: 1}
	errs := make([]error, 5)
	var writers sync.WaitGroup
	for i := range errs {
		writers.Go(func() {
			errs[i] = retry.RetryOnConflict(patient, func() error {
				set, err := sets.Get(ctx, "count", metav1.GetOptions{})
				if err != nil {
					return err
				}
				metav1.SetMetaDataAnnotation(&set.ObjectMeta, "count", set.Annotations["count"]+"i")
				_, err = sets.Update(ctx, set, metav1.UpdateOptions{})
				return err
			})
		})
	}
	writers.Wait()
	set, err := sets.Get(ctx, "count", metav1.GetOptions{})
	if err != nil {
		return err
	}
	s.say("%v count to %s, generation %d", errs, set.Annotations["count"], set.Generation)
	owner := applymetav1.OwnerReference().WithName("o").WithKind("K").WithAPIVersion("v1").WithUID(set.UID)
	owned, err := sets.Apply(ctx, v1.DaemonSet("count", s.namespace).WithOwnerReferences(owner), metav1.ApplyOptions{FieldManager: "owner"})
	s.show("apply an owner", owned, err)
	return sets.Delete(ctx, "count", metav1.DeleteOptions{})
}
