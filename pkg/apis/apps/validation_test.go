// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package apps_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apimachineryvalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	upstreamvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/utils/ptr"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

// Texts that many answers share.
const (
	notMatching    = "spec.template.metadata.labels: Invalid value: {\"app\":\"x\"}: `selector` does not match template `labels`"
	notMatchingNil = "spec.template.metadata.labels: Invalid value: null: `selector` does not match template `labels`"
	badLabelValue  = "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an " +
		"alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"
	badPercent = "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
	rollingAt  = "spec.updateStrategy.rollingUpdate."
)

func expressions(requirements ...metav1.LabelSelectorRequirement) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchExpressions: requirements}
}

func TestValidateDaemonSet(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		change func(*appsv1.DaemonSet)
		want   []string
	}{
		"the shortest one passes": {},
		"a selector with expressions that match passes": {change: func(ds *appsv1.DaemonSet) {
			ds.Spec.Selector = expressions(metav1.LabelSelectorRequirement{Key: "app", Operator: "In", Values: []string{"x", "y"}})
		}},
		"no name": {
			change: func(ds *appsv1.DaemonSet) { ds.Name = "" },
			want:   []string{"metadata.name: Required value: name or generateName is required"},
		},
		"no namespace": {
			change: func(ds *appsv1.DaemonSet) { ds.Namespace = "" },
			want:   []string{"metadata.namespace: Required value"},
		},
		"a name that is no DNS subdomain": {
			change: func(ds *appsv1.DaemonSet) { ds.Name = "Big_One" },
			want: []string{"metadata.name: Invalid value: \"Big_One\": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', " +
				"and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
				"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
		},
		"a finalizer of nobody": {
			change: func(ds *appsv1.DaemonSet) { ds.Finalizers = []string{"x"} },
			want:   []string{"metadata.finalizers[0]: Invalid value: \"x\": name is neither a standard finalizer name nor is it fully qualified"},
		},
		"no selector is reported as one that doesn't match": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Selector = nil },
			want:   []string{notMatching},
		},
		"an empty selector": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Selector = &metav1.LabelSelector{} },
			want:   []string{"spec.selector: Invalid value: {}: empty selector is invalid for daemonset"},
		},
		"a selector for other pods": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Selector.MatchLabels["app"] = "y" },
			want:   []string{notMatching},
		},
		"a template without labels": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Labels = nil },
			want:   []string{notMatchingNil},
		},
		"a selector value that no label can have": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Selector.MatchLabels["app"] = "-bad-" },
			want:   []string{"spec.selector.matchLabels: Invalid value: \"-bad-\": " + badLabelValue},
		},
		"a value that no label can have in both places": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.Selector.MatchLabels["app"], ds.Spec.Template.Labels["app"] = "-bad-", "-bad-"
			},
			want: []string{
				"spec.selector.matchLabels: Invalid value: \"-bad-\": " + badLabelValue,
				"spec.template.labels: Invalid value: \"-bad-\": " + badLabelValue,
			},
		},
		"a selector expression with a value that no label can have": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "b", Operator: "NotIn", Values: []string{"-bad-"}}}
			},
			want: []string{"spec.selector.matchExpressions[0].values[0]: Invalid value: \"-bad-\": " + badLabelValue},
		},
		"an expression without values": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "b", Operator: "NotIn"}}
			},
			want: []string{"spec.selector.matchExpressions[0].values: Required value: must be specified when `operator` is 'In' or 'NotIn'"},
		},
		"an operator that isn't": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.Selector.MatchExpressions = []metav1.LabelSelectorRequirement{{Key: "b", Operator: "Like"}}
			},
			want: []string{"spec.selector.matchExpressions[0].operator: Invalid value: \"Like\": not a valid selector operator"},
		},
		"no container": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.Containers = nil },
			want:   []string{"spec.template.spec.containers: Required value"},
		},
		"two ports of one name": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{Name: "x", ContainerPort: 1}, {Name: "x", ContainerPort: 2}}
			},
			want: []string{"spec.template.spec.containers[0].ports[1].name: Duplicate value: \"x\""},
		},
		"a host port that isn't the container's on the host network": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.Template.Spec.HostNetwork = true
				ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 54323}}
			},
			want: []string{"spec.template.spec.containers[0].ports[0].hostPort: Invalid value: 54323: must match `containerPort` when `hostNetwork` is true"},
		},
		"a host port together with a surge passes": {change: func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: 8080, HostPort: 54323}}
			rolling(count(0), count(1))(ds)
		}},
		"restart policy OnFailure": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyOnFailure },
			want:   []string{"spec.template.spec.restartPolicy: Unsupported value: \"OnFailure\": supported values: \"Always\""},
		},
		"restart policy Never": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.RestartPolicy = corev1.RestartPolicyNever },
			want:   []string{"spec.template.spec.restartPolicy: Unsupported value: \"Never\": supported values: \"Always\""},
		},
		"a restart policy that isn't is refused twice": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.RestartPolicy = "Maybe" },
			want: []string{
				"spec.template.spec.restartPolicy: Unsupported value: \"Maybe\": supported values: \"Always\", \"OnFailure\", \"Never\"",
				"spec.template.spec.restartPolicy: Unsupported value: \"Maybe\": supported values: \"Always\"",
			},
		},
		"a deadline": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Template.Spec.ActiveDeadlineSeconds = ptr.To[int64](5) },
			want:   []string{"spec.template.spec.activeDeadlineSeconds: Forbidden: activeDeadlineSeconds in DaemonSet is not Supported"},
		},
		"negative numbers, all at once and in order": {
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.MinReadySeconds, ds.Spec.RevisionHistoryLimit = -1, ptr.To[int32](-2)
				ds.Annotations = generation("-3")
			},
			want: []string{
				"spec.minReadySeconds: Invalid value: -1: must be greater than or equal to 0",
				"spec.templateGeneration: Invalid value: -3: must be greater than or equal to 0",
				"spec.revisionHistoryLimit: Invalid value: -2: must be greater than or equal to 0",
			},
		},
		"no history passes": {change: func(ds *appsv1.DaemonSet) { ds.Spec.RevisionHistoryLimit = ptr.To[int32](0) }},
		"annotations at the limit but for the template generation pass": {change: func(ds *appsv1.DaemonSet) {
			ds.Annotations = filled(limit)
		}},
		"annotations beyond the limit without it": {
			change: func(ds *appsv1.DaemonSet) { ds.Annotations = filled(limit + 1) },
			want:   []string{"metadata.annotations: Too long: may not be more than 262144 bytes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ds := daemonSet(t, test.change)
			before := ds.DeepCopy()
			got := apps.ValidateDaemonSet(ds)
			checkErrors(t, test.want, got, upstreamErrors(t, ds, nil))
			if !reflect.DeepEqual(before, ds) {
				t.Errorf("validation changed the object:\n%s", cmp.Diff(before, ds))
			}
		})
	}
}

func TestValidateUpdateStrategy(t *testing.T) {
	t.Parallel()
	noType := intstr.IntOrString{Type: 7, StrVal: "x"}
	for name, test := range map[string]struct {
		change func(*appsv1.DaemonSet)
		want   []string
	}{
		"one unavailable":         {change: rolling(count(1), count(0))},
		"percents unavailable":    {change: rolling(percent("100%"), percent("0%"))},
		"a surge":                 {change: rolling(count(0), percent("10%"))},
		"no surge in percent":     {change: rolling(count(1), percent("0%"))},
		"a huge number":           {change: rolling(count(2147483647), count(0))},
		"both zero":               {change: rolling(count(0), count(0)), want: []string{rollingAt + "maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}},
		"both zero percent":       {change: rolling(percent("0%"), percent("0%")), want: []string{rollingAt + "maxUnavailable: Required value: cannot be 0 when maxSurge is 0"}},
		"both beyond zero":        {change: rolling(count(1), count(1)), want: []string{rollingAt + "maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"}},
		"the default counts":      {change: rolling(nil, count(1)), want: []string{rollingAt + "maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero"}},
		"the default counts in %": {change: rolling(nil, percent("25%")), want: []string{rollingAt + "maxSurge: Invalid value: \"25%\": may not be set when maxUnavailable is non-zero"}},
		"a negative number":       {change: rolling(count(-1), count(0)), want: []string{rollingAt + "maxUnavailable: Invalid value: -1: must be greater than or equal to 0"}},
		"a negative percentage": {change: rolling(percent("-1%"), count(1)), want: []string{
			rollingAt + "maxUnavailable: Invalid value: \"-1%\": " + badPercent,
		}},
		"more than all, twice": {change: rolling(percent("101%"), percent("150%")), want: []string{
			rollingAt + "maxUnavailable: Invalid value: \"101%\": must not be greater than 100%",
			rollingAt + "maxSurge: Invalid value: \"150%\": must not be greater than 100%",
			rollingAt + "maxSurge: Invalid value: \"150%\": may not be set when maxUnavailable is non-zero",
		}},
		"a percentage beyond every number": {change: rolling(percent("99999999999999999999%"), count(0)), want: []string{
			rollingAt + "maxUnavailable: Invalid value: \"99999999999999999999%\": must not be greater than 100%",
		}},
		"a number in quotes counts as a number, and isn't valid": {change: rolling(percent("5"), count(1)), want: []string{
			rollingAt + "maxUnavailable: Invalid value: \"5\": " + badPercent,
			rollingAt + "maxSurge: Invalid value: 1: may not be set when maxUnavailable is non-zero",
		}},
		"words": {change: rolling(percent("some"), percent("")), want: []string{
			rollingAt + "maxUnavailable: Invalid value: \"some\": " + badPercent,
			rollingAt + "maxSurge: Invalid value: \"\": " + badPercent,
			rollingAt + "maxUnavailable: Required value: cannot be 0 when maxSurge is 0",
		}},
		"neither a number nor a string": {change: rolling(&noType, count(1)), want: []string{
			rollingAt + "maxUnavailable: Invalid value: intstr.IntOrString{Type:7, IntVal:0, StrVal:\"x\"}: must be an integer or percentage (e.g '5%%')",
		}},
		"OnDelete doesn't look at the numbers": {change: func(ds *appsv1.DaemonSet) {
			rolling(percent("150%"), count(-4))(ds)
			ds.Spec.UpdateStrategy.Type = appsv1.OnDeleteDaemonSetStrategyType
		}},
		"an unknown type": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.UpdateStrategy.Type = "Sometimes" },
			want:   []string{`spec.updateStrategy: Unsupported value: {"Type":"Sometimes","RollingUpdate":null}: supported values: "RollingUpdate", "OnDelete"`},
		},
		"an unknown type with numbers": {
			change: func(ds *appsv1.DaemonSet) {
				rolling(percent("5%"), nil)(ds)
				ds.Spec.UpdateStrategy.Type = "onDelete"
			},
			want: []string{`spec.updateStrategy: Unsupported value: {"Type":"onDelete","RollingUpdate":{"MaxUnavailable":"5%","MaxSurge":0}}: supported values: "RollingUpdate", "OnDelete"`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ds := daemonSet(t, test.change)
			checkErrors(t, test.want, apps.ValidateDaemonSet(ds), upstreamErrors(t, ds, nil))
		})
	}

	t.Run("RollingUpdate without numbers, which defaults keep out", func(t *testing.T) {
		t.Parallel()
		ds := daemonSet(t, nil)
		ds.Spec.UpdateStrategy.RollingUpdate = nil
		checkErrors(t, []string{"spec.updateStrategy.rollingUpdate: Required value"}, apps.ValidateDaemonSet(ds), upstreamErrors(t, ds, nil))
	})
}

func TestValidateDaemonSetUpdate(t *testing.T) {
	t.Parallel()
	image := func(image, templateGeneration string) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) {
			ds.Spec.Template.Spec.Containers[0].Image, ds.Annotations = image, generation(templateGeneration)
		}
	}
	selector := func(selector *metav1.LabelSelector) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) { ds.Spec.Selector, ds.Annotations = selector, generation("1") }
	}
	badValue := &metav1.LabelSelector{
		MatchLabels:      map[string]string{"app": "x"},
		MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "b", Operator: "NotIn", Values: []string{"bad value"}}},
	}
	for name, test := range map[string]struct {
		old, change func(*appsv1.DaemonSet)
		want        []string
	}{
		"nothing changed": {},
		"a new image and a new generation pass": {
			old: image("img:1", "1"), change: image("img:2", "2"),
		},
		"a generation that jumps with the template passes": {
			old: image("img:1", "1"), change: image("img:2", "9"),
		},
		"a new image without a new generation": {
			old: image("img:1", "1"), change: image("img:2", "1"),
			want: []string{"spec.templateGeneration: Invalid value: 1: must be incremented upon template update"},
		},
		"a new generation without a new image": {
			old: image("img:1", "1"), change: image("img:1", "2"),
			want: []string{"spec.templateGeneration: Invalid value: 2: must not be incremented without template update"},
		},
		"a generation that goes back": {
			old: image("img:1", "2"), change: image("img:2", "1"),
			want: []string{"spec.templateGeneration: Invalid value: 1: must not be decremented"},
		},
		"the generation after the largest is the smallest": {
			old: image("img:1", "9223372036854775807"), change: image("img:2", "-9223372036854775808"),
			want: []string{
				"spec.templateGeneration: Invalid value: -9223372036854775808: must not be decremented",
				"spec.templateGeneration: Invalid value: -9223372036854775808: must be greater than or equal to 0",
			},
		},
		"an old object without a generation counts as 0": {
			old: image("img:1", "0"), change: image("img:2", "1"),
		},
		"a changed selector is both immutable and not matching": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec.Selector.MatchLabels["app"] = "y" },
			want: []string{
				"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable",
				notMatching,
			},
		},
		"a selector changed with the labels is immutable": {
			old: func(ds *appsv1.DaemonSet) { ds.Annotations = generation("1") },
			change: func(ds *appsv1.DaemonSet) {
				ds.Spec.Selector.MatchLabels["app"], ds.Spec.Template.Labels["app"] = "y", "y"
				ds.Annotations = generation("2")
			},
			want: []string{"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"y\"}}: field is immutable"},
		},
		"the order of values in a selector counts": {
			old:    selector(expressions(metav1.LabelSelectorRequirement{Key: "app", Operator: "In", Values: []string{"x", "y"}})),
			change: selector(expressions(metav1.LabelSelectorRequirement{Key: "app", Operator: "In", Values: []string{"y", "x"}})),
			want:   []string{"spec.selector: Invalid value: {\"matchExpressions\":[{\"key\":\"app\",\"operator\":\"In\",\"values\":[\"y\",\"x\"]}]}: field is immutable"},
		},
		"an empty list in a selector is no change": {
			old:    selector(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}, MatchExpressions: []metav1.LabelSelectorRequirement{}}),
			change: selector(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}),
		},
		"a bad value that the old selector has passes": {
			old: selector(badValue), change: selector(badValue),
		},
		"a new bad value is immutable and bad": {
			change: selector(badValue),
			old:    selector(&metav1.LabelSelector{MatchLabels: map[string]string{"app": "x"}}),
			want: []string{
				"spec.selector: Invalid value: {\"matchLabels\":{\"app\":\"x\"},\"matchExpressions\":[{\"key\":\"b\",\"operator\":\"NotIn\",\"values\":[\"bad value\"]}]}: field is immutable",
				"spec.selector.matchExpressions[0].values[0]: Invalid value: \"bad value\": " + badLabelValue,
			},
		},
		"a name that changes": {
			change: func(ds *appsv1.DaemonSet) { ds.Name = "other" },
			want:   []string{"metadata.name: Invalid value: \"other\": field is immutable"},
		},
		"no resource version": {
			change: func(ds *appsv1.DaemonSet) { ds.ResourceVersion = "" },
			want:   []string{"metadata.resourceVersion: Invalid value: \"\": must be specified for an update"},
		},
		"annotations at the limit but for the template generation pass": {
			change: func(ds *appsv1.DaemonSet) { ds.Annotations = filled(limit) },
		},
		"annotations beyond the limit": {
			change: func(ds *appsv1.DaemonSet) { ds.Annotations = filled(limit + 1) },
			want:   []string{"metadata.annotations: Too long: may not be more than 262144 bytes"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ds, old := daemonSet(t, test.change), daemonSet(t, test.old)
			before, oldBefore := ds.DeepCopy(), old.DeepCopy()
			checkErrors(t, test.want, apps.ValidateDaemonSetUpdate(ds, old), upstreamErrors(t, ds, old))
			if !reflect.DeepEqual(before, ds) || !reflect.DeepEqual(oldBefore, old) {
				t.Error("validation changed an object")
			}
		})
	}
}

func TestValidateDaemonSetStatusUpdate(t *testing.T) {
	t.Parallel()
	status := func(status appsv1.DaemonSetStatus) func(*appsv1.DaemonSet) {
		return func(ds *appsv1.DaemonSet) { ds.Status = status }
	}
	for name, test := range map[string]struct {
		old, change func(*appsv1.DaemonSet)
		want        []string
	}{
		"empty": {},
		"more ready than wanted, observed before it was, odd conditions": {
			change: status(appsv1.DaemonSetStatus{
				CurrentNumberScheduled: 2, DesiredNumberScheduled: 3, NumberReady: 5, ObservedGeneration: 77, CollisionCount: ptr.To[int32](3),
				Conditions: []appsv1.DaemonSetCondition{{Type: "X", Status: "True"}, {Type: "X", Status: "maybe"}},
			}),
		},
		"negative numbers, all at once and in order": {
			change: status(appsv1.DaemonSetStatus{
				CurrentNumberScheduled: -1, NumberMisscheduled: -2, DesiredNumberScheduled: -3, NumberReady: -4, ObservedGeneration: -5,
				UpdatedNumberScheduled: -6, NumberAvailable: -7, NumberUnavailable: -8, CollisionCount: ptr.To[int32](-9),
			}),
			want: []string{
				"status.currentNumberScheduled: Invalid value: -1: must be greater than or equal to 0",
				"status.numberMisscheduled: Invalid value: -2: must be greater than or equal to 0",
				"status.desiredNumberScheduled: Invalid value: -3: must be greater than or equal to 0",
				"status.numberReady: Invalid value: -4: must be greater than or equal to 0",
				"status.observedGeneration: Invalid value: -5: must be greater than or equal to 0",
				"status.updatedNumberScheduled: Invalid value: -6: must be greater than or equal to 0",
				"status.numberAvailable: Invalid value: -7: must be greater than or equal to 0",
				"status.numberUnavailable: Invalid value: -8: must be greater than or equal to 0",
				"status.collisionCount: Invalid value: -9: must be greater than or equal to 0",
			},
		},
		"collisions grow": {
			old: status(appsv1.DaemonSetStatus{CollisionCount: ptr.To[int32](3)}), change: status(appsv1.DaemonSetStatus{CollisionCount: ptr.To[int32](4)}),
		},
		"collisions stay": {
			old: status(appsv1.DaemonSetStatus{CollisionCount: ptr.To[int32](3)}), change: status(appsv1.DaemonSetStatus{CollisionCount: ptr.To[int32](3)}),
		},
		"collisions shrink": {
			old: status(appsv1.DaemonSetStatus{CollisionCount: ptr.To[int32](3)}), change: status(appsv1.DaemonSetStatus{CollisionCount: ptr.To[int32](2)}),
			want: []string{"status.collisionCount: Invalid value: 2: cannot be decremented"},
		},
		"collisions are forgotten": {
			old:  status(appsv1.DaemonSetStatus{CollisionCount: ptr.To[int32](3)}),
			want: []string{"status.collisionCount: Invalid value: 0: cannot be decremented"},
		},
		"the spec isn't looked at": {
			change: func(ds *appsv1.DaemonSet) { ds.Spec = appsv1.DaemonSetSpec{} },
		},
		"metadata is looked at": {
			change: func(ds *appsv1.DaemonSet) { ds.Name = "other" },
			want:   []string{"metadata.name: Invalid value: \"other\": field is immutable"},
		},
		"annotations at the limit but for the template generation pass": {
			change: func(ds *appsv1.DaemonSet) { ds.Annotations = filled(limit) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ds, old := daemonSet(t, test.change), daemonSet(t, test.old)
			upstream := upstreamvalidation.ValidateDaemonSetStatusUpdate(internal(t, ds), internal(t, old))
			checkErrors(t, test.want, apps.ValidateDaemonSetStatusUpdate(ds, old), upstream)
		})
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]struct{ name, prefix bool }{
		"a":                      {true, true},
		"a.b-c.1":                {true, true},
		"a-":                     {false, true},
		"A":                      {false, false},
		"a_b":                    {false, false},
		"":                       {false, false},
		strings.Repeat("a", 253): {true, true},
		strings.Repeat("a", 254): {false, false},
	} {
		for kind, validate := range map[string]apimachineryvalidation.ValidateNameFunc{
			"DaemonSet": apps.ValidateDaemonSetName, "ControllerRevision": apps.ValidateControllerRevisionName,
		} {
			if got := len(validate(name, false)) == 0; got != want.name {
				t.Errorf("%s: %q is a name: %t, want %t", kind, name, got, want.name)
			}
			if got := len(validate(name, true)) == 0; got != want.prefix {
				t.Errorf("%s: %q is a prefix: %t, want %t", kind, name, got, want.prefix)
			}
		}
	}
}
