package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/netip"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast/holdfast/agent/archive"
	"github.com/holdfast/holdfast/engine/config"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/repos/gitmirror"
)

// modules brings the modules of a configuration that are in git, and keeps them beside it.
func (f *engineFlags) modules(*app) config.Fetcher {
	// Who calls the engine may connect to any network: it is that person's own machine.
	anywhere := []netip.Prefix{netip.MustParsePrefix("0.0.0.0/0"), netip.MustParsePrefix("::/0")}
	return &gitModules{folder: filepath.Join(f.dir, ".terraform", "modules"),
		options: gitmirror.Options{Allowed: anywhere}}
}

// gitModules keeps mirrors of repositories, and the files of those commits that modules name. What is kept of a
// commit or a tag is used again: neither is expected to change.
type gitModules struct {
	folder  string
	options gitmirror.Options
}

// maxModule bounds the files of a module's commit.
const maxModule = 100 << 20

// Fetch implements config.Fetcher.
func (g *gitModules) Fetch(source config.GitSource) (string, error) {
	sum := sha256.Sum256([]byte(source.Repository))
	base := filepath.Join(g.folder, hex.EncodeToString(sum[:8]))
	pinned := sha256.Sum256([]byte(source.Ref))
	dir := filepath.Join(base, hex.EncodeToString(pinned[:8]))
	if _, err := os.Stat(dir); errors.Is(err, fs.ErrNotExist) {
		if err := g.bring(context.Background(), source, base, dir); err != nil {
			return "", err
		}
	} else if err != nil {
		return "", err
	}
	return filepath.Join(dir, filepath.FromSlash(source.Folder)), nil
}

// bring has the files of a commit in a folder, all of them or none.
func (g *gitModules) bring(ctx context.Context, source config.GitSource, base, dir string) error {
	remote, err := gitmirror.ParseURL(source.Repository, g.options.AllowHTTP)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(base, 0o700); err != nil {
		return err
	}
	base, err = filepath.Abs(base)
	if err != nil {
		return err
	}
	mirror, err := gitmirror.Open(filepath.Join(base, "mirror"), g.options)
	if err != nil {
		return err
	}
	commit, err := pinnedCommit(ctx, mirror, remote, source.Ref)
	if err != nil {
		return err
	}
	half, err := os.MkdirTemp(base, "half")
	if err != nil {
		return err
	}
	defer os.RemoveAll(half)
	read, write := io.Pipe()
	go func() {
		write.CloseWithError(mirror.Archive(ctx, commit, gitmirror.Archiving{Folders: []string{""}, MaxBytes: maxModule},
			write))
	}()
	err = archive.Extract(read, half, archive.Limits{Files: 10_000, Bytes: maxModule})
	if err = errors.Join(err, read.Close()); err != nil {
		return err
	}
	if err = durable.Move(half, dir); err == nil {
		return nil
	}
	if _, there := os.Stat(dir); there == nil { // another process was faster
		return nil
	}
	return err
}

// pinnedCommit fetches what a ref names, a whole commit or a tag, and returns the commit.
func pinnedCommit(ctx context.Context, m *gitmirror.Mirror, remote gitmirror.Remote, ref string) (string, error) {
	if gitmirror.IsCommit(ref) {
		if there, err := m.Has(ctx, ref); err == nil && there {
			return ref, nil
		}
		if _, err := m.Fetch(ctx, gitmirror.Source{Remote: remote, Branches: []string{"*"}}); err != nil {
			return "", err
		}
		there, err := m.Has(ctx, ref)
		if err == nil && !there {
			err = fmt.Errorf("no branch of the repository has the commit %s", ref)
		}
		return ref, err
	}
	tag := "refs/tags/" + strings.TrimPrefix(ref, "refs/tags/")
	if _, err := m.Fetch(ctx, gitmirror.Source{Remote: remote, Refs: []string{tag}}); err != nil {
		return "", fmt.Errorf("the ref is a tag or a whole commit: %w", err)
	}
	return m.Ref(ctx, tag)
}
