package gitmirror

import (
	"archive/tar"
	"cmp"
	"context"
	"io"
	"path"
	"slices"
	"strings"
	"time"
)

// Archiving says what an archive has.
type Archiving struct {
	// Folders are those whose files it has, with all below them, under their whole paths. The empty path is the
	// whole commit. A folder that isn't there is NotThere.
	Folders []string
	// Files are single files, by their paths.
	Files []string
	// Skip leaves paths out, if it is not nil.
	Skip func(path string) bool
	// Large gives the content of files of Git LFS; nil leaves the pointers in their places.
	Large func(ctx context.Context, file Large) (io.ReadCloser, error)
	// MaxFiles, MaxBytes and MaxFileBytes bound it; 10,000 files, 100 MiB and 10 MiB by default.
	MaxFiles               int
	MaxBytes, MaxFileBytes int64
}

func (a Archiving) withDefaults() Archiving {
	orElse(&a.MaxFiles, 10_000)
	orElse(&a.MaxBytes, 100<<20)
	orElse(&a.MaxFileBytes, 10<<20)
	return a
}

// Archive writes files of a commit as a tar, always the same bytes for the same commit. There is nothing in it but
// regular files: a link to a file or a folder of the commit is written as what it leads to, one that leads out of the
// commit is Hostile, and a submodule is left out unless the mirror is one with submodules. What is wrong or too much is
// found before the first byte is written. Kinds: NotThere, TooLarge, Hostile.
func (m *Mirror) Archive(ctx context.Context, commit string, a Archiving, w io.Writer) error {
	t, err := m.Tree(ctx, commit)
	if err != nil {
		return err
	}
	defer func() { _ = t.Close() }()
	return t.Archive(ctx, a, w)
}

// packed is a file of an archive: the path in it, and what is there.
type packed struct {
	path string
	Entry
}

// Archive is Mirror's, of a tree that is read already.
func (t *Tree) Archive(ctx context.Context, a Archiving, w io.Writer) error {
	a = a.withDefaults()
	files, err := t.pick(ctx, a)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	for _, f := range files {
		header := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Mode: int64(f.Mode.fileMode().Perm()), Size: f.Size,
			ModTime: time.Unix(0, 0).UTC()}
		if err := out.WriteHeader(header); err != nil {
			return err
		}
		if err := t.pack(ctx, a, f.Entry, out); err != nil {
			return err
		}
	}
	return out.Close()
}

func (t *Tree) pack(ctx context.Context, a Archiving, e Entry, out io.Writer) error {
	if e.large != nil {
		return a.copyLarge(ctx, e, out)
	}
	return t.copy(ctx, e, func(r io.Reader) error {
		_, err := io.Copy(out, r)
		return err
	})
}

// picking gathers what goes into an archive.
type picking struct {
	t     *Tree
	a     Archiving
	found map[string]Entry
	bytes int64
	seen  int // paths that were looked at, several times where links lead to them
}

func (t *Tree) pick(ctx context.Context, a Archiving) ([]packed, error) {
	p := &picking{t: t, a: a, found: map[string]Entry{}}
	for _, folder := range a.Folders {
		folder = strings.Trim(folder, "/")
		e, err := t.follow(ctx, folder)
		if err != nil {
			return nil, err
		}
		if e.Mode != Folder {
			return nil, newError(NotThere, "%.200q is no folder of the commit", folder)
		}
		if err := p.folder(ctx, e.Path, folder, 0); err != nil {
			return nil, err
		}
	}
	for _, file := range a.Files {
		if err := p.one(ctx, file, file, 0); err != nil {
			return nil, err
		}
	}
	var all []packed
	for name, e := range p.found {
		all = append(all, packed{name, e})
	}
	slices.SortFunc(all, func(a, b packed) int { return cmp.Compare(a.path, b.path) })
	return all, nil
}

// maxNested is how many links to folders may be within one another: each could double what is there.
const maxNested = 4

// folder picks what is in a folder of the tree, under another name where a link has led to it.
func (p *picking) folder(ctx context.Context, from, as string, nested int) error {
	if nested > maxNested {
		return newError(Hostile, "%.200q is a link to a folder with links to folders, too many of them", as)
	}
	for _, e := range p.t.Under(from) {
		name := path.Join(as, strings.TrimPrefix(e.Path[len(from):], "/"))
		if err := p.one(ctx, e.Path, name, nested); err != nil {
			return err
		}
	}
	return nil
}

// one picks what is at a path, following links.
func (p *picking) one(ctx context.Context, from, as string, nested int) error {
	if p.seen++; p.seen > p.t.m.o.Limits.Files {
		return newError(Hostile, "%.200q has links that lead to too many files", as)
	}
	if p.a.Skip != nil && p.a.Skip(as) {
		return nil
	}
	e, err := p.t.follow(ctx, from)
	switch {
	case err != nil:
		return err
	case e.Mode&typeBits == Submodule && p.t.m.o.inside:
		return newError(NotThere, "%.200q is a submodule that was not fetched: .gitmodules has no URL of it, or it is of a fork",
			from)
	case e.Mode&typeBits == Submodule:
		return nil
	case e.Mode == Folder:
		return p.folder(ctx, e.Path, as, nested+1)
	}
	if err := p.point(ctx, &e); err != nil {
		return err
	}
	return p.add(as, e)
}

func (p *picking) add(as string, e Entry) error {
	if _, there := p.found[as]; there {
		return nil
	}
	p.found[as] = e
	p.bytes += e.Size
	switch {
	case len(p.found) > p.a.MaxFiles:
		return newError(TooLarge, "there are more than %d files, which is the limit", p.a.MaxFiles)
	case e.Size > p.a.MaxFileBytes:
		return newError(TooLarge, "%.200q has %d bytes, and at most %d are allowed", as, e.Size, p.a.MaxFileBytes)
	case p.bytes > p.a.MaxBytes:
		return newError(TooLarge, "the files have more than %d bytes, which is the limit", p.a.MaxBytes)
	}
	return nil
}
