package gitmirror

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"
)

// maxRead is how large a file may be that is read by way of an fs.FS.
const maxRead = 32 << 20

// FS returns the tree as a file system, which can be read as long as the tree is not closed and the context has
// not ended. Links are followed within the commit. It has ReadFile, ReadDir and Stat too, and is
// a relevance.Linked.
func (t *Tree) FS(ctx context.Context) fs.FS { return &treeFS{t, ctx} }

type treeFS struct {
	t   *Tree
	ctx context.Context
}

var (
	_ fs.ReadFileFS = (*treeFS)(nil)
	_ fs.ReadDirFS  = (*treeFS)(nil)
	_ fs.StatFS     = (*treeFS)(nil)
)

// find returns what is at a name, as an fs.FS has names and errors.
func (f *treeFS) find(op, name string) (Entry, error) {
	if !fs.ValidPath(name) {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: fs.ErrInvalid}
	}
	if err := f.ctx.Err(); err != nil {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	e, err := f.t.follow(f.ctx, name)
	switch KindOf(err) {
	case NotThere:
		err = fs.ErrNotExist
	case Hostile: // a link that leads out, or to itself
		err = errors.Join(fs.ErrInvalid, err)
	}
	if err != nil {
		return Entry{}, &fs.PathError{Op: op, Path: name, Err: err}
	}
	return e, nil
}

// Stat implements fs.StatFS.
func (f *treeFS) Stat(name string) (fs.FileInfo, error) {
	e, err := f.find("stat", name)
	if err != nil {
		return nil, err
	}
	return info{path.Base(name), e}, nil
}

// ReadFile implements fs.ReadFileFS.
func (f *treeFS) ReadFile(name string) ([]byte, error) {
	e, err := f.find("read", name)
	if err == nil && !e.Mode.IsFile() {
		err = &fs.PathError{Op: "read", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	content, err := f.t.content(f.ctx, e, maxRead)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: err}
	}
	return content, nil
}

// ReadDir implements fs.ReadDirFS.
func (f *treeFS) ReadDir(name string) ([]fs.DirEntry, error) {
	e, err := f.find("readdir", name)
	if err == nil && e.Mode.IsFile() {
		err = &fs.PathError{Op: "readdir", Path: name, Err: fs.ErrInvalid}
	}
	if err != nil {
		return nil, err
	}
	folder := strings.TrimPrefix(e.Path, ".")
	var all []fs.DirEntry
	last := ""
	for _, in := range f.t.Under(folder) {
		first, _, below := strings.Cut(strings.TrimPrefix(in.Path[len(folder):], "/"), "/")
		if first == last {
			continue
		}
		last = first
		if below {
			in = Entry{Mode: Folder}
		}
		all = append(all, fs.FileInfoToDirEntry(info{first, in}))
	}
	slices.SortFunc(all, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return all, nil
}

// Open implements fs.FS.
func (f *treeFS) Open(name string) (fs.File, error) {
	e, err := f.find("open", name)
	if err != nil {
		return nil, err
	}
	if e.Mode.IsFile() {
		content, err := f.ReadFile(name)
		if err != nil {
			return nil, err
		}
		return &openFile{info{path.Base(name), e}, bytes.NewReader(content)}, nil
	}
	entries, err := f.ReadDir(name)
	if err != nil {
		return nil, err
	}
	return &openFolder{info{path.Base(name), e}, entries}, nil
}

// Links returns the links of the commit by their paths, each with what tells it from one that leads elsewhere.
func (f *treeFS) Links() map[string]string {
	links := map[string]string{}
	for _, e := range f.t.entries {
		if e.Mode&typeBits == Symlink {
			links[e.Path] = e.Blob
		}
	}
	return links
}

// Resolve returns the path that a path leads to by the links in it, and these links, whether there is something or not.
func (f *treeFS) Resolve(name string) (to string, followed []string, err error) {
	to, followed, err = f.t.resolve(f.ctx, name)
	return path.Clean(to), followed, err
}

type openFile struct {
	info
	*bytes.Reader
}

// Stat implements fs.File.
func (o *openFile) Stat() (fs.FileInfo, error) { return o.info, nil }

// Close implements fs.File.
func (o *openFile) Close() error { return nil }

// Size is the info's, which the reader has one beside.
func (o *openFile) Size() int64 { return o.info.Size() }

type openFolder struct {
	info
	left []fs.DirEntry
}

// Stat implements fs.File.
func (o *openFolder) Stat() (fs.FileInfo, error) { return o.info, nil }

// Read implements fs.File.
func (o *openFolder) Read([]byte) (int, error) {
	return 0, &fs.PathError{Op: "read", Path: o.name, Err: fs.ErrInvalid}
}

// Close implements fs.File.
func (o *openFolder) Close() error { return nil }

// ReadDir implements fs.ReadDirFile.
func (o *openFolder) ReadDir(n int) ([]fs.DirEntry, error) {
	if n <= 0 {
		all := o.left
		o.left = nil
		return all, nil
	}
	if len(o.left) == 0 {
		return nil, io.EOF
	}
	n = min(n, len(o.left))
	some := o.left[:n]
	o.left = o.left[n:]
	return some, nil
}

// info is an entry as an fs.FileInfo.
type info struct {
	name string
	Entry
}

func (i info) Name() string       { return i.name }
func (i info) Size() int64        { return i.Entry.Size }
func (i info) Mode() fs.FileMode  { return i.Entry.Mode.fileMode() }
func (i info) ModTime() time.Time { return time.Time{} }
func (i info) IsDir() bool        { return i.Mode().IsDir() }
func (i info) Sys() any           { return nil }
