// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// oneVerdict is the error of a list of conditions with both Approved and Denied.
const oneVerdict = `status.conditions: Invalid value: "{conditions[{\"type\": \"Approved\"}], conditions[{\"type\": \"Denied\"}]}": must specify at most one of: ` +
	"`conditions[{\"type\": \"Approved\"}]`, `conditions[{\"type\": \"Denied\"}]`"

func TestCSRConditionRules(t *testing.T) {
	t.Parallel()
	mayNot := func(verb, kind string) string {
		return fmt.Sprintf("status.conditions: Forbidden: updates may not %s a condition of type %q", verb, kind)
	}
	const onlyTrue, anyOfThree = `supported values: "True"`, `supported values: "False", "True", "Unknown"`
	tests := map[string]struct {
		// stored are the conditions before, written those of the request, in the forms of condition and conditionsOf.
		stored, written []string
		// approval and status are the errors at the endpoint of that name, want the conditions where there is none.
		approval, status []string
		want             []string
	}{
		"approve": {
			written: []string{"Approved"},
			want:    []string{"Approved=True"},
			status:  []string{mayNot("add", "Approved")},
		},
		"deny": {
			written: []string{"Denied"},
			want:    []string{"Denied=True"},
			status:  []string{mayNot("add", "Denied")},
		},
		"fail": {written: []string{"Failed"}, want: []string{"Failed=True"}},
		"approve and fail": {
			written: []string{"Approved", "Failed"},
			want:    []string{"Approved=True", "Failed=True"},
			status:  []string{mayNot("add", "Approved")},
		},
		"deny and fail": {
			written: []string{"Denied", "Failed"},
			want:    []string{"Denied=True", "Failed=True"},
			status:  []string{mayNot("add", "Denied")},
		},
		"approve and deny": {
			written:  []string{"Approved", "Denied"},
			approval: []string{oneVerdict},
			status:   []string{mayNot("add", "Approved"), mayNot("add", "Denied"), oneVerdict},
		},
		"deny and approve": {
			written:  []string{"Denied", "Approved"},
			approval: []string{oneVerdict},
			status:   []string{mayNot("add", "Approved"), mayNot("add", "Denied"), oneVerdict},
		},
		"deny what was approved": {
			stored: []string{"Approved"}, written: []string{"Approved", "Denied"},
			approval: []string{oneVerdict},
			status:   []string{mayNot("add", "Denied"), oneVerdict},
		},
		"approve what was denied": {
			stored: []string{"Denied"}, written: []string{"Denied", "Approved"},
			approval: []string{oneVerdict},
			status:   []string{mayNot("add", "Approved"), oneVerdict},
		},
		"turn an approval into denial": {
			stored: []string{"Approved"}, written: []string{"Denied"},
			approval: []string{mayNot("remove", "Approved")},
			status:   []string{mayNot("remove", "Approved"), mayNot("add", "Denied")},
		},
		"turn a denial into approval": {
			stored: []string{"Denied"}, written: []string{"Approved"},
			approval: []string{mayNot("remove", "Denied")},
			status:   []string{mayNot("remove", "Denied"), mayNot("add", "Approved")},
		},
		"fail what was approved": {
			stored: []string{"Approved"}, written: []string{"Approved", "Failed"},
			want: []string{"Approved=True", "Failed=True"},
		},
		"fail what was denied": {
			stored: []string{"Denied"}, written: []string{"Denied", "Failed"},
			want: []string{"Denied=True", "Failed=True"},
		},
		"approve what failed": {
			stored: []string{"Failed"}, written: []string{"Failed", "Approved"},
			want:   []string{"Failed=True", "Approved=True"},
			status: []string{mayNot("add", "Approved")},
		},
		"only failed instead": {
			stored: []string{"Approved"}, written: []string{"Failed"},
			approval: []string{mayNot("remove", "Approved")},
			status:   []string{mayNot("remove", "Approved")},
		},
		"remove an approval": {
			stored: []string{"Approved"}, written: []string{},
			approval: []string{mayNot("remove", "Approved")},
			status:   []string{mayNot("remove", "Approved")},
		},
		"remove a denial": {
			stored: []string{"Denied"}, written: []string{},
			approval: []string{mayNot("remove", "Denied")},
			status:   []string{mayNot("remove", "Denied")},
		},
		"remove a failure": {
			stored: []string{"Failed"}, written: []string{},
			approval: []string{mayNot("remove", "Failed")},
			status:   []string{mayNot("remove", "Failed")},
		},
		"remove all three": {
			stored: []string{"Approved", "Failed"}, written: []string{},
			approval: []string{mayNot("remove", "Approved"), mayNot("remove", "Failed")},
			status:   []string{mayNot("remove", "Approved"), mayNot("remove", "Failed")},
		},
		"remove one of another type": {
			stored: []string{"Approved", "Weird=False"}, written: []string{"Approved"},
			want: []string{"Approved=True"},
		},
		"remove the last one":     {stored: []string{"Weird=False"}, written: []string{}, want: []string{}},
		"add one of another type": {written: []string{"Weird"}, want: []string{"Weird=True"}},
		"another type, False":     {written: []string{"Weird=False"}, want: []string{"Weird=False"}},
		"another type, Unknown":   {written: []string{"Weird=Unknown"}, want: []string{"Weird=Unknown"}},
		"another type, changed": {
			stored: []string{"Weird=False"}, written: []string{"Weird=True"},
			want: []string{"Weird=True"},
		},
		"another type, no known status": {
			written:  []string{"Weird=Maybe"},
			approval: []string{`status.conditions[0].status: Unsupported value: "Maybe": ` + anyOfThree},
			status:   []string{`status.conditions[0].status: Unsupported value: "Maybe": ` + anyOfThree},
		},
		"another type, no status": {
			written:  []string{"Weird="},
			approval: []string{"status.conditions[0].status: Required value"},
			status:   []string{"status.conditions[0].status: Required value"},
		},
		"no type": {
			written:  []string{""},
			approval: []string{"status.conditions[0].type: Required value"},
			status:   []string{"status.conditions[0].type: Required value"},
		},
		"no type and no status": {
			written:  []string{"="},
			approval: []string{"status.conditions[0].type: Required value", "status.conditions[0].status: Required value"},
			status:   []string{"status.conditions[0].type: Required value", "status.conditions[0].status: Required value"},
		},
		"approve without status": {
			written:  []string{"Approved="},
			approval: []string{"status.conditions[0].status: Required value"},
			status:   []string{"status.conditions[0].status: Required value", mayNot("add", "Approved")},
		},
		"approve with False": {
			written:  []string{"Approved=False"},
			approval: []string{`status.conditions[0].status: Unsupported value: "False": ` + onlyTrue},
			status:   []string{`status.conditions[0].status: Unsupported value: "False": ` + onlyTrue, mayNot("add", "Approved")},
		},
		"approve with lower case true": {
			written:  []string{"Approved=true"},
			approval: []string{`status.conditions[0].status: Unsupported value: "true": ` + onlyTrue},
			status:   []string{`status.conditions[0].status: Unsupported value: "true": ` + onlyTrue, mayNot("add", "Approved")},
		},
		"deny with Unknown": {
			written:  []string{"Denied=Unknown"},
			approval: []string{`status.conditions[0].status: Unsupported value: "Unknown": ` + onlyTrue},
			status:   []string{`status.conditions[0].status: Unsupported value: "Unknown": ` + onlyTrue, mayNot("add", "Denied")},
		},
		"fail with False": {
			written:  []string{"Failed=False"},
			approval: []string{`status.conditions[0].status: Unsupported value: "False": ` + onlyTrue},
			status:   []string{`status.conditions[0].status: Unsupported value: "False": ` + onlyTrue},
		},
		"approve twice at once": {
			written:  []string{"Approved", "Approved"},
			approval: []string{`status.conditions[1].type: Duplicate value: "Approved"`},
			status:   []string{`status.conditions[1].type: Duplicate value: "Approved"`, mayNot("add", "Approved")},
		},
		"another type twice": {
			written:  []string{"Weird", "Odd", "Weird=False"},
			approval: []string{`status.conditions[2].type: Duplicate value: "Weird"`},
			status:   []string{`status.conditions[2].type: Duplicate value: "Weird"`},
		},
		"approve again": {stored: []string{"Approved"}, written: []string{"Approved"}, want: []string{"Approved=True"}},
		"the order is the client's": {
			stored: []string{"Weird", "Approved", "Odd"}, written: []string{"Odd", "Approved", "Weird"},
			want: []string{"Odd=True", "Approved=True", "Weird=True"},
		},
		"unapprove by False": {
			stored: []string{"Approved"}, written: []string{"Approved=False"},
			approval: []string{`status.conditions[0].status: Unsupported value: "False": ` + onlyTrue},
			want:     []string{"Approved=True"},
		},
		"types are case-sensitive": {
			written: []string{"approved=False", "Approved"},
			want:    []string{"approved=False", "Approved=True"},
			status:  []string{mayNot("add", "Approved")},
		},
	}
	list := func(forms []string) []map[string]any {
		out := []map[string]any{}
		for _, form := range forms {
			out = append(out, condition(form))
		}
		return out
	}
	for about, test := range tests {
		for endpoint, refused := range map[string][]string{"approval": test.approval, "status": test.status} {
			t.Run(about+" through "+endpoint, func(t *testing.T) {
				t.Parallel()
				name, before := newCSR(t)
				if test.stored != nil {
					before = writeConditions(t, name, list(test.stored)...)
				}
				a := send(t, call{method: http.MethodPatch, path: csrPath(name, endpoint), contentType: mergePatch, body: withConditions(list(test.written)...)})
				if refused != nil {
					checkInvalid(t, a, name, refused...)
					checkUnchanged(t, name, before)
					return
				}
				if a.code != http.StatusOK {
					t.Fatalf("got %d: %s", a.code, a.raw)
				}
				if diff := cmp.Diff(test.want, conditionsOf(getCSR(t, name))); diff != "" {
					t.Errorf("conditions (-want +got):\n%s", diff)
				}
			})
		}
	}
}

// Lists of conditions have no merge key, so that a strategic merge patch replaces them whole.
func TestCSRConditionsByStrategicMerge(t *testing.T) {
	t.Parallel()
	for _, endpoint := range []string{"approval", "status"} {
		name, _ := newCSR(t)
		before := approve(t, name)
		body := withConditions(condition("Failed", "reason", "r"))
		a := send(t, call{method: http.MethodPatch, path: csrPath(name, endpoint), contentType: strategicPatch, body: body})
		checkInvalid(t, a, name, `status.conditions: Forbidden: updates may not remove a condition of type "Approved"`)
		checkUnchanged(t, name, before)
	}
}

func TestCSRConditionFields(t *testing.T) {
	t.Parallel()
	write := func(t *testing.T, name, endpoint string, list ...map[string]any) answer {
		t.Helper()
		return mustSend(t, call{method: http.MethodPatch, path: csrPath(name, endpoint), contentType: mergePatch, body: withConditions(list...)}, http.StatusOK)
	}
	const long, longer = "2001-02-03T04:05:06Z", "2002-02-03T04:05:06Z"
	first := func(fields map[string]any) []any { return []any{fields} }

	t.Run("times that the client gives are kept, to the second and in UTC", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		write(t, name, "approval", condition("Approved", "lastUpdateTime", "2001-02-03T05:05:06.789+01:00", "lastTransitionTime", longer))
		checkField(t, getCSR(t, name), "status.conditions", first(map[string]any{
			"type": "Approved", "status": "True", "lastUpdateTime": long, "lastTransitionTime": longer,
		}))
	})
	t.Run("a time left out is now, the other is kept", func(t *testing.T) {
		t.Parallel()
		since := time.Now()
		name, _ := newCSR(t)
		a := write(t, name, "approval", condition("Approved", "lastUpdateTime", long), condition("Weird", "lastTransitionTime", long))
		checkField(t, a, "status.conditions.0.lastUpdateTime", long)
		checkRecent(t, a, "status.conditions.0.lastTransitionTime", since)
		checkRecent(t, a, "status.conditions.1.lastUpdateTime", since)
		checkField(t, a, "status.conditions.1.lastTransitionTime", long)
	})
	t.Run("null is a time left out", func(t *testing.T) {
		t.Parallel()
		since := time.Now()
		name, _ := newCSR(t)
		c := condition("Failed")
		c["lastUpdateTime"], c["lastTransitionTime"] = nil, nil
		a := write(t, name, "status", c)
		checkRecent(t, a, "status.conditions.0.lastUpdateTime", since)
		checkRecent(t, a, "status.conditions.0.lastTransitionTime", since)
	})
	t.Run("a time that is none", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		a := send(t, call{method: http.MethodPut, path: csrPath(name, "approval"), body: merged(before.object, withConditions(condition("Approved", "lastUpdateTime", "yesterday")))})
		checkRefused(t, a, name, undecodable(`parsing time "yesterday" as "2006-01-02T15:04:05Z07:00": cannot parse "yesterday" as "2006"`))
		checkUnchanged(t, name, before)
	})
	for _, endpoint := range []string{"approval", "status"} {
		t.Run("the same type and status keep the transition time, through "+endpoint, func(t *testing.T) {
			t.Parallel()
			since := time.Now()
			name, _ := newCSR(t)
			write(t, name, endpoint, condition("Weird", "lastUpdateTime", long, "lastTransitionTime", long, "reason", "old"))
			a := write(t, name, endpoint, condition("Weird", "reason", "new"))
			checkField(t, a, "status.conditions.0.reason", "new")
			checkRecent(t, a, "status.conditions.0.lastUpdateTime", since)
			checkField(t, a, "status.conditions.0.lastTransitionTime", long)
		})
		t.Run("another status has a new transition time, through "+endpoint, func(t *testing.T) {
			t.Parallel()
			since := time.Now()
			name, _ := newCSR(t)
			write(t, name, endpoint, condition("Weird=False", "lastUpdateTime", long, "lastTransitionTime", long))
			a := write(t, name, endpoint, condition("Weird"))
			checkRecent(t, a, "status.conditions.0.lastUpdateTime", since)
			checkRecent(t, a, "status.conditions.0.lastTransitionTime", since)
		})
		t.Run("a condition that comes back has a new transition time, through "+endpoint, func(t *testing.T) {
			t.Parallel()
			since := time.Now()
			name, _ := newCSR(t)
			write(t, name, endpoint, condition("Weird", "lastTransitionTime", long))
			write(t, name, endpoint)
			a := write(t, name, endpoint, condition("Weird"))
			checkRecent(t, a, "status.conditions.0.lastTransitionTime", since)
		})
		t.Run("no conditions leave no list, through "+endpoint, func(t *testing.T) {
			t.Parallel()
			name, _ := newCSR(t)
			write(t, name, endpoint, condition("Weird"))
			write(t, name, endpoint)
			checkField(t, getCSR(t, name), "status", map[string]any{})
		})
	}
	t.Run("the approver may change reason and message", func(t *testing.T) {
		t.Parallel()
		since := time.Now()
		name, _ := newCSR(t)
		write(t, name, "approval", condition("Approved", "reason", "old", "lastUpdateTime", long, "lastTransitionTime", long))
		a := write(t, name, "approval", condition("Approved", "reason", "new", "message", "text"))
		checkRecent(t, a, "status.conditions.0.lastUpdateTime", since)
		checkField(t, a, "status.conditions", first(map[string]any{
			"type": "Approved", "status": "True", "reason": "new", "message": "text",
			"lastUpdateTime": a.field("status.conditions.0.lastUpdateTime"), "lastTransitionTime": long,
		}))
	})
	t.Run("the signer's changes of an approval are dropped", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		approved := write(t, name, "approval", condition("Approved", "reason", "old", "lastUpdateTime", long, "lastTransitionTime", long))
		write(t, name, "status", condition("Approved=False", "reason", "new", "message", "text", "lastUpdateTime", longer, "lastTransitionTime", longer))
		checkUnchanged(t, name, approved)
	})
	t.Run("reason and message are free, empty ones are not written out", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		a := write(t, name, "approval", condition("Approved", "reason", "", "message", "first\nsecond <&>"))
		checkField(t, a, "status.conditions.0.reason", nil)
		checkField(t, a, "status.conditions.0.message", "first\nsecond <&>")
	})
}
