// SPDX-FileCopyrightText: 2026 The Pinnace Authors
// SPDX-License-Identifier: Apache-2.0

package pki

import (
	"crypto"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

const (
	dirMode  = 0o700
	keyMode  = 0o600
	certMode = 0o644

	lockName   = "LOCK"
	tempPrefix = ".tmp-"
)

// store is the directory of the files, locked.
type store struct {
	dir  string
	env  env
	lock *os.File
}

// openStore prepares the directory and locks it, waiting for another process that is at it. close unlocks it.
func openStore(dir string, env env) (*store, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, fmt.Errorf("directory %s: %w", dir, err)
	}
	if err := prepareDir(dir); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_RDWR|os.O_CREATE, keyMode)
	if err != nil {
		return nil, fmt.Errorf("directory %s cannot be written: %s: %w", dir, lockName, cause(err))
	}
	if err := flock(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("directory %s cannot be locked: %w", dir, err), lock.Close())
	}
	s := &store{dir: dir, env: env, lock: lock}
	return s, s.sweep()
}

// flock takes the lock of a file. It goes with the process, so that kill -9 leaves nothing stale.
func flock(file *os.File) error {
	for {
		if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

// prepareDir makes the directory if there is none, and sees to it that only its owner can reach into it.
func prepareDir(dir string) error {
	if err := os.MkdirAll(dir, dirMode); err != nil {
		return fmt.Errorf("directory %s cannot be made: %w", dir, cause(err))
	}
	info, err := os.Stat(dir)
	if err != nil {
		return fmt.Errorf("directory %s cannot be read: %w", dir, cause(err))
	}
	if mode := info.Mode().Perm(); mode&^dirMode != 0 {
		if err := os.Chmod(dir, dirMode); err != nil {
			return fmt.Errorf("directory %s is open to other users (mode %04o) and cannot be closed to them: %w", dir, mode, cause(err))
		}
	}
	return nil
}

// sweep removes what a write left whose process was killed.
func (s *store) sweep() error {
	entries, err := os.ReadDir(s.dir)
	if err != nil {
		return errors.Join(fmt.Errorf("directory %s cannot be read: %w", s.dir, cause(err)), s.close())
	}
	for _, entry := range entries {
		if strings.HasPrefix(entry.Name(), tempPrefix) {
			_ = os.Remove(filepath.Join(s.dir, entry.Name())) // it does no harm
		}
	}
	return nil
}

func (s *store) close() error { return s.lock.Close() }

// load reads a certificate and its key. What is not there is nil in the result, which always has the paths; a certificate
// without its key, and a pair that does not match, are errors.
func (s *store) load(name string) (pair, error) {
	found := pair{certFile: filepath.Join(s.dir, name+".crt"), keyFile: filepath.Join(s.dir, name+".key")}
	var err error
	if found.KeyPEM, err = readFile(found.keyFile); err != nil {
		return pair{}, err
	}
	if found.CertPEM, err = readFile(found.certFile); err != nil {
		return pair{}, err
	}
	remedy := fmt.Sprintf("put the right file back, or remove %s.crt and %s.key to have them made anew", name, name)
	if found.KeyPEM != nil {
		if found.Key, err = decodeKey(found.KeyPEM); err != nil {
			return pair{}, fmt.Errorf("%s is damaged: %w: %s", found.keyFile, err, remedy)
		}
		if err := os.Chmod(found.keyFile, keyMode); err != nil {
			return pair{}, fmt.Errorf("%s cannot be closed to other users: %w", found.keyFile, cause(err))
		}
	}
	if found.CertPEM == nil {
		return found, nil
	}
	if found.Certificate, err = decodeCertificate(found.CertPEM); err != nil {
		return pair{}, fmt.Errorf("%s is damaged: %w: %s", found.certFile, err, remedy)
	}
	if found.Key == nil {
		return pair{}, fmt.Errorf("%s is missing, but %s is there: %s", found.keyFile, found.certFile, remedy)
	}
	public, ok := found.Key.Public().(interface{ Equal(x crypto.PublicKey) bool })
	if !ok || !public.Equal(found.Certificate.PublicKey) {
		return pair{}, fmt.Errorf("%s and %s do not belong together: %s", found.certFile, found.keyFile, remedy)
	}
	return found, nil
}

// readFile reads a file; the content of one that is not there is nil, that of an empty one is not.
func readFile(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s cannot be read: %w", path, cause(err))
	}
	return content, nil
}

func (s *store) write(name string, content []byte, mode os.FileMode) error {
	return s.env.writeFile(filepath.Join(s.dir, name), content, mode)
}

// writeFile puts a file in its place as a whole: whoever reads it, and whenever the power goes, there is the old one or the
// new one.
func (e env) writeFile(path string, content []byte, mode os.FileMode) (err error) {
	dir := filepath.Dir(path)
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s cannot be written: %w", path, cause(err))
		}
	}()
	temp, err := e.createTemp(dir, tempPrefix)
	if err != nil {
		return err
	}
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Chmod(mode)
	}
	if err == nil {
		err = temp.Sync()
	}
	if closeErr := temp.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = e.rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the error is told already
		return err
	}
	return e.syncDir(dir)
}

// syncDir makes the names in a directory durable.
func syncDir(dir string) error {
	file, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// cause strips the operation and paths that the sentence around it has already.
func cause(err error) error {
	var pathErr *fs.PathError
	var linkErr *os.LinkError
	switch {
	case errors.As(err, &pathErr):
		return pathErr.Err
	case errors.As(err, &linkErr):
		return linkErr.Err
	}
	return err
}
