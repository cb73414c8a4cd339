// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package fuzz

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/client-go/rest"
)

// fake is a server that answers what a function says, with parts that are new each time.
func fake(t *testing.T, answer func(body string, header http.Header) (int, string)) *rest.Config {
	t.Helper()
	var mu sync.Mutex
	n := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil || r.URL.Path != "/apis/apps/v1/namespaces/ns/daemonsets" || r.URL.Query().Get("dryRun") != "All" {
			http.Error(w, "an unexpected request: "+r.URL.String(), http.StatusTeapot)
			return
		}
		code, text := answer(string(body), w.Header())
		mu.Lock()
		n++
		made := fmt.Sprintf(`{"uid":"%d","creationTimestamp":"%d","time":"%d","text":%q}`, n, n, n, text)
		mu.Unlock()
		w.WriteHeader(code)
		_, _ = io.WriteString(w, made)
	}))
	t.Cleanup(server.Close)
	return &rest.Config{Host: server.URL, QPS: -1}
}

func TestADifferenceIsFoundAndMadeSmall(t *testing.T) {
	plain := func(string, http.Header) (int, string) { return http.StatusCreated, "made" }
	for says, ours := range map[string]func(body string, header http.Header) (int, string){
		"another status": func(body string, _ http.Header) (int, string) {
			if strings.Contains(body, `"image"`) {
				return http.StatusUnprocessableEntity, "made"
			}
			return http.StatusCreated, "made"
		},
		"another warning": func(body string, header http.Header) (int, string) {
			if strings.Contains(body, `"image"`) {
				header.Add("Warning", `299 - "an image"`)
			}
			return http.StatusCreated, "made"
		},
		"another body": func(body string, _ http.Header) (int, string) {
			if strings.Contains(body, `"image"`) {
				return http.StatusCreated, "made, with an image"
			}
			return http.StatusCreated, "made"
		},
	} {
		t.Run(says, func(t *testing.T) {
			c := Config{Ours: fake(t, ours), Theirs: fake(t, plain), Namespace: "ns", Seed: 1, Duration: 200 * time.Millisecond, Log: t.Logf}
			findings, err := Run(t.Context(), c)
			if err != nil {
				t.Fatal(err)
			}
			if len(findings) != 1 {
				t.Fatalf("%d findings, want 1", len(findings))
			}
			if want := "spec:\n  template:\n    spec:\n"; !strings.HasPrefix(string(findings[0].Object), want) {
				t.Errorf("the object isn't small:\n%s", findings[0].Object)
			}
			if lines := strings.Count(string(findings[0].Object), "\n"); lines > 5 {
				t.Errorf("the object has %d lines:\n%s", lines, findings[0].Object)
			}
			if findings[0].Ours == findings[0].Theirs {
				t.Errorf("both answers are %s", findings[0].Ours)
			}
		})
	}
}

func TestServersThatAgreeGiveNoFindings(t *testing.T) {
	same := func(string, http.Header) (int, string) { return http.StatusCreated, "made" }
	var logged []string
	c := Config{Ours: fake(t, same), Theirs: fake(t, same), Namespace: "ns", Seed: 7, Duration: 100 * time.Millisecond,
		Log: func(format string, args ...any) { logged = append(logged, fmt.Sprintf(format, args...)) }}
	findings, err := Run(t.Context(), c)
	if err != nil || len(findings) != 0 {
		t.Fatalf("%v, %v, want no findings", findings, err)
	}
	if len(logged) < 2 || logged[0] != "seed 7" || !strings.Contains(logged[len(logged)-1], "0% refused, 0 answered differently") {
		t.Errorf("logged %q", logged)
	}
}

func TestAnswersInAnyOrderAreNoDifference(t *testing.T) {
	var mu sync.Mutex
	n := 0
	anyOrder := func(string, http.Header) (int, string) {
		mu.Lock()
		defer mu.Unlock()
		n++
		return http.StatusUnprocessableEntity, []string{"a, b", "b, a", "b, a"}[n%3]
	}
	c := Config{Ours: fake(t, anyOrder), Theirs: fake(t, anyOrder), Namespace: "ns", Seed: 7, Duration: 100 * time.Millisecond, Log: t.Logf}
	findings, err := Run(t.Context(), c)
	if err != nil || len(findings) != 0 {
		t.Fatalf("%v, %v, want no findings", findings, err)
	}
}

func TestAServerThatIsGoneIsAnError(t *testing.T) {
	gone := httptest.NewServer(http.NotFoundHandler())
	gone.Close()
	same := func(string, http.Header) (int, string) { return http.StatusCreated, "made" }
	c := Config{Ours: &rest.Config{Host: gone.URL}, Theirs: fake(t, same), Namespace: "ns", Seed: 1, Duration: time.Minute}
	if _, err := Run(t.Context(), c); err == nil {
		t.Error("no error")
	}
}

func TestShrink(t *testing.T) {
	for says, c := range map[string]struct {
		object, want string
		interesting  func(text string) bool
	}{
		"a field that matters stays, with what it is in": {
			object:      `{"a": {"b": [1, {"c": "text", "d": 3}], "e": 1}, "f": true}`,
			want:        `{"a": {"b": [{"c": ""}]}}`,
			interesting: func(text string) bool { return strings.Contains(text, `"c":"`) },
		},
		"a text gets shorter": {
			object:      `{"a": "xxxxxxxxxxxxxxxx"}`,
			want:        `{"a": "xxxx"}`,
			interesting: func(text string) bool { return strings.Contains(text, "xxx") },
		},
		"a number gets smaller": {
			object:      `{"a": -4000}`,
			want:        `{"a": -15}`,
			interesting: func(text string) bool { return len(text) >= len(`{"a":-15}`) && strings.Contains(text, "-") },
		},
		"an item in the middle goes": {
			object:      `{"a": ["x", "y", "z"]}`,
			want:        `{"a": ["x", "z"]}`,
			interesting: func(text string) bool { return strings.Contains(text, `"x"`) && strings.Contains(text, `"z"`) },
		},
		"nothing is left when nothing matters": {
			object: `{"a": {"b": 1}}`, want: `{}`, interesting: func(string) bool { return true },
		},
	} {
		t.Run(says, func(t *testing.T) {
			object, before := parse(t, c.object), parse(t, c.object)
			got := shrink(object, 1000, func(candidate map[string]any) bool { return c.interesting(text(t, candidate)) })
			if diff := cmp.Diff(parse(t, c.want), got); diff != "" {
				t.Errorf("shrink (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(before, object); diff != "" {
				t.Errorf("the object was changed:\n%s", diff)
			}
		})
	}
}

func TestShrinkGivesUpAfterItsTries(t *testing.T) {
	tries := 0
	shrink(parse(t, `{"a": "aaaaaaaa", "b": [1, 2, 3, 4]}`), 5, func(map[string]any) bool { tries++; return false })
	if tries != 5 {
		t.Errorf("%d tries, want 5", tries)
	}
}

func TestGenerateIsTheSameForASeed(t *testing.T) {
	seen := map[string]bool{}
	for n := range uint64(200) {
		one := text(t, Generate(3, n))
		if two := text(t, Generate(3, n)); one != two {
			t.Fatalf("case %d is %s, then %s", n, one, two)
		}
		seen[one] = true
	}
	if len(seen) < 150 {
		t.Errorf("%d of 200 objects are different", len(seen))
	}
}

// TestGenerateUsesEveryField counts the fields of PodSpec, Container and VolumeSource that come.
func TestGenerateUsesEveryField(t *testing.T) {
	missing := map[string]bool{}
	for _, of := range []reflect.Type{reflect.TypeFor[corev1.PodSpec](), reflect.TypeFor[corev1.Container](), reflect.TypeFor[corev1.VolumeSource]()} {
		for _, f := range fieldsOf(of) {
			missing[f.name] = true
		}
	}
	for n := uint64(0); n < 20000 && len(missing) > 0; n++ {
		spec := under(Generate(1, n), "spec", "template", "spec")
		places := append(append(objects(spec["containers"]), objects(spec["volumes"])...), spec)
		for _, place := range places {
			for key := range place {
				delete(missing, key)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("fields that never come: %v", missing)
	}
}

// TestMuchOfWhatIsGeneratedFitsTheTypes is about half of the accepted share: types. Rules are seen on servers only.
func TestMuchOfWhatIsGeneratedFitsTheTypes(t *testing.T) {
	fits := 0
	const all = 2000
	for n := range uint64(all) {
		if json.Unmarshal([]byte(text(t, Generate(2, n))), &appsv1.DaemonSet{}) == nil {
			fits++
		}
	}
	if share := percent(fits, all); share < 70 || share > 99 {
		t.Errorf("%d%% fit", share)
	}
}

func parse(t *testing.T, text string) map[string]any {
	t.Helper()
	out, ok := (&generator{}).clone(text).(map[string]any)
	if !ok {
		t.Fatalf("%s is no object", text)
	}
	return out
}

func text(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
