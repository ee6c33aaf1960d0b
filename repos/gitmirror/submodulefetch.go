package gitmirror

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// modules is the folder that has a mirror for each address of a submodule. They are caches as the mirror is, and go
// with it.
func (m *Mirror) modules() string { return filepath.Join(m.folder, "modules") }

// FetchSubmodule brings the commit of a submodule: all branches of its repository, and the commit by its name where it
// is on none of them. All submodules together may be half as large as the mirror may; others make room. Kinds of
// errors: all of them.
func (m *Mirror) FetchSubmodule(ctx context.Context, s Module, credentials Credentials) error {
	if err := checkCommits(s.Commit); err != nil {
		return err
	}
	sum := sha256.Sum256([]byte(s.Remote.String()))
	into, err := m.module(hex.EncodeToString(sum[:16]))
	if err != nil {
		return err
	}
	return inSubmodule(s.Path, into.bring(ctx, s, credentials))
}

// bring fetches what it takes to have the commit.
func (m *Mirror) bring(ctx context.Context, s Module, credentials Credentials) error {
	number, err := strconv.ParseUint(s.Commit[:4], 16, 16)
	if err != nil {
		return err
	}
	for _, from := range []Source{{Branches: []string{"*"}},
		{Aside: []Aside{{Ref: s.Commit, Number: int(number)}}}} {
		if there, err := m.Has(ctx, s.Commit); err == nil && there {
			return nil
		}
		from.Remote, from.Credentials = s.Remote, credentials
		if _, err := m.Fetch(ctx, from); err != nil {
			return err
		}
	}
	if there, err := m.Has(ctx, s.Commit); err != nil || !there {
		return errors.Join(err, newError(NotThere, "its repository has no commit %s", s.Commit))
	}
	return nil
}

// module opens the mirror of a submodule, with what room there is for it.
func (m *Mirror) module(name string) (*Mirror, error) {
	entries, err := os.ReadDir(m.modules())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	room := m.o.Limits.Bytes / 2
	others := map[string]int64{}
	for _, e := range entries {
		if e.Name() != name {
			bytes, err := (&Mirror{folder: filepath.Join(m.modules(), e.Name())}).Bytes()
			if err != nil {
				return nil, err
			}
			others[e.Name()] = bytes
			room -= bytes
		}
	}
	// Git is told of each in its environment, whose length is limited too.
	if room < m.o.Limits.Bytes/8 || len(others) >= 2*maxSubmodules {
		for other, bytes := range others {
			if err := os.RemoveAll(filepath.Join(m.modules(), other)); err != nil {
				return nil, err
			}
			room += bytes
		}
	}
	o := m.o
	o.inside, o.Limits.Bytes = false, room
	return Open(filepath.Join(m.modules(), name), o)
}

// ModuleBytes returns how much room the submodules take.
func (m *Mirror) ModuleBytes() (total int64, err error) {
	entries, err := os.ReadDir(m.modules())
	for _, e := range entries {
		bytes, err := (&Mirror{folder: filepath.Join(m.modules(), e.Name())}).Bytes()
		if err != nil {
			return 0, err
		}
		total += bytes
	}
	return total, ignoreMissing(err)
}

// alternates is where git finds the objects of submodules, beside the mirror's own.
func (m *Mirror) alternates() string {
	entries, err := os.ReadDir(m.modules())
	if err != nil {
		return ""
	}
	var all []string
	for _, e := range entries {
		all = append(all, strconv.Quote(filepath.Join(m.modules(), e.Name(), "git", "objects")))
	}
	return strings.Join(all, string(os.PathListSeparator))
}
