// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.etcd.io/bbolt"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// TestKilledWhileWriting: what was acknowledged is there after kill -9.
func TestKilledWhileWriting(t *testing.T) {
	t.Parallel()
	dir := newDir(t)
	stored := map[string]bool{}
	for range 3 {
		c := startChild(t, "write", dir)
		c.awaitReady(t)
		time.AfterFunc(300*time.Millisecond, func() { _ = c.Process.Kill() })
		for c.lines.Scan() {
			if number, ok := strings.CutPrefix(c.lines.Text(), "stored "); ok {
				stored["/test/"+number] = true
			}
		}
		if code := c.exitCode(t); code != -1 {
			t.Fatalf("the child was not killed, it ended with %d: %s", code, c.stderr)
		}
	}
	if len(stored) < 100 {
		t.Fatalf("only %d keys were stored", len(stored))
	}
	ctx, log := logged(t, 0)
	e, err := Start(ctx, EmbeddedConfig{DataDir: dir})
	must(t, err)
	t.Cleanup(func() { closeBackend(t, e) })
	got, err := e.client.Get(t.Context(), "/test/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
	must(t, err)
	for _, kv := range got.Kvs {
		delete(stored, string(kv.Key))
	}
	if len(stored) > 0 {
		t.Errorf("%d keys that were acknowledged are lost", len(stored))
	}
	if log := log.String(); log != "" {
		t.Errorf("not quiet:\n%s", log)
	}
}

// TestKilledInItsFirstStart: whatever a first start leaves that is killed, the next one goes through.
func TestKilledInItsFirstStart(t *testing.T) {
	t.Parallel()
	discarded := 0
	for n := range 20 {
		dir := newDir(t)
		for range 1 + n%3 { // sometimes killed more than once
			c := startChild(t, "start", dir)
			delay := time.Duration(rand.Int64N(int64(200 * time.Millisecond)))
			time.Sleep(delay)
			must(t, c.Process.Kill())
			c.exitCode(t)
		}
		ctx, log := logged(t, 0)
		e, err := Start(ctx, EmbeddedConfig{DataDir: dir, StartTimeout: 20 * time.Second})
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(log.String(), "An earlier first start did not finish") {
			discarded++
		}
		_, err = e.client.Put(t.Context(), "/key", "value")
		must(t, err)
		closeBackend(t, e)
	}
	t.Logf("%d of 20 began again", discarded)
}

// filled returns a data directory that was closed after 20 writes, and its one log segment.
func filled(t *testing.T) (dir, segment string) {
	t.Helper()
	dir = newDir(t)
	e := start(t, inDir(dir))
	for n := range 20 {
		_, err := e.client.Put(t.Context(), fmt.Sprintf("/key/%02d", n), strings.Repeat("v", 600))
		must(t, err)
	}
	closeBackend(t, e)
	names, err := walNames(dir)
	must(t, err)
	if len(names) != 1 {
		t.Fatalf("segments: %v", names)
	}
	return dir, filepath.Join(walDir(dir), names[0])
}

// frame is one record in a log segment.
type frame struct {
	offset int // of its length
	length int // of the record
	record *walpb.Record
}

func (f frame) end() int { return f.offset + 8 + f.length }

// frames returns the records of a segment.
func frames(t *testing.T, segment string) []frame {
	t.Helper()
	data, err := os.ReadFile(segment)
	must(t, err)
	var all []frame
	for at := 0; at+8 < len(data); {
		length := int(binary.LittleEndian.Uint64(data[at:]) &^ (0xff << 56))
		if length == 0 {
			break
		}
		f := frame{offset: at, length: length, record: &walpb.Record{}}
		must(t, proto.Unmarshal(data[at+8:at+8+length], f.record))
		all = append(all, f)
		at += 8 + (length+7)/8*8
	}
	return all
}

// lastEntry returns the last entry's record.
func lastEntry(t *testing.T, all []frame) frame {
	t.Helper()
	for n := len(all) - 1; n >= 0; n-- {
		if all[n].record.GetType() == wal.EntryType {
			return all[n]
		}
	}
	t.Fatal("no entry")
	return frame{}
}

// overwrite changes a file in place.
func overwrite(t *testing.T, path string, offset int, content []byte) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_WRONLY, 0)
	must(t, err)
	_, err = file.WriteAt(content, int64(offset))
	must(t, errors.Join(err, file.Close()))
}

// setApplied sets the index of the last entry that the database says it has.
func setApplied(t *testing.T, dir string, index uint64) {
	t.Helper()
	setMeta(t, dir, schema.MetaConsistentIndexKeyName, binary.BigEndian.AppendUint64(nil, index))
}

func setMeta(t *testing.T, dir string, key, value []byte) {
	t.Helper()
	db, err := bbolt.Open(dbPath(dir), fileMode, nil)
	must(t, err)
	must(t, errors.Join(db.Update(func(tx *bbolt.Tx) error {
		return tx.Bucket(schema.Meta.Name()).Put(key, value)
	}), db.Close()))
}

func entryIndex(t *testing.T, f frame) uint64 {
	t.Helper()
	entry := &raftpb.Entry{}
	must(t, proto.Unmarshal(f.record.Data, entry))
	return entry.GetIndex()
}

func TestDamagedLog(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(t *testing.T, dir, segment string, all []frame) (offset int)
		want   string // %[1]s is the directory, %[2]s the segment, %[3]d the offset
	}{
		"the last 20 bytes of the last record are zero": {
			func(t *testing.T, _, segment string, all []frame) int {
				last := all[len(all)-1]
				damage := make([]byte, 20)
				if sector := (last.end() - 1) / 512 * 512; sector > last.offset && sector >= last.end()-20 {
					// Zeros would be all that the last sector has of the record: it could be torn, and be cut off.
					damage = bytes.Repeat([]byte{1}, 20)
				}
				overwrite(t, segment, last.end()-20, damage)
				return last.offset
			},
			"data directory %[1]s is damaged: write-ahead log %[2]s, record at offset %[3]d: walpb: crc mismatch",
		},
		"the last 20 bytes of the last entry are zero": {
			func(t *testing.T, _, segment string, all []frame) int {
				last := lastEntry(t, all)
				overwrite(t, segment, last.end()-20, make([]byte, 20))
				return last.offset
			},
			// Where these 20 bytes are all that a sector has of the record, it could be torn, but the database has it.
			"data directory %[1]s is damaged: write-ahead log %[2]s",
		},
		"a byte in the middle": {
			func(t *testing.T, _, segment string, all []frame) int {
				middle := all[len(all)/2]
				overwrite(t, segment, middle.end()-10, []byte("!"))
				return middle.offset
			},
			"data directory %[1]s is damaged: write-ahead log %[2]s, record at offset %[3]d: walpb: crc mismatch: restore the directory from a snapshot",
		},
		"a length in the middle": {
			func(t *testing.T, _, segment string, all []frame) int {
				middle := all[len(all)/2]
				overwrite(t, segment, middle.offset, []byte{0xff, 0xff, 0xff, 0xff, 0x7f})
				return middle.offset
			},
			"data directory %[1]s is damaged: write-ahead log %[2]s ends at offset %[3]d with entry ",
		},
		"a lost sector in the middle": {
			func(t *testing.T, _, segment string, all []frame) int {
				middle := all[len(all)/2]
				overwrite(t, segment, middle.offset, make([]byte, 512))
				return middle.offset
			},
			"data directory %[1]s is damaged: write-ahead log %[2]s ends at offset %[3]d with entry ",
		},
		"cut, and the database has more": {
			func(t *testing.T, _, segment string, all []frame) int {
				middle := all[len(all)/2]
				must(t, os.Truncate(segment, int64(middle.offset+12)))
				return middle.offset
			},
			"data directory %[1]s is damaged: write-ahead log %[2]s ends at offset %[3]d with entry ",
		},
		"the log is gone": {
			func(t *testing.T, dir, _ string, _ []frame) int {
				must(t, os.RemoveAll(walDir(dir)))
				return 0
			},
			"data directory %[1]s is damaged: its write-ahead log %[1]s/member/wal is missing, and without it what was written last is lost: restore the directory from a snapshot",
		},
		"the log's segment is gone": {
			func(t *testing.T, _, segment string, _ []frame) int {
				must(t, os.Remove(segment))
				return 0
			},
			"data directory %[1]s is damaged: its write-ahead log %[1]s/member/wal is missing, ",
		},
		"a segment is missing between two": {
			func(t *testing.T, dir, _ string, _ []frame) int {
				writeFile(t, filepath.Join(walDir(dir), "0000000000000002-0000000000000063.wal"), "")
				return 0
			},
			"data directory %[1]s is damaged: write-ahead log %[1]s/member/wal: segment 1 is missing: restore the directory from a snapshot",
		},
		"a segment with another name": {
			func(t *testing.T, dir, _ string, _ []frame) int {
				writeFile(t, filepath.Join(walDir(dir), "a.wal"), "")
				return 0
			},
			"data directory %[1]s is damaged: %[1]s/member/wal/a.wal: wal: file not found: not the name of a log segment",
		},
		"damage in a segment that is not the last": {
			func(t *testing.T, dir, segment string, all []frame) int {
				middle := all[len(all)/2]
				must(t, os.Truncate(segment, int64(middle.offset+12)))
				writeFile(t, filepath.Join(walDir(dir), "0000000000000001-0000000000000063.wal"), "")
				return middle.offset
			},
			"data directory %[1]s is damaged: write-ahead log %[2]s, record at offset %[3]d: walpb: crc mismatch: unexpected EOF: [wal] max entry size limit exceeded",
		},
		"a lost sector in a segment that is not the last": {
			func(t *testing.T, dir, segment string, all []frame) int {
				middle := all[len(all)/2]
				overwrite(t, segment, middle.offset, make([]byte, 512))
				writeFile(t, filepath.Join(walDir(dir), "0000000000000001-0000000000000063.wal"), "")
				return middle.offset
			},
			"data directory %[1]s is damaged: write-ahead log %[2]s, record at offset %[3]d: walpb: crc mismatch: unexpected EOF: restore the directory from a snapshot",
		},
		"the segment can't be read": {
			func(t *testing.T, _, segment string, _ []frame) int {
				must(t, os.Remove(segment))
				must(t, os.Mkdir(segment, 0o700))
				return -1
			},
			"data directory %[1]s cannot be read: write-ahead log %[2]s: is a directory",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, segment := filled(t)
			offset := tt.damage(t, dir, segment, frames(t, segment))
			// In another process, as etcd would end this one if it came to that.
			c := startChild(t, "start", dir)
			if code := c.exitCode(t); code != 1 {
				t.Fatalf("exit status %d: %s", code, c.stderr)
			}
			want := fmt.Sprintf(strings.NewReplacer("%[2]s", segment, "%[3]d", strconv.Itoa(offset)).Replace(tt.want), dir)
			got := c.stderr.String()
			if !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
				t.Errorf("it says\n%swant\n%s", got, want)
			}
			if strings.Contains(want, segment) && offset >= 0 && !strings.Contains(got, "walpb: crc mismatch") {
				t.Errorf("no checksum in\n%s", got)
			}
			if db, err := os.Stat(dbPath(dir)); err != nil || db.Size() < 16<<10 {
				t.Errorf("the database was touched: %v %v", db, err)
			}
		})
	}
}

// TestTornLog: what a power loss leaves of a write that nobody was told of is cut off, with a loud line.
func TestTornLog(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, segment string, all []frame) frame{
		"the last entry lacks a sector": func(t *testing.T, segment string, all []frame) frame {
			last := lastEntry(t, all)
			sector := (last.offset/512 + 1) * 512
			overwrite(t, segment, sector, make([]byte, last.end()-sector))
			zeroFrom(t, segment, last.end())
			return last
		},
		"the file ends in the last entry": func(t *testing.T, segment string, all []frame) frame {
			last := lastEntry(t, all)
			must(t, os.Truncate(segment, int64(last.end()-100)))
			return last
		},
		"the last entry's first sector is lost, its rest is there": func(t *testing.T, segment string, all []frame) frame {
			last := lastEntry(t, all)
			zeroFrom(t, segment, last.end())
			overwrite(t, segment, last.offset, make([]byte, 100))
			return last
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, segment := filled(t)
			last := damage(t, segment, frames(t, segment))
			index := entryIndex(t, last)
			// etcd commits to its database every 100 ms: the entry had not come that far.
			setApplied(t, dir, index-1)

			ctx, log := logged(t, 0)
			e, err := Start(ctx, EmbeddedConfig{DataDir: dir})
			must(t, err)
			t.Cleanup(func() { closeBackend(t, e) })
			for _, want := range []string{
				"The write-ahead log ends in a torn record, as a power loss leaves it", `log="` + segment + `"`,
				fmt.Sprintf("offset=%d lastEntry=%d", last.offset, index-1), `copy="` + segment + `.broken"`,
			} {
				if !strings.Contains(log.String(), want) {
					t.Errorf("no %q in\n%s", want, log)
				}
			}
			copied, err := os.Stat(segment + ".broken")
			if err != nil || copied.Mode().Perm() != 0o600 {
				t.Errorf("copy: %v %v", copied, err)
			}
			got, err := e.client.Get(t.Context(), "/key/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
			must(t, err)
			if len(got.Kvs) < 19 {
				t.Errorf("%d keys are left", len(got.Kvs))
			}
			_, err = e.client.Put(t.Context(), "/key/new", "value")
			must(t, err)
			closeBackend(t, e)
			again := start(t, inDir(dir))
			if got, err := again.client.Get(t.Context(), "/key/new"); err != nil || len(got.Kvs) != 1 {
				t.Errorf("after a restart: %v %v", got, err)
			}
		})
	}
}

// zeroFrom zeroes what a segment holds from an offset on.
func zeroFrom(t *testing.T, segment string, offset int) {
	t.Helper()
	info, err := os.Stat(segment)
	must(t, err)
	must(t, os.Truncate(segment, int64(offset)))
	must(t, os.Truncate(segment, info.Size()))
}

func TestTornLogThatCannotBeSaved(t *testing.T) {
	t.Parallel()
	dir, segment := filled(t)
	last := lastEntry(t, frames(t, segment))
	must(t, os.Truncate(segment, int64(last.end()-100)))
	setApplied(t, dir, entryIndex(t, last)-1)
	must(t, os.Mkdir(segment+".broken", 0o700))
	_, err := Start(t.Context(), EmbeddedConfig{DataDir: dir})
	wantError(t, err, "data directory %s: write-ahead log %s ends in a torn record and cannot be saved before it is cut: is a directory", dir, segment)
}

func TestDamagedDatabase(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		damage func(t *testing.T, dir string)
		want   string
	}{
		"it is cut short": {
			func(t *testing.T, dir string) { must(t, os.Truncate(dbPath(dir), 16<<10)) },
			"data directory %[1]s is damaged: %[1]s/member/snap/db: the file is cut short: 16384 bytes of ",
		},
		"it is no database": {
			func(t *testing.T, dir string) { overwrite(t, dbPath(dir), 0, []byte(strings.Repeat("x", 16<<10))) },
			"data directory %[1]s is damaged: %[1]s/member/snap/db: invalid database: restore the directory from a snapshot",
		},
		"a page is another's": {
			func(t *testing.T, dir string) {
				info, err := os.Stat(dbPath(dir))
				must(t, err)
				overwrite(t, dbPath(dir), 8<<10, []byte(strings.Repeat("x", int(info.Size())-8<<10)))
			},
			"data directory %[1]s is damaged: %[1]s/member/snap/db: ",
		},
		"a newer etcd has written it": {
			func(t *testing.T, dir string) { setMeta(t, dir, schema.MetaStorageVersionName, []byte("3.9.0")) },
			"data directory %[1]s was written by etcd 3.9, this is etcd 3.7.3: use a build with that etcd, or run \"etcdutl migrate\" of it",
		},
		"a far newer etcd has written it": {
			func(t *testing.T, dir string) { setMeta(t, dir, schema.MetaStorageVersionName, []byte("4.0.0")) },
			"data directory %[1]s was written by etcd 4.0, this is etcd 3.7.3: ",
		},
		"its version is none": {
			func(t *testing.T, dir string) { setMeta(t, dir, schema.MetaStorageVersionName, []byte("new")) },
			"data directory %[1]s is damaged: %[1]s/member/snap/db: new is not in dotted-tri format: restore the directory from a snapshot",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := filled(t)
			tt.damage(t, dir)
			c := startChild(t, "start", dir)
			if code := c.exitCode(t); code != 1 {
				t.Fatalf("exit status %d: %s", code, c.stderr)
			}
			if got, want := c.stderr.String(), fmt.Sprintf(tt.want, dir); !strings.HasPrefix(got, want) || strings.Count(got, "\n") != 1 {
				t.Errorf("it says\n%swant\n%s", got, want)
			}
		})
	}
}

func TestMissingDatabase(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(t *testing.T, dir string){
		"it is gone":      func(t *testing.T, dir string) { must(t, os.Remove(dbPath(dir))) },
		"it is cut short": func(t *testing.T, dir string) { must(t, os.Truncate(dbPath(dir), 5000)) },
	} {
		t.Run(name+", the log is whole", func(t *testing.T) {
			t.Parallel()
			dir, _ := filled(t)
			damage(t, dir)
			ctx, log := logged(t, 0)
			e, err := Start(ctx, EmbeddedConfig{DataDir: dir})
			must(t, err)
			t.Cleanup(func() { closeBackend(t, e) })
			got, err := e.client.Get(t.Context(), "/key/", clientv3.WithPrefix(), clientv3.WithKeysOnly())
			if err != nil || len(got.Kvs) != 20 {
				t.Errorf("%d keys are left, %v", len(got.Kvs), err)
			}
			if !strings.Contains(log.String(), "The database is missing and will be made again from the log, which is whole") {
				t.Errorf("it says\n%s", log)
			}
		})
		t.Run(name+", the log begins later", func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			e := start(t, inDir(dir))
			var writing sync.WaitGroup
			for range 16 {
				writing.Go(func() {
					for range snapshotCount/16 + 1 {
						if _, err := e.client.Put(t.Context(), "/key", "value"); err != nil {
							t.Error(err)
							return
						}
					}
				})
			}
			writing.Wait()
			closeBackend(t, e)
			damage(t, dir)
			_, err := Start(t.Context(), EmbeddedConfig{DataDir: dir})
			want := fmt.Sprintf("data directory %s is damaged: the database %s is missing or older than its log (it ends at entry 0, the log begins after ", dir, dbPath(dir))
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Errorf("error:\n%v\nwant:\n%s", err, want)
			}
		})
	}
}

// TestUnfinishedFirstStart goes through what a first start leaves at each of its steps.
func TestUnfinishedFirstStart(t *testing.T) {
	t.Parallel()
	makeWAL := func(t *testing.T, dir string) {
		t.Helper()
		w, err := wal.Create(nil, walDir(dir), []byte("metadata"))
		must(t, err)
		must(t, w.Close())
	}
	makeDB := func(t *testing.T, dir string) {
		t.Helper()
		must(t, os.MkdirAll(filepath.Dir(dbPath(dir)), 0o700))
		db, err := bbolt.Open(dbPath(dir), fileMode, nil)
		must(t, err)
		must(t, db.Close())
	}
	for name, leave := range map[string]func(t *testing.T, dir string){
		"an empty member directory": func(t *testing.T, dir string) { must(t, os.MkdirAll(memberDir(dir), 0o700)) },
		"an empty database":         func(t *testing.T, dir string) { writeFile(t, dbPath(dir), "") },
		"half a database":           func(t *testing.T, dir string) { writeFile(t, dbPath(dir), strings.Repeat("x", 4096)) },
		"a database":                makeDB,
		"an unfinished log": func(t *testing.T, dir string) {
			makeDB(t, dir)
			writeFile(t, filepath.Join(walDir(dir)+".tmp", "0000000000000000-0000000000000000.wal"), "x")
		},
		"an empty log directory": func(t *testing.T, dir string) { must(t, os.MkdirAll(walDir(dir), 0o700)) },
		"a log without entries":  func(t *testing.T, dir string) { makeDB(t, dir); makeWAL(t, dir) },
		"a log whose first entry is torn": func(t *testing.T, dir string) {
			makeDB(t, dir)
			makeWAL(t, dir)
			segment := filepath.Join(walDir(dir), "0000000000000000-0000000000000000.wal")
			all := frames(t, segment)
			end := (all[len(all)-1].end() + 7) / 8 * 8
			overwrite(t, segment, end, binary.LittleEndian.AppendUint64(nil, 1000))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := newDir(t)
			leave(t, dir)
			ctx, log := logged(t, 0)
			e, err := Start(ctx, EmbeddedConfig{DataDir: dir, StartTimeout: 20 * time.Second})
			must(t, err)
			closeBackend(t, e)
			if want := `"An earlier first start did not finish: starting over, nothing had been stored" logger="etcd" removed="` + memberDir(dir); !strings.Contains(log.String(), want) {
				t.Errorf("it says\n%swant\n%s", log, want)
			}
		})
	}
}

func TestReadWAL(t *testing.T) {
	t.Parallel()
	_, segment := filled(t)
	dir := filepath.Dir(filepath.Dir(filepath.Dir(segment)))
	state, err := readWAL(dir, []string{filepath.Base(segment)})
	must(t, err)
	all := frames(t, segment)
	last := entryIndex(t, lastEntry(t, all))
	want := &walState{last: last, committed: last, snapshots: []uint64{0}}
	if state.committed == last-1 {
		want.committed = last - 1 // the last commit is written with the next entry
	}
	if diff := cmp.Diff(want, state, cmp.AllowUnexported(walState{}, walDamage{})); diff != "" {
		t.Error(diff)
	}
	if _, err := readWAL(dir, []string{"0000000000000009-0000000000000000.wal"}); err == nil ||
		!strings.HasSuffix(err.Error(), "0000000000000009-0000000000000000.wal: no such file or directory") {
		t.Errorf("error: %v", err)
	}
}

func TestNonZeroFrom(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "file")
	content := make([]byte, 200<<10)
	content[150<<10] = 1
	must(t, os.WriteFile(path, content, fileMode))
	file, err := os.Open(path)
	must(t, err)
	for offset, want := range map[int64]int64{0: 150 << 10, 150 << 10: 150 << 10, 150<<10 + 1: -1, 300 << 10: -1} {
		if got, err := nonZeroFrom(file, offset); got != want || err != nil {
			t.Errorf("from %d: %d %v, want %d", offset, got, err, want)
		}
	}
	must(t, file.Close())
	if _, err := nonZeroFrom(file, 0); err == nil {
		t.Error("no error of a closed file")
	}
	if _, err := committedBeyond(file, 0); err == nil {
		t.Error("no error of a closed file")
	}
}

func TestCommitOfFrame(t *testing.T) {
	t.Parallel()
	record := func(kind int64, crc uint32, data []byte) []byte {
		content, err := proto.Marshal(&walpb.Record{Type: &kind, Crc: &crc, Data: data})
		must(t, err)
		return append(binary.LittleEndian.AppendUint64(nil, uint64(len(content))), content...)
	}
	term, vote, commit := uint64(2), uint64(3), uint64(4711)
	state, err := proto.Marshal(&raftpb.HardState{Term: &term, Vote: &vote, Commit: &commit})
	must(t, err)
	for name, tt := range map[string]struct {
		data []byte
		want uint64
	}{
		"a hard state":              {record(wal.StateType, 1, state), 4711},
		"an entry":                  {record(wal.EntryType, 1, state), 0},
		"a record without checksum": {record(wal.StateType, 0, state), 0},
		"a state without term":      {record(wal.StateType, 1, nil), 0},
		"a state that is none":      {record(wal.StateType, 1, []byte("x")), 0},
		"cut off":                   {record(wal.StateType, 1, state)[:12], 0},
		"zeros":                     {make([]byte, 100), 0},
		"no record":                 {append([]byte{4, 0, 0, 0, 0, 0, 0, 0}, "none"...), 0},
		"an impossible length":      {[]byte{0, 0, 0, 0, 1, 0, 0, 0, 0}, 0},
	} {
		if got := commitOfFrame(tt.data); got != tt.want {
			t.Errorf("%s: %d, want %d", name, got, tt.want)
		}
	}
}

func TestCopyFileErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := copyFile(filepath.Join(dir, "to"), filepath.Join(dir, "from")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("no source: %v", err)
	}
	if err := copyFile(filepath.Join(dir, "to"), dir); err == nil {
		t.Error("a directory was copied")
	}
}

// TestWALCutInItsLength: a file that ends within the length of a record is torn.
func TestWALCutInItsLength(t *testing.T) {
	t.Parallel()
	dir, segment := filled(t)
	all := frames(t, segment)
	last := all[len(all)-1]
	must(t, os.Truncate(segment, int64(last.offset+3)))
	state, err := readWAL(dir, []string{filepath.Base(segment)})
	must(t, err)
	if state.damage == nil || !state.damage.torn || !errors.Is(state.damage.err, io.ErrUnexpectedEOF) {
		t.Errorf("damage: %+v", state.damage)
	}
}
