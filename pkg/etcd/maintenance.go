// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	pb "go.etcd.io/etcd/api/v3/etcdserverpb"
	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/etcdutl/v3/snapshot"
	"k8s.io/klog/v2"
)

// Status is what an embedded etcd tells about itself.
type Status struct {
	// Revision is the database's revision, the resourceVersion of the last write.
	Revision int64
	// DatabaseBytes is the size of the database file, InUseBytes what is used of it, QuotaBytes what it may grow to.
	DatabaseBytes, InUseBytes, QuotaBytes int64
	// Alarms are the names of etcd's alarms: NOSPACE when the quota was reached, and writes are refused until it is
	// cleared.
	Alarms []string
}

// Status returns the state of the database, without a read of it.
func (e *Embedded) Status(context.Context) (Status, error) {
	if err := e.gate.enter(); err != nil {
		return Status{}, fmt.Errorf("%s: %w", e, err)
	}
	defer e.gate.leave()
	server := e.etcd.Server
	status := Status{
		Revision:      server.KV().Rev(),
		DatabaseBytes: server.Backend().Size(),
		InUseBytes:    server.Backend().SizeInUse(),
		QuotaBytes:    e.config.QuotaBackendBytes,
	}
	for _, alarm := range server.Alarms() {
		status.Alarms = append(status.Alarms, alarm.Alarm.String())
	}
	return status, nil
}

// checkAlarms deals with the alarms that an earlier run has left. etcd keeps NOSPACE set, and refuses writes, even when
// the quota was raised or the database has shrunk. The API server's compaction is one of those writes: a full database
// would stay full.
func (e *Embedded) checkAlarms(ctx context.Context) error {
	for _, alarm := range e.etcd.Server.Alarms() {
		switch alarm.Alarm {
		case pb.AlarmType_NOSPACE:
			if err := e.relieve(ctx, alarm); err != nil {
				return fmt.Errorf("its NOSPACE alarm cannot be dealt with: %w", err)
			}
		case pb.AlarmType_CORRUPT:
			return errors.New("its CORRUPT alarm is set, and it answers nothing: restore the directory from a snapshot")
		}
	}
	return nil
}

// relieve clears the NOSPACE alarm if the database is below its quota, or can be brought below it by dropping all old
// revisions: nobody is connected that could be reading them.
func (e *Embedded) relieve(ctx context.Context, alarm *pb.AlarmMember) error {
	status, err := e.Status(ctx)
	if err != nil {
		return err
	}
	if status.DatabaseBytes >= status.QuotaBytes {
		if _, err := e.client.Compact(ctx, status.Revision, clientv3.WithCompactPhysical()); err != nil {
			return err
		}
		if err := e.etcd.Server.Defragment(); err != nil {
			return err
		}
		if status, err = e.Status(ctx); err != nil {
			return err
		}
	}
	values := []any{"dataDir", e.config.DataDir, "databaseBytes", status.DatabaseBytes, "quotaBytes", status.QuotaBytes}
	if status.DatabaseBytes >= status.QuotaBytes {
		e.logger.Error(nil, "etcd's database is full (alarm NOSPACE): only reads and deletes are accepted. "+
			"Delete objects and restart, or raise the quota", values...)
		return nil
	}
	if _, err := e.client.AlarmDisarm(ctx, (*clientv3.AlarmMember)(alarm)); err != nil {
		return err
	}
	e.logger.Info("etcd's database had been full (alarm NOSPACE). It is below its quota now, and the alarm is cleared: writes are accepted again", values...)
	return nil
}

// Defragment gives the free room inside the database file back to the file system. Reads and writes wait meanwhile,
// some seconds a gigabyte, and the disk must have room for a copy. It clears a NOSPACE alarm if the database is below
// its quota then.
func (e *Embedded) Defragment(ctx context.Context) error {
	if err := e.gate.enter(); err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	defer e.gate.leave()
	if err := e.etcd.Server.Defragment(); err != nil {
		return fmt.Errorf("%s: defragmenting: %w", e, err)
	}
	status, err := e.Status(ctx)
	if err != nil {
		return err
	}
	for _, alarm := range e.etcd.Server.Alarms() {
		if alarm.Alarm != pb.AlarmType_NOSPACE || status.DatabaseBytes >= status.QuotaBytes {
			continue
		}
		if _, err := e.client.AlarmDisarm(ctx, (*clientv3.AlarmMember)(alarm)); err != nil {
			return fmt.Errorf("%s: clearing the NOSPACE alarm: %w", e, err)
		}
	}
	return nil
}

// Snapshot writes a consistent copy of the database to w, in the format of `etcdctl snapshot save`: the database, then its
// SHA-256. Writes go on meanwhile. What was written to w before an error is no snapshot. A ctx that ends stops it at the
// next write to w.
func (e *Embedded) Snapshot(ctx context.Context, w io.Writer) (err error) {
	if err := e.gate.enter(); err != nil {
		return fmt.Errorf("%s: %w", e, err)
	}
	defer e.gate.leave()
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: snapshot: %w", e, err)
		}
	}()
	copied := e.etcd.Server.Backend().Snapshot()
	defer func() { err = errors.Join(err, copied.Close()) }()
	sum := sha256.New()
	if _, err := copied.WriteTo(&contextWriter{ctx: ctx, w: io.MultiWriter(w, sum)}); err != nil {
		return err
	}
	_, err = w.Write(sum.Sum(nil))
	return err
}

// contextWriter is a writer that fails when its context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
}

// Write implements io.Writer.
func (c *contextWriter) Write(p []byte) (int, error) {
	if err := context.Cause(c.ctx); err != nil {
		return 0, err
	}
	return c.w.Write(p)
}

// Restore makes the data of an embedded etcd from a snapshot file of Snapshot or of `etcdctl snapshot save`. The data
// directory must hold no data yet; nothing may be running in it. It is all there or not there at all afterwards.
//
// Revisions begin where the snapshot ends: clients that have seen later ones must list anew.
func Restore(ctx context.Context, dataDir, file string) (err error) {
	dir, err := filepath.Abs(dataDir)
	if err != nil {
		return fmt.Errorf("restoring %s: %w", dataDir, err)
	}
	logger := klog.FromContext(ctx).WithName("etcd")
	if err := prepareDir(logger, dir); err != nil {
		return err
	}
	lock, err := lockDir(ctx, dir, DefaultLockTimeout)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	if _, err := os.Stat(memberDir(dir)); err == nil {
		return fmt.Errorf("data directory %s holds data already: move %s away first", dir, memberDir(dir))
	}
	// Whole or not at all: the snapshot is unpacked next to its place.
	unpacked := filepath.Join(dir, "restore.tmp")
	if err := os.RemoveAll(unpacked); err != nil {
		return fmt.Errorf("restoring %s: %w", dir, err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(unpacked)) }()
	hook := newFatalHook(logger, dir, func(int) {})
	restored := make(chan error, 1)
	go func() {
		restored <- snapshot.NewV3(newZapLogger(logger, hook)).Restore(snapshot.RestoreConfig{
			SnapshotPath:        file,
			Name:                memberName,
			OutputDataDir:       unpacked,
			PeerURLs:            []string{"http://" + peerHost},
			InitialCluster:      memberName + "=http://" + peerHost,
			InitialClusterToken: "etcd-cluster", // embed.NewConfig's
		})
	}()
	select {
	case err = <-restored:
	case err = <-hook.failed:
	}
	if err != nil {
		return fmt.Errorf("restoring %s from snapshot %s: %w", dir, file, err)
	}
	if err := os.Rename(memberDir(unpacked), memberDir(dir)); err != nil {
		return fmt.Errorf("restoring %s from snapshot %s: %w", dir, file, err)
	}
	return syncDir(dir)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
