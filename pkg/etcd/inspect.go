// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/coreos/go-semver/semver"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"
	"go.etcd.io/etcd/api/v3/version"
	"go.etcd.io/etcd/server/v3/storage/schema"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"k8s.io/klog/v2"
)

const (
	// freeBytesFirstStart is the room that a first start needs: two log segments, which etcd preallocates, and a database.
	freeBytesFirstStart = 2*64_000_000 + 16<<20
	// freeBytesRestart is the room below which a restart is refused: etcd ends its process at the first write that fails.
	freeBytesRestart = 16 << 20

	// boltInitialPages is the size of a database that has just been made.
	boltInitialPages = 4
)

// The layout of an etcd data directory.
func memberDir(dir string) string { return filepath.Join(dir, "member") }
func walDir(dir string) string    { return filepath.Join(dir, "member", "wal") }
func dbPath(dir string) string    { return filepath.Join(dir, "member", "snap", "db") }

// inspector looks at a locked data directory before etcd opens it. etcd would answer most of what it finds by ending
// the process or by waiting for ever, and some of it by starting without the data.
type inspector struct {
	logger klog.Logger
	dir    string
	// probe bounds the wait for the database's own lock.
	probe time.Duration
	free  func(dir string) (uint64, error)
}

// database is what the inspector reads of member/snap/db.
type database struct {
	// made tells of a database that was written to the end when it was made.
	made bool
	// applied is the index of the last log entry in it.
	applied uint64
	// version is that of the etcd that wrote it; nil before 3.6.
	version *semver.Version
}

// inspect returns nil if etcd can start in the directory. It removes what a first start left that was killed before
// etcd could acknowledge anything: etcd would wait there for a quorum that it can't have (etcd issue 16596).
func (i *inspector) inspect() error {
	db, err := i.readDatabase()
	if err != nil {
		return err
	}
	names, err := walNames(i.dir)
	if err != nil {
		return err
	}
	if len(names) == 0 {
		if db.applied > 0 {
			return fmt.Errorf("data directory %s is damaged: its write-ahead log %s is missing, and without it what was written last is lost: "+
				"restore the directory from a snapshot", i.dir, walDir(i.dir))
		}
		return errors.Join(i.discardUnfinished(), i.checkRoom(freeBytesFirstStart))
	}
	log, err := readWAL(i.dir, names)
	if err != nil {
		return err
	}
	if log.damage != nil {
		if err := i.judgeDamage(log, db); err != nil {
			return err
		}
	}
	switch {
	case log.unfinished() && db.applied == 0:
		return errors.Join(i.discardUnfinished(), i.checkRoom(freeBytesFirstStart))
	case log.snapshot > db.applied:
		return fmt.Errorf("data directory %s is damaged: the database %s is missing or older than its log (it ends at entry %d, the log begins after %d): "+
			"restore the directory from a snapshot", i.dir, dbPath(i.dir), db.applied, log.snapshot)
	case !db.made:
		if err := os.Remove(dbPath(i.dir)); err != nil && !errors.Is(err, os.ErrNotExist) {
			return fmt.Errorf("data directory %s is damaged: %s is cut short: remove it, it will be made again from the log: %w", i.dir, dbPath(i.dir), cause(err))
		}
		i.logger.Info("The database is missing and will be made again from the log, which is whole", "database", dbPath(i.dir))
	}
	return i.checkRoom(freeBytesRestart)
}

func (i *inspector) checkRoom(need uint64) error {
	free, err := i.free(i.dir)
	if err != nil {
		return fmt.Errorf("data directory %s: the room on its file system can't be told: %w", i.dir, err)
	}
	if free < need {
		return fmt.Errorf("data directory %s: only %d MiB are free on its file system, etcd needs %d MiB", i.dir, free>>20, need>>20)
	}
	return nil
}

// discardUnfinished removes a member directory in which nothing was ever acknowledged.
func (i *inspector) discardUnfinished() error {
	if _, err := os.Stat(memberDir(i.dir)); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	i.logger.Info("An earlier first start did not finish: starting over, nothing had been stored", "removed", memberDir(i.dir))
	if err := os.RemoveAll(memberDir(i.dir)); err != nil {
		return fmt.Errorf("data directory %s holds an unfinished first start: remove %s: %w", i.dir, memberDir(i.dir), cause(err))
	}
	return nil
}

// readDatabase reads the database's bookkeeping, and thereby learns whether another process holds it.
func (i *inspector) readDatabase() (database, error) {
	path := dbPath(i.dir)
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return database{}, nil
	case err != nil:
		return database{}, fmt.Errorf("data directory %s cannot be read: %s: %w", i.dir, path, cause(err))
	case info.IsDir():
		return database{}, fmt.Errorf("data directory %s is damaged: %s is a directory", i.dir, path)
	case info.Size() < int64(boltInitialPages*os.Getpagesize()):
		return database{}, nil // killed while it was made: etcd makes it again if it is empty, and we see to it that it is
	}
	bolt, err := bbolt.Open(path, fileMode, &bbolt.Options{ReadOnly: true, Timeout: i.probe})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		pid := flockHolder(path)
		return database{}, &InUseError{Dir: i.dir, PID: pid, Command: commandLine(pid)}
	case err != nil:
		return database{}, fmt.Errorf("data directory %s is damaged: %s: %w: restore the directory from a snapshot", i.dir, path, cause(err))
	}
	defer func() { _ = bolt.Close() }() // opened to read
	db, err := readBookkeeping(bolt, info.Size())
	if err != nil {
		return database{}, fmt.Errorf("data directory %s is damaged: %s: %w: restore the directory from a snapshot", i.dir, path, err)
	}
	ours := semver.New(version.Version)
	if v := db.version; v != nil && (v.Major > ours.Major || v.Major == ours.Major && v.Minor > ours.Minor) {
		return database{}, fmt.Errorf("data directory %s was written by etcd %d.%d, this is etcd %s: use a build with that etcd, or run \"etcdutl migrate\" of it",
			i.dir, v.Major, v.Minor, version.Version)
	}
	return db, nil
}

// readBookkeeping reads what etcd notes about itself in its database. bbolt asserts by panicking; for a damaged file that
// is an error here.
func readBookkeeping(bolt *bbolt.DB, size int64) (db database, err error) {
	defer func() {
		if recovered := recover(); recovered != nil {
			err = fmt.Errorf("%v", recovered)
		}
	}()
	db.made = true
	err = bolt.View(func(tx *bbolt.Tx) error {
		if tx.Size() > size { // and reading a page that is not there would be a bus error
			return fmt.Errorf("the file is cut short: %d bytes of %d", size, tx.Size())
		}
		meta := tx.Bucket(schema.Meta.Name())
		if meta == nil {
			return nil
		}
		if index := meta.Get(schema.MetaConsistentIndexKeyName); len(index) == 8 {
			db.applied = binary.BigEndian.Uint64(index)
		}
		if written := meta.Get(schema.MetaStorageVersionName); len(written) > 0 {
			db.version, err = semver.NewVersion(string(written))
		}
		return err
	})
	return db, err
}

// judgeDamage decides about a log with a damaged end. Records that were being written when the power went may be torn:
// nobody was told that they were stored, and etcd cuts them off. But if entries from there on were acknowledged, the
// log was damaged later, and cutting would lose them.
func (i *inspector) judgeDamage(log *walState, db database) error {
	damage := log.damage
	if !damage.torn {
		return fmt.Errorf("data directory %s is damaged: write-ahead log %s, record at offset %d: %w: restore the directory from a snapshot",
			i.dir, damage.file, damage.offset, damage.err)
	}
	if committed := max(db.applied, damage.committed); committed > log.last {
		return fmt.Errorf("data directory %s is damaged: write-ahead log %s ends at offset %d with entry %d, but entries up to %d were acknowledged: %w: "+
			"restore the directory from a snapshot", i.dir, damage.file, damage.offset, log.last, committed, checksumError(damage.err))
	}
	backup := damage.file + brokenSuffix
	if err := copyFile(backup, damage.file); err != nil {
		return fmt.Errorf("data directory %s: write-ahead log %s ends in a torn record and cannot be saved before it is cut: %w",
			i.dir, damage.file, cause(err))
	}
	i.logger.Error(damage.err, "The write-ahead log ends in a torn record, as a power loss leaves it; the log is cut there. "+
		"Nothing that was acknowledged is known to be lost", "log", damage.file, "offset", damage.offset, "lastEntry", log.last, "copy", backup)
	return nil
}

// brokenSuffix is what etcd itself appends to the name of a log that it has cut.
const brokenSuffix = ".broken"

// walNames returns the names of the log's segments in order, as etcd would read them.
func walNames(dir string) ([]string, error) {
	entries, err := os.ReadDir(walDir(dir))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("data directory %s cannot be read: %s: %w", dir, walDir(dir), cause(err))
	}
	var names []string
	for _, entry := range entries { // sorted by name, which begins with the sequence number in hexadecimal
		if filepath.Ext(entry.Name()) == ".wal" {
			names = append(names, entry.Name())
		}
	}
	for n := range names {
		sequence, err := walSequence(names[n])
		if err != nil {
			return nil, fmt.Errorf("data directory %s is damaged: %s: %w", dir, filepath.Join(walDir(dir), names[n]), err)
		}
		if n > 0 {
			if before, _ := walSequence(names[n-1]); sequence != before+1 {
				return nil, fmt.Errorf("data directory %s is damaged: write-ahead log %s: segment %d is missing: restore the directory from a snapshot",
					dir, walDir(dir), before+1)
			}
		}
	}
	return names, nil
}

// walSequence reads the sequence number out of a segment's name, "<sequence>-<first index>.wal".
func walSequence(name string) (uint64, error) {
	var sequence, index uint64
	if _, err := fmt.Sscanf(name, "%016x-%016x.wal", &sequence, &index); err != nil {
		return 0, fmt.Errorf("%w: not the name of a log segment", wal.ErrFileNotFound)
	}
	return sequence, nil
}
