// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package etcd

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"

	"go.etcd.io/etcd/client/pkg/v3/fileutil"
	"go.etcd.io/etcd/server/v3/storage/wal"
	"go.etcd.io/etcd/server/v3/storage/wal/walpb"
	"go.etcd.io/raft/v3/raftpb"
	"google.golang.org/protobuf/proto"
)

// walState is what the records of a write-ahead log say.
type walState struct {
	// last is the index of the last entry, 0 when there is none.
	last uint64
	// committed is the highest index known to be committed, hence the highest that may have been acknowledged.
	committed uint64
	// snapshot is the index of the last snapshot that etcd would start from: entries up to it are in the database.
	snapshot  uint64
	snapshots []uint64

	// damage is where the log can't be read on; nil when it is whole.
	damage *walDamage
}

// unfinished tells of the log of a first start that was killed before its first write was whole. That write makes this
// member the cluster's voter and commits it; everything that is acknowledged comes after it.
func (s *walState) unfinished() bool { return s.committed == 0 && s.snapshot == 0 }

// walDamage is the place where a log can't be read on.
type walDamage struct {
	file   string
	offset int64
	// err is why; it is walpb.ErrCRCMismatch unless the record is torn.
	err error
	// torn tells that a write that was cut short could have left this: it is in the last segment, and a whole sector of
	// the record is missing, or the file ends in it.
	torn bool
	// committed is the highest index that a record beyond the damage says is committed; 0 when none does.
	committed uint64
}

// errTorn is the cause of damage that a write which was cut short leaves.
var errTorn = errors.New("torn record")

// readWAL reads a whole log. An error is one of reading; what is wrong with the records is in the result.
//
// etcd's own wal.Verify takes a torn record for the end of the log and says nothing of it, nor of records beyond.
func readWAL(dir string, names []string) (*walState, error) {
	state := &walState{}
	var crc uint32
	for n, name := range names {
		path := filepath.Join(walDir(dir), name)
		var err error
		if crc, err = state.readSegment(path, crc, n == len(names)-1); err != nil {
			return nil, fmt.Errorf("data directory %s cannot be read: write-ahead log %s: %w", dir, path, cause(err))
		}
		if state.damage != nil {
			break
		}
	}
	// A snapshot record that is ahead of what is known to be committed is not used (wal.ValidSnapshotEntries).
	for _, index := range state.snapshots {
		if index <= state.committed {
			state.snapshot = index
		}
	}
	return state, nil
}

// readSegment reads one segment, whose records continue the checksum of the ones before, and returns the checksum.
func (s *walState) readSegment(path string, crc uint32, last bool) (uint32, error) {
	file, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer func() { _ = file.Close() }() // opened to read
	decoder := wal.NewDecoder(fileutil.NewFileReader(file))
	decoder.UpdateCRC(crc)
	record := &walpb.Record{}
	for {
		err := decoder.Decode(record)
		if err == nil {
			err = s.note(decoder, record)
		}
		switch {
		case err == nil:
			continue
		case errors.Is(err, io.EOF):
			err = s.checkEnd(file, decoder.LastOffset(), last)
		case errors.Is(err, io.ErrUnexpectedEOF) && last:
			err = s.setDamage(file, decoder.LastOffset(), fmt.Errorf("%w: %w", errTorn, err))
		case !errors.As(err, new(*fs.PathError)): // that is one of reading
			s.damage = &walDamage{file: path, offset: decoder.LastOffset(), err: checksumError(err)}
			err = nil
		}
		return decoder.LastCRC(), err
	}
}

// checksumError returns an error that is walpb.ErrCRCMismatch: what can't be decoded can't have its checksum either.
func checksumError(err error) error {
	if errors.Is(err, walpb.ErrCRCMismatch) {
		return walpb.ErrCRCMismatch
	}
	return fmt.Errorf("%w: %w", walpb.ErrCRCMismatch, err)
}

// note takes down what a record says.
func (s *walState) note(decoder wal.Decoder, record *walpb.Record) error {
	switch record.GetType() {
	case wal.CrcType:
		// The first record of a segment repeats the checksum so far.
		if crc := decoder.LastCRC(); crc != 0 {
			if err := record.Validate(crc); err != nil {
				return err
			}
		}
		decoder.UpdateCRC(record.GetCrc())
	case wal.EntryType:
		entry := &raftpb.Entry{}
		if err := proto.Unmarshal(record.Data, entry); err != nil {
			return err
		}
		s.last = entry.GetIndex()
	case wal.StateType:
		hard := &raftpb.HardState{}
		if err := proto.Unmarshal(record.Data, hard); err != nil {
			return err
		}
		s.committed = max(s.committed, hard.GetCommit())
	case wal.SnapshotType:
		snapshot := &walpb.Snapshot{}
		if err := proto.Unmarshal(record.Data, snapshot); err != nil {
			return err
		}
		s.snapshots = append(s.snapshots, snapshot.GetIndex())
		s.last = max(s.last, snapshot.GetIndex())
	}
	return nil
}

// checkEnd looks beyond the end of a segment. There is nothing but preallocated zeros there, unless a sector is gone in
// the middle: etcd would take that for the end of the log, and zero the rest.
func (s *walState) checkEnd(file *os.File, offset int64, last bool) error {
	rest, err := nonZeroFrom(file, offset)
	if err != nil || rest < 0 {
		return err
	}
	if !last {
		s.damage = &walDamage{file: file.Name(), offset: offset, err: checksumError(io.ErrUnexpectedEOF)}
		return nil
	}
	return s.setDamage(file, offset, fmt.Errorf("%w: empty, but %d bytes further the log goes on", errTorn, rest-offset))
}

// setDamage notes damage that may be a torn write.
func (s *walState) setDamage(file *os.File, offset int64, err error) error {
	damage := &walDamage{file: file.Name(), offset: offset, err: err, torn: true}
	var readErr error
	damage.committed, readErr = committedBeyond(file, offset)
	s.damage = damage
	return readErr
}

// seekData is Linux's SEEK_DATA (lseek(2)): it skips what is preallocated but was never written.
const seekData = 3

// nonZeroFrom returns the offset of the first byte that is not zero at or after an offset, -1 when there is none.
func nonZeroFrom(file *os.File, offset int64) (int64, error) {
	buffer := make([]byte, 64<<10)
	for {
		if runtime.GOOS == "linux" {
			if data, err := file.Seek(offset, seekData); err == nil {
				offset = data
			} else if errors.Is(err, syscall.ENXIO) {
				return -1, nil
			} // else the file system has no such thing: read everything
		}
		n, err := file.ReadAt(buffer, offset)
		for k, b := range buffer[:n] {
			if b != 0 {
				return offset + int64(k), nil
			}
		}
		if errors.Is(err, io.EOF) {
			return -1, nil
		}
		if err != nil {
			return 0, err
		}
		offset += int64(n)
	}
}

// committedBeyond searches the bytes after a damaged place for the records that say how far the log is committed, and
// returns the highest index. Frames are aligned to 8 bytes and begin with their length (wal.encoder), so a place where a
// frame could begin is one where its length fits and its content decodes as such a record.
func committedBeyond(file *os.File, offset int64) (uint64, error) {
	start, err := nonZeroFrom(file, offset)
	if err != nil || start < 0 {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	rest := make([]byte, info.Size()-offset)
	if _, err := file.ReadAt(rest, offset); err != nil && !errors.Is(err, io.EOF) {
		return 0, err
	}
	var committed uint64
	for at := 0; at+8 < len(rest); at += 8 {
		committed = max(committed, commitOfFrame(rest[at:]))
	}
	return committed, nil
}

// maxStateFrame is more than the length of any record of a hard state: three numbers in a message in a message.
const maxStateFrame = 128

// commitOfFrame returns the committed index of the frame at the start of data, 0 if there is no hard state there.
func commitOfFrame(data []byte) uint64 {
	// The low 56 bits are the length, the top bit and the lowest three of the rest tell of padding.
	length := binary.LittleEndian.Uint64(data) &^ (0xff << 56)
	if length == 0 || length > maxStateFrame || 8+length > uint64(len(data)) {
		return 0
	}
	record := &walpb.Record{}
	if proto.Unmarshal(data[8:8+length], record) != nil || record.GetType() != wal.StateType || record.GetCrc() == 0 {
		return 0
	}
	hard := &raftpb.HardState{}
	if proto.Unmarshal(record.Data, hard) != nil || hard.GetTerm() == 0 {
		return 0
	}
	return hard.GetCommit()
}

// copyFile copies a file, private to its owner, and syncs the copy.
func copyFile(to, from string) (err error) {
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // opened to read
	target, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, fileMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	if _, err := io.Copy(target, source); err != nil {
		return err
	}
	return target.Sync()
}
