package tools

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/durable"
)

// maxBinary is the largest program that is accepted.
const maxBinary = 1 << 30

// Add copies the program at path into the store, once it has said itself that it is this
// version of this tool. The same bytes again change nothing; other bytes for a version that is
// there and intact are refused with ToolExists, so that a version means one binary.
func (s *Store) Add(ctx context.Context, name Name, text, path string) (Tool, error) {
	v, err := parseVersion(text)
	if err != nil {
		return Tool{}, err
	}
	return s.addFile(ctx, name, v, path, FromFile)
}

func (s *Store) addFile(ctx context.Context, name Name, v *version.Version, path,
	source string) (tool Tool, err error) {
	err = s.locked(ctx, name, v, func(staging string) error {
		made, err := stageFile(ctx, staging, name, path)
		if err != nil {
			return err
		}
		made.Source, made.Origin = source, path
		tool, err = s.install(ctx, name, v, staging, made)
		return err
	})
	return tool, err
}

// stageFile copies a program into the staging folder.
func stageFile(ctx context.Context, staging string, name Name, path string) (made Tool, err error) {
	f, err := os.Open(path)
	if err != nil {
		return Tool{}, fault.Wrap(err, fault.ToolMismatch, "the file can't be read")
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return Tool{}, fault.Wrap(err, fault.ToolMismatch, "%q is no file", path)
	}
	return stage(ctx, staging, name, f)
}

// stage writes the program that r has into the staging folder, synced, and returns its digest
// and size.
func stage(ctx context.Context, staging string, name Name, r io.Reader) (made Tool, err error) {
	f, err := os.OpenFile(filepath.Join(staging, name.Binary()), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o700)
	if err != nil {
		return Tool{}, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(f, hash), io.LimitReader(while(ctx, r), maxBinary+1))
	switch {
	case err != nil:
		return Tool{}, err
	case n > maxBinary:
		return Tool{}, fault.New(fault.ToolUntrusted, "the program is larger than %d bytes", maxBinary)
	}
	if err := errors.Join(f.Chmod(0o555), f.Sync()); err != nil {
		return Tool{}, err
	}
	return Tool{SHA256: hex.EncodeToString(hash.Sum(nil)), Size: n}, nil
}

// install makes what is staged visible, unless the version is there already. The caller holds
// the version's lock.
func (s *Store) install(ctx context.Context, name Name, v *version.Version, staging string, made Tool) (Tool, error) {
	old, there, err := s.present(ctx, name, v)
	switch {
	case err != nil:
		return Tool{}, err
	case there && old.SHA256 == made.SHA256:
		return old, nil
	case there:
		return Tool{}, fault.New(fault.ToolExists,
			"%s %s is there already with another binary, of SHA-256 %s; this one has %s. Remove that one first", name, v,
			old.SHA256, made.SHA256)
	}
	if err := check(ctx, filepath.Join(staging, name.Binary()), name, v); err != nil {
		return Tool{}, err
	}
	made.Name, made.Version, made.OS, made.Arch = name, v.String(), runtime.GOOS, runtime.GOARCH
	made.Added = s.settings.Now().UTC()
	if err := s.publish(s.folder(name, v), staging, made); err != nil {
		return Tool{}, err
	}
	return s.record(name, v)
}

// publish moves the binary, with its record, to where tools are looked for: both appear at
// once. A changed one that stands there makes way.
func (s *Store) publish(dir, staging string, made Tool) error {
	record, err := json.MarshalIndent(made, "", "  ")
	if err != nil {
		return err
	}
	ready := filepath.Join(staging, "ready")
	binary := made.Name.Binary()
	if err := errors.Join(os.Mkdir(ready, 0o755), os.Chmod(ready, 0o755)); err != nil {
		return err
	}
	if err := os.Rename(filepath.Join(staging, binary), filepath.Join(ready, binary)); err != nil {
		return err
	}
	if err := durable.Write(filepath.Join(ready, recordFile), string(record)+"\n"); err != nil {
		return err
	}
	if err := s.makeParents(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return fmt.Errorf("make room at %s: %w", dir, err)
	}
	return durable.Move(ready, dir)
}

// makeParents makes the folders above dir. Others may look into them: tools run as another
// user where they can.
func (s *Store) makeParents(dir string) error {
	versions := filepath.Dir(dir)
	for _, folder := range []string{filepath.Dir(versions), versions} {
		if err := os.Mkdir(folder, 0o755); err != nil {
			if errors.Is(err, os.ErrExist) {
				continue
			}
			return err
		}
		if err := errors.Join(os.Chmod(folder, 0o755), durable.SyncFolder(filepath.Dir(folder))); err != nil {
			return err
		}
	}
	return nil
}
