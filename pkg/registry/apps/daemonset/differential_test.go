// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package daemonset_test

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pinnace-io/pinnace/pkg/apis/apps"
)

// tally counts what became of requests, so that a corpus that shows nothing fails.
type tally struct{ accepted, refused, undecodable, warned int }

func (c *tally) add(a answer) {
	switch {
	case a.DecodeError != "":
		c.undecodable++
	case a.Status != nil:
		c.refused++
	default:
		c.accepted++
	}
	if len(a.Warnings) != 0 {
		c.warned++
	}
}

func (c *tally) check(t *testing.T, accepted, refused, warned int) {
	t.Helper()
	t.Logf("%d accepted, %d refused, %d could not be decoded, %d with warnings", c.accepted, c.refused, c.undecodable, c.warned)
	if c.accepted < accepted || c.refused < refused || c.warned < warned {
		t.Errorf("the corpus shows too little: want at least %d accepted, %d refused, %d with warnings", accepted, refused, warned)
	}
}

// same plays a request on both servers and wants the same answer.
func same(t *testing.T, name string, us ours, them oracle, r request) answer {
	t.Helper()
	want, got := play(t.Context(), t, them, r), play(t.Context(), t, us, r)
	if !reflect.DeepEqual(want, got) {
		t.Errorf("%s: not upstream's answer (-upstream +got):\n%s\nbody: %.3000s", name, cmp.Diff(want, got), r.body)
	}
	return got
}

func TestDecodeLikeUpstream(t *testing.T) {
	t.Parallel()
	us, them, fuzz, random := newOurs(t), newOracle(), newFuzzedDaemonSets(1), rand.New(rand.NewSource(2))
	failed := 0
	for i := range 300 {
		ds := minimal()
		switch i % 3 {
		case 0:
			ds = fuzz.next(t)
		case 1:
			ds = mutated(random, fuzz.next(t), 4, slices.Concat(harmless(), harmful()))
		case 2:
			ds = mutated(random, ds, 4, slices.Concat(harmless(), harmful()))
		}
		data := body(t, ds)
		got, gotErr := us.decode(data)
		want, wantErr := them.decode(data)
		if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
			t.Errorf("object %d: error %v, upstream's %v", i, gotErr, wantErr)
		}
		if gotErr != nil || wantErr != nil {
			failed++
			continue
		}
		if seen, upstreams := see(t, us, got, nil, nil), see(t, them, want, nil, nil); !reflect.DeepEqual(upstreams, seen) {
			t.Errorf("object %d: not upstream's object (-upstream +got):\n%s", i, cmp.Diff(upstreams, seen))
		}
	}
	if failed < 5 || failed > 150 {
		t.Errorf("%d of the objects could not be decoded", failed)
	}
}

func TestCreateLikeUpstream(t *testing.T) {
	t.Parallel()
	us, them, random, seen := newOurs(t), newOracle(), rand.New(rand.NewSource(3)), &tally{}
	for i := range 350 {
		ds := mutated(random, minimal(), 4, harmless())
		if i%2 == 0 {
			ds = mutated(random, ds, 3, harmful())
		}
		seen.add(same(t, fmt.Sprintf("mutated %d", i), us, them, request{body: body(t, ds)}))
	}
	fuzz := newFuzzedDaemonSets(4)
	for i := range 150 {
		seen.add(same(t, fmt.Sprintf("random %d", i), us, them, request{body: body(t, fuzz.next(t))}))
	}
	seen.check(t, 100, 200, 10)
}

func TestUpdateLikeUpstream(t *testing.T) {
	t.Parallel()
	us, them, random, seen := newOurs(t), newOracle(), rand.New(rand.NewSource(5)), &tally{}
	for i := range 450 {
		old := mutated(random, minimal(), 3, harmless())
		ds := old.DeepCopy()
		if i%5 != 0 {
			ds = mutated(random, ds, 2, harmless())
		}
		if i%3 == 0 {
			ds = mutated(random, ds, 2, harmful())
		}
		r := request{body: body(t, ds), old: body(t, old), oldIsCreated: true}
		if i%4 == 0 {
			r.subresource = "status"
		}
		seen.add(same(t, fmt.Sprintf("mutated %d", i), us, them, r))
	}
	seen.check(t, 200, 60, 8)
}

// What is in the storage may break today's rules. Much of it may stay as it is.
func TestUpdateOfInvalidLikeUpstream(t *testing.T) {
	t.Parallel()
	us, them, random, seen := newOurs(t), newOracle(), rand.New(rand.NewSource(6)), &tally{}
	for i := range 300 {
		old := mutated(random, minimal(), 1+i%3, harmful())
		ds := mutated(random, old.DeepCopy(), 2, slices.Concat(harmless(), harmful()))
		if i%4 == 0 {
			ds = old.DeepCopy()
		}
		seen.add(same(t, fmt.Sprintf("mutated %d", i), us, them, request{body: body(t, ds), old: body(t, old)}))
	}
	fuzz := newFuzzedDaemonSets(7)
	for i := range 100 {
		old := fuzz.next(t)
		ds := mutated(random, old.DeepCopy(), 2, slices.Concat(harmless(), harmful()))
		if i%4 == 0 {
			ds = fuzz.next(t)
			ds.Name = old.Name
		}
		r := request{body: body(t, ds), old: body(t, old)}
		if i%5 == 0 {
			r.subresource = "status"
		}
		seen.add(same(t, fmt.Sprintf("random %d", i), us, them, r))
	}
	seen.check(t, 15, 150, 0)
}

// An update must leave the stored object alone: it may be in the watch cache.
func TestUpdateLeavesOldObjectAlone(t *testing.T) {
	t.Parallel()
	us, random := newOurs(t), rand.New(rand.NewSource(8))
	for i := range 100 {
		decoded := func(seed int64) runtime.Object {
			obj, err := us.decode(body(t, mutated(rand.New(rand.NewSource(seed)), minimal(), 4, harmless())))
			if err != nil {
				t.Fatal(err)
			}
			fillSystemFields(obj)
			return obj
		}
		old, ds := decoded(random.Int63()), decoded(random.Int63())
		before := old.DeepCopyObject()
		for _, subresource := range []string{"", "status"} {
			ctx := requestContext(t.Context(), &warnings{}, subresource)
			_ = us.update(ctx, subresource, ds.DeepCopyObject(), old) // the error isn't the subject
			if !reflect.DeepEqual(before, old) {
				t.Errorf("update %d of %q changed the old object:\n%s", i, subresource, cmp.Diff(before, old))
			}
		}
	}
}

// The annotation never gets into what upstream's validation and metadata-only answers see.
func TestMetadataLikeUpstream(t *testing.T) {
	t.Parallel()
	us, them, fuzz := newOurs(t), newOracle(), newFuzzedDaemonSets(9)
	for i := range 50 {
		data := body(t, fuzz.next(t))
		got, err := us.decode(data)
		if err != nil {
			t.Fatal(err)
		}
		want, err := them.decode(data)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(upstreamMeta(want), apps.WithoutTemplateGeneration(v1(got)).ObjectMeta); diff != "" {
			t.Errorf("object %d: metadata (-upstream +got):\n%s", i, diff)
		}
	}
}
