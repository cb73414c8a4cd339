// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package podtemplate_test

import (
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	apiequality "k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/operation"
	"k8s.io/apimachinery/pkg/api/resource"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/api/pod"
	upstreamapps "k8s.io/kubernetes/pkg/apis/apps/v1"
	core "k8s.io/kubernetes/pkg/apis/core"
	corefuzzer "k8s.io/kubernetes/pkg/apis/core/fuzzer"
	_ "k8s.io/kubernetes/pkg/apis/core/install" // the oracle's scheme
	upstream "k8s.io/kubernetes/pkg/apis/core/v1"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/apis/podtemplate"
)

// fuzzed is the number of random templates.
const fuzzed = 150

// valid returns a template that nothing is wrong with and that is not defaulted.
func valid(change func(*corev1.PodTemplateSpec)) *corev1.PodTemplateSpec {
	t := &corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": "x"}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "img:1"}}},
	}
	if change != nil {
		change(t)
	}
	return t
}

// templates returns named templates by hand, and random ones from a fixed seed. The maps of all have at most one key,
// since upstream reports on maps in random order.
func templates(t *testing.T) map[string]*corev1.PodTemplateSpec {
	t.Helper()
	all := byHand()
	source := rand.NewSource(20260117)
	filler := fuzzer.FuzzerFor(fuzzer.MergeFuzzerFuncs(metafuzzer.Funcs, corefuzzer.Funcs), source, legacyscheme.Codecs)
	for i := range fuzzed {
		internal, v1 := &core.PodTemplateSpec{}, &corev1.PodTemplateSpec{}
		filler.Fill(internal)
		if err := upstream.Convert_core_PodTemplateSpec_To_v1_PodTemplateSpec(internal, v1, nil); err != nil {
			t.Fatal(err)
		}
		thinMaps(reflect.ValueOf(v1))
		all[fmt.Sprintf("random template %d", i)] = v1
	}
	return all
}

func byHand() map[string]*corev1.PodTemplateSpec {
	all := map[string]*corev1.PodTemplateSpec{
		"empty":          {},
		"minimal":        valid(nil),
		"no labels":      valid(func(t *corev1.PodTemplateSpec) { t.Labels = nil }),
		"latest image":   valid(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "img:latest" }),
		"untagged image": valid(func(t *corev1.PodTemplateSpec) { t.Spec.Containers[0].Image = "img" }),
		"only the old name of the service account": valid(func(t *corev1.PodTemplateSpec) { t.Spec.DeprecatedServiceAccount = "sa" }),
		"both names of the service account": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.DeprecatedServiceAccount, t.Spec.ServiceAccountName = "old", "new"
		}),
		"annotation of init containers": valid(func(t *corev1.PodTemplateSpec) {
			t.Annotations = map[string]string{"pod.beta.kubernetes.io/init-containers": "[]"}
		}),
		"host network and a host port of its own": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.HostNetwork = true
			t.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 54323}}
		}),
		"host network and a container port": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.HostNetwork = true
			t.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080}}
		}),
		"quantities that are rounded up": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.Containers[0].Resources.Limits = corev1.ResourceList{"cpu": resource.MustParse("0.1m")}
		}),
		"a volume without a source": valid(func(t *corev1.PodTemplateSpec) { t.Spec.Volumes = []corev1.Volume{{Name: "v"}} }),
		"duplicate environment": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "A", Value: "1"}, {Name: "A", Value: "2"}}
		}),
		"deprecated node label": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.NodeSelector = map[string]string{"beta.kubernetes.io/os": "linux"}
		}),
		"bad selector in affinity": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.Affinity = &corev1.Affinity{PodAffinity: &corev1.PodAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{
				TopologyKey:   "zone",
				LabelSelector: &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "a", Operator: "In", Values: []string{"bad value"}}}},
			}}}}
		}),
		"fields of features that are off": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
			t.Spec.HostnameOverride = ptr.To("h")
			t.Spec.EvictionResponders = []corev1.EvictionResponder{{Name: "example.com/r"}}
		}),
		"too many eviction responders": valid(func(t *corev1.PodTemplateSpec) {
			for i := range 12 {
				t.Spec.EvictionResponders = append(t.Spec.EvictionResponders, corev1.EvictionResponder{Name: fmt.Sprintf("example.com/r%d", i)})
			}
		}),
		"ephemeral containers": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.EphemeralContainers = []corev1.EphemeralContainer{{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: "e", Image: "img"}}}
		}),
		"toleration that makes no sense": valid(func(t *corev1.PodTemplateSpec) {
			t.Spec.Tolerations = []corev1.Toleration{{Key: "-", Operator: "Maybe", Effect: "NoWhere"}}
		}),
	}
	for name, t := range byHandDefaulted(all) {
		all[name] = t
	}
	return all
}

// byHandDefaulted adds each template as the server sees it after defaulting.
func byHandDefaulted(all map[string]*corev1.PodTemplateSpec) map[string]*corev1.PodTemplateSpec {
	defaulted := map[string]*corev1.PodTemplateSpec{}
	for name, t := range all {
		t = t.DeepCopy()
		podtemplate.SetDefaults(t)
		defaulted[name+", defaulted"] = t
	}
	return defaulted
}

// thinMaps leaves one key in every map below v.
func thinMaps(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			thinMaps(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				thinMaps(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			thinMaps(v.Index(i))
		}
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for i := 1; i < len(keys); i++ {
			v.SetMapIndex(keys[i], reflect.Value{})
		}
	}
}

func internalOf(t *testing.T, v1 *corev1.PodTemplateSpec) *core.PodTemplateSpec {
	t.Helper()
	internal := &core.PodTemplateSpec{}
	if err := upstream.Convert_v1_PodTemplateSpec_To_core_PodTemplateSpec(v1, internal, nil); err != nil {
		t.Fatal(err)
	}
	return internal
}

// texts are errors as clients see them, and the marks that decide whether they do.
func texts(errs field.ErrorList) []string {
	out := []string{}
	for _, err := range errs {
		out = append(out, fmt.Sprintf("%s %s origin=%q covered=%t level=%s", err.Type, err.Error(), err.Origin, err.CoveredByDeclarative, err.ValidationStabilityLevel))
	}
	return out
}

func TestSetDefaults(t *testing.T) {
	t.Parallel()
	for name, template := range templates(t) {
		got, want := template.DeepCopy(), &appsv1.DaemonSet{Spec: appsv1.DaemonSetSpec{Template: *template.DeepCopy()}}
		podtemplate.SetDefaults(got)
		upstreamapps.SetObjectDefaults_DaemonSet(want)
		if !reflect.DeepEqual(&want.Spec.Template, got) {
			t.Errorf("%s: not upstream's defaults (-want +got):\n%s", name, cmp.Diff(&want.Spec.Template, got))
		}
	}
}

func TestNormalize(t *testing.T) {
	t.Parallel()
	for name, template := range templates(t) {
		got, want, before := template.DeepCopy(), &corev1.PodTemplateSpec{}, template.DeepCopy()
		shared := *got // a holder of the same maps and slices
		if err := podtemplate.Normalize(got); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := upstream.Convert_core_PodTemplateSpec_To_v1_PodTemplateSpec(internalOf(t, template), want, nil); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: not upstream's round trip (-want +got):\n%s", name, cmp.Diff(want, got))
		}
		if !reflect.DeepEqual(before, &shared) {
			t.Errorf("%s: memory of others was changed:\n%s", name, cmp.Diff(before, &shared))
		}
		again := got.DeepCopy()
		if err := podtemplate.Normalize(again); err != nil || !reflect.DeepEqual(got, again) {
			t.Errorf("%s: a second time (error %v) changes more:\n%s", name, err, cmp.Diff(got, again))
		}
	}
}

// pairs calls check with every template as a new one, as the replacement of itself, and of a few others in turn.
func pairs(t *testing.T, check func(name string, template, old *corev1.PodTemplateSpec)) {
	t.Helper()
	all, olds := templates(t), slices.Sorted(maps.Keys(byHand()))
	olds = append(olds, "random template 0", "random template 1")
	for i, name := range slices.Sorted(maps.Keys(all)) {
		check(name, all[name], nil)
		check(name+" as it was", all[name], all[name])
		for j := range 6 {
			old := olds[(6*i+j)%len(olds)]
			check(name+" for "+old, all[name], all[old])
		}
	}
}

// view is podtemplate.Of for a template that may be absent.
func view(t *corev1.PodTemplateSpec) *podtemplate.Template {
	if t == nil {
		return nil
	}
	return podtemplate.Of(t)
}

// internalOrNil is internalOf for a template that may be absent.
func internalOrNil(t *testing.T, v1 *corev1.PodTemplateSpec) *core.PodTemplateSpec {
	t.Helper()
	if v1 == nil {
		return nil
	}
	return internalOf(t, v1.DeepCopy())
}

func TestDropDisabledFields(t *testing.T) {
	t.Parallel()
	dropped := 0
	pairs(t, func(name string, template, old *corev1.PodTemplateSpec) {
		got, internal, want := template.DeepCopy(), internalOf(t, template.DeepCopy()), &corev1.PodTemplateSpec{}
		podtemplate.Of(got).DropDisabledFields(view(old.DeepCopy()))
		pod.DropDisabledTemplateFields(internal, internalOrNil(t, old))
		if err := upstream.Convert_core_PodTemplateSpec_To_v1_PodTemplateSpec(internal, want, nil); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("%s: not what upstream drops (-want +got):\n%s", name, cmp.Diff(want, got))
		}
		if !reflect.DeepEqual(template, got) {
			dropped++
		}
	})
	if dropped == 0 {
		t.Error("no template lost anything: the test shows nothing")
	}
}

func TestDropDisabledFieldsOfOneTemplate(t *testing.T) {
	t.Parallel()
	with := func(annotations map[string]string) *corev1.PodTemplateSpec {
		return valid(func(t *corev1.PodTemplateSpec) {
			t.Annotations = annotations
			t.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: ptr.To("g")}
		})
	}
	for name, test := range map[string]struct {
		old       *corev1.PodTemplateSpec
		wantGroup bool
	}{
		"a field of a feature that is off is dropped":        {},
		"it stays where the old template has it already":     {old: with(nil), wantGroup: true},
		"it is dropped where the old template hasn't got it": {old: valid(nil)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := with(map[string]string{"pod.alpha.kubernetes.io/init-containers": "[]", "kept": "yes"})
			podtemplate.Of(got).DropDisabledFields(view(test.old))
			if has := got.Spec.SchedulingGroup != nil; has != test.wantGroup {
				t.Errorf("schedulingGroup is there: %t, want %t", has, test.wantGroup)
			}
			if diff := cmp.Diff(map[string]string{"kept": "yes"}, got.Annotations); diff != "" {
				t.Errorf("annotations (-want +got):\n%s", diff)
			}
		})
	}
}

func TestValidate(t *testing.T) {
	t.Parallel()
	path, valids, invalids := field.NewPath("spec", "template"), 0, 0
	pairs(t, func(name string, template, old *corev1.PodTemplateSpec) {
		for _, tolerant := range []bool{false, true} {
			current := podtemplate.Of(template)
			options := current.Options(view(old))
			wantOptions := pod.GetValidationOptionsFromPodTemplate(internalOf(t, template), internalOrNil(t, old))
			if options.AllowInvalidLabelValueInSelector != wantOptions.AllowInvalidLabelValueInSelector {
				t.Errorf("%s: bad label values allowed: %t", name, options.AllowInvalidLabelValueInSelector)
			}
			if tolerant {
				options.AllowInvalidLabelValueInSelector, wantOptions.AllowInvalidLabelValueInSelector = true, true
			}
			got := texts(current.Validate(path, options))
			want := texts(corevalidation.ValidatePodTemplateSpec(internalOf(t, template), path, wantOptions))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s (tolerant: %t): not upstream's errors (-want +got):\n%s", name, tolerant, diff)
			}
			if len(got) == 0 {
				valids++
			} else {
				invalids++
			}
		}
	})
	if valids == 0 || invalids == 0 {
		t.Errorf("%d valid and %d invalid templates: the test shows little", valids, invalids)
	}
}

// The test above compares with upstream; this one knows some answers.
func TestValidateOneTemplate(t *testing.T) {
	t.Parallel()
	all := byHand()
	for name, test := range map[string]struct {
		template string
		old      string
		tolerant bool
		want     []string
	}{
		"a defaulted minimal template passes": {template: "minimal, defaulted"},
		"a port of the host network must be the container's": {
			template: "host network and a host port of its own, defaulted",
			want:     []string{"t.spec.containers[0].ports[0].hostPort: Invalid value: 54323: must match `containerPort` when `hostNetwork` is true"},
		},
		"a bad value in a selector is refused": {
			template: "bad selector in affinity, defaulted",
			want: []string{"t.spec.affinity.podAffinity.requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchExpressions[0].values[0]: " +
				"Invalid value: \"bad value\": a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end " +
				"with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"},
		},
		"a bad value in a selector that the old template has passes": {
			template: "bad selector in affinity, defaulted",
			old:      "bad selector in affinity, defaulted",
		},
		"a bad value in a selector passes when the caller tolerates it": {
			template: "bad selector in affinity, defaulted",
			tolerant: true,
		},
		"ephemeral containers are refused": {
			template: "ephemeral containers, defaulted",
			want:     []string{"t.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod template"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			template := podtemplate.Of(all[test.template])
			options := template.Options(view(all[test.old]))
			if test.tolerant {
				options.AllowInvalidLabelValueInSelector = true
			}
			var got []string
			for _, err := range template.Validate(field.NewPath("t"), options) {
				got = append(got, err.Error())
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	path, seen := field.NewPath("spec", "template"), map[string]bool{}
	pairs(t, func(name string, template, old *corev1.PodTemplateSpec) {
		got := podtemplate.Of(template).Warnings(t.Context(), path, view(old))
		want := pod.GetWarningsForPodTemplate(t.Context(), path, internalOf(t, template), internalOrNil(t, old))
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: not upstream's warnings (-want +got):\n%s", name, diff)
		}
		for _, warning := range got {
			seen[warning] = true
		}
	})
	for _, want := range []string{
		`spec.template.spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use "kubernetes.io/os" instead`,
		`spec.template.spec.containers[0].env[1]: hides previous definition of "A", which may be dropped when using apply`,
	} {
		if !seen[want] {
			t.Errorf("nobody was warned with %q", want)
		}
	}
}

func TestValidateDeclaratively(t *testing.T) {
	t.Parallel()
	path, violations := field.NewPath("spec", "template"), 0
	pairs(t, func(name string, template, old *corev1.PodTemplateSpec) {
		for _, kind := range []operation.Type{operation.Create, operation.Update} {
			op := operation.Operation{Type: kind}
			got := texts(podtemplate.ValidateDeclaratively(t.Context(), op, path, template, old))
			want := texts(upstream.Validate_PodTemplateSpec(t.Context(), op, path, template, old))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: not upstream's errors (-want +got):\n%s", name, diff)
			}
			violations += len(got)
		}
	})
	if violations == 0 {
		t.Error("no template violated a declared rule: the test shows nothing")
	}
}

func TestEqualOfRandomTemplates(t *testing.T) {
	t.Parallel()
	equal := 0
	pairs(t, func(name string, template, old *corev1.PodTemplateSpec) {
		if old == nil {
			return
		}
		got, want := podtemplate.Equal(template, old.DeepCopy()), apiequality.Semantic.DeepEqual(template, old)
		if got != want {
			t.Errorf("%s: equal: %t, the library says %t", name, got, want)
		}
		if got {
			equal++
		}
	})
	if equal < fuzzed {
		t.Errorf("only %d templates were equal", equal)
	}
}

func BenchmarkEqual(b *testing.B) {
	template := valid(nil)
	podtemplate.SetDefaults(template)
	same, other := template.DeepCopy(), template.DeepCopy()
	other.Spec.Containers[0].Image = "img:2"
	for name, with := range map[string]*corev1.PodTemplateSpec{"same": same, "other": other} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				podtemplate.Equal(template, with)
			}
		})
		b.Run(name+" by reflection alone", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				apiequality.Semantic.DeepEqual(template, with)
			}
		})
	}
}

func BenchmarkOf(b *testing.B) {
	template := valid(nil)
	podtemplate.SetDefaults(template)
	b.ReportAllocs()
	for b.Loop() {
		podtemplate.Of(template)
	}
}

func BenchmarkNormalize(b *testing.B) {
	template := valid(nil)
	podtemplate.SetDefaults(template)
	b.ReportAllocs()
	for b.Loop() {
		if err := podtemplate.Normalize(template); err != nil {
			b.Fatal(err)
		}
	}
}
