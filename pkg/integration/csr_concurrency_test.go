// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package integration

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pinnace-io/pinnace/internal/gen"
)

// together sends all calls at the same time and returns the answers in their order.
func together(t *testing.T, calls ...call) []answer {
	t.Helper()
	answers := make([]answer, len(calls))
	var group sync.WaitGroup
	start := make(chan struct{})
	for i, c := range calls {
		group.Go(func() {
			<-start
			answers[i] = send(t, c)
		})
	}
	close(start)
	group.Wait()
	return answers
}

// codes are the status codes of answers, sorted.
func codes(answers []answer) []int {
	out := []int{}
	for _, a := range answers {
		out = append(out, a.code)
	}
	slices.Sort(out)
	return out
}

func TestCSRTwoApprovers(t *testing.T) {
	t.Parallel()
	decide := func(name, kind, version string) call {
		body := withConditions(condition(kind))
		if version != "" {
			body["metadata"] = map[string]any{"resourceVersion": version}
		}
		return call{method: http.MethodPatch, path: csrPath(name, "approval"), contentType: mergePatch, body: body}
	}
	t.Run("one after the other, both with the first version", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		version := before.text("metadata.resourceVersion")
		mustSend(t, decide(name, "Denied", version), http.StatusOK)
		checkRefused(t, send(t, decide(name, "Approved", version)), name, csrModified)
		if diff := cmp.Diff([]string{"Denied=True"}, conditionsOf(getCSR(t, name))); diff != "" {
			t.Errorf("conditions (-want +got):\n%s", diff)
		}
	})
	t.Run("one after the other, without a version", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		mustSend(t, decide(name, "Denied", ""), http.StatusOK)
		checkInvalid(t, send(t, decide(name, "Approved", "")), name, `status.conditions: Forbidden: updates may not remove a condition of type "Denied"`)
	})
	for about, loser := range map[string]int{"with a version": http.StatusConflict, "without a version": http.StatusUnprocessableEntity} {
		t.Run("at the same time, "+about, func(t *testing.T) {
			t.Parallel()
			for range 10 {
				name, before := newCSR(t)
				version := ""
				if loser == http.StatusConflict {
					version = before.text("metadata.resourceVersion")
				}
				answers := together(t, decide(name, "Denied", version), decide(name, "Approved", version))
				if diff := cmp.Diff([]int{http.StatusOK, loser}, codes(answers)); diff != "" {
					t.Errorf("codes (-want +got):\n%s", diff)
				}
				winner := answers[0]
				if winner.code != http.StatusOK {
					winner = answers[1]
				}
				checkUnchanged(t, name, winner)
				if len(conditionsOf(winner)) != 1 {
					t.Errorf("conditions %v, want one", conditionsOf(winner))
				}
			}
		})
	}
	t.Run("two who replace", func(t *testing.T) {
		t.Parallel()
		name, before := newCSR(t)
		put := func(kind string) call {
			return call{method: http.MethodPut, path: csrPath(name, "approval"), body: merged(before.object, withConditions(condition(kind)))}
		}
		if diff := cmp.Diff([]int{http.StatusOK, http.StatusConflict}, codes(together(t, put("Approved"), put("Denied")))); diff != "" {
			t.Errorf("codes (-want +got):\n%s", diff)
		}
	})
}

func TestCSRConcurrentWrites(t *testing.T) {
	t.Parallel()
	t.Run("one of many creates wins", func(t *testing.T) {
		t.Parallel()
		name := unique("csr")
		calls := []call{}
		for range 8 {
			calls = append(calls, call{method: http.MethodPost, path: csrCollection, body: csrBody(t, name)})
		}
		want := append([]int{http.StatusCreated}, slices.Repeat([]int{http.StatusConflict}, 7)...)
		if diff := cmp.Diff(want, codes(together(t, calls...))); diff != "" {
			t.Errorf("codes (-want +got):\n%s", diff)
		}
	})
	t.Run("patches without a version all arrive", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		calls, want := []call{}, map[string]any{}
		for i := range 5 {
			label := fmt.Sprintf("label-%d", i)
			calls = append(calls, call{method: http.MethodPatch, path: csrPath(name), contentType: mergePatch, body: withLabel(label, "yes")})
			want[label] = "yes"
		}
		if diff := cmp.Diff(slices.Repeat([]int{http.StatusOK}, len(calls)), codes(together(t, calls...))); diff != "" {
			t.Errorf("codes (-want +got):\n%s", diff)
		}
		checkField(t, getCSR(t, name), "metadata.labels", want)
	})
	t.Run("approver and signer don't lose each other's write", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		answers := together(t,
			call{method: http.MethodPatch, path: csrPath(name, "approval"), contentType: mergePatch, body: withConditions(condition("Approved"))},
			call{method: http.MethodPatch, path: csrPath(name, "status"), contentType: mergePatch, body: withCertificate(gen.RobotCertificate())},
		)
		if diff := cmp.Diff([]int{http.StatusOK, http.StatusOK}, codes(answers)); diff != "" {
			t.Errorf("codes (-want +got):\n%s", diff)
		}
		after := getCSR(t, name)
		if len(conditionsOf(after)) != 1 || after.text("status.certificate") == "" {
			t.Errorf("status %v", after.field("status"))
		}
	})
	t.Run("one of two signers wins", func(t *testing.T) {
		t.Parallel()
		name, _ := newCSR(t)
		sign := func(pem []byte) call {
			return call{method: http.MethodPatch, path: csrPath(name, "status"), contentType: mergePatch, body: withCertificate(pem)}
		}
		answers := together(t, sign(gen.RobotCertificate()), sign(gen.RobotAuthority()))
		if diff := cmp.Diff([]int{http.StatusOK, http.StatusUnprocessableEntity}, codes(answers)); diff != "" {
			t.Errorf("codes (-want +got):\n%s", diff)
		}
	})
}
