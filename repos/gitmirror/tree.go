package gitmirror

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Entry is a path of a commit that is no folder: a file, a symbolic link or a submodule.
type Entry struct {
	Path string
	Mode Mode
	Size int64  // of a file, or of the text of a link
	Blob string // the hash of the content; of a submodule that of its commit

	large *Large // what it points to, where that is to be read
}

// Tree is every path of a commit. Close it: a git process may stand behind it. It is safe for concurrent use; its
// contents are read one after the other.
type Tree struct {
	Commit  string
	m       *Mirror
	entries []Entry // by path
	index   map[string]int
	roots   map[string]bool // the paths of submodules that it goes on in

	mu     sync.Mutex
	blobs  *blobs
	closed bool
}

// Tree lists a commit. Kinds: NotThere, TooLarge for a commit with more files than the limit, Hostile for a path
// that is none.
func (m *Mirror) Tree(ctx context.Context, commit string) (*Tree, error) {
	if there, err := m.Has(ctx, commit); err != nil || !there {
		return nil, cmp.Or(err, errNoCommit(commit))
	}
	t := &Tree{Commit: commit, m: m, index: map[string]int{}, roots: map[string]bool{}}
	if err := (&listing{t: t}).list(ctx, commit, "", 0); err != nil {
		return nil, err
	}
	slices.SortFunc(t.entries, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	for i, e := range t.entries {
		t.index[e.Path] = i
	}
	return t, nil
}

// listing gathers the paths of a commit, and of submodules in it.
type listing struct {
	t      *Tree
	bytes  int
	looked int // submodules that were looked for, which takes a process each
}

// list lists a commit whose paths begin so.
func (l *listing) list(ctx context.Context, commit, prefix string, depth int) error {
	var modules []Entry
	args := []string{"ls-tree", "-r", "-z", "-l", "--full-tree", commit}
	err := l.t.m.stream(ctx, args, func(out *bufio.Reader) (bool, error) {
		fields := &fieldReader{in: out}
		for {
			text, cut, err := fields.next(maxLongPath)
			if errors.Is(err, io.EOF) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			e, err := parseEntry(text)
			if err == nil {
				e.Path = prefix + e.Path
				err = l.add(e, cut)
			}
			if err != nil {
				return false, err
			}
			if e.Mode&typeBits == Submodule {
				modules = append(modules, e)
			}
		}
	})
	if err != nil || !l.t.m.o.inside || depth == maxNesting {
		return err
	}
	return l.goOn(ctx, modules, depth)
}

func (l *listing) add(e Entry, cut bool) error {
	limits := l.t.m.o.Limits
	l.bytes += len(e.Path)
	switch {
	case cut:
		return newError(TooLarge, "the commit has a path of more than %d bytes", maxLongPath-maxField)
	case len(l.t.entries) == limits.Files:
		return newError(TooLarge, "the commit has more than %d files, which is the limit", limits.Files)
	case l.bytes > limits.Paths:
		return newError(TooLarge, "the commit's paths have more than %d bytes, which is the limit", limits.Paths)
	}
	l.t.entries = append(l.t.entries, e)
	return nil
}

// goOn lists the submodules whose commits are there, in their places. Others stay as they are.
func (l *listing) goOn(ctx context.Context, modules []Entry, depth int) error {
	for _, e := range modules {
		if l.looked++; l.looked > maxSubmodules {
			return newError(TooLarge, "the commit has more than %d submodules, which is the limit", maxSubmodules)
		}
		if there, err := l.t.m.Has(ctx, e.Blob); err != nil || !there {
			if err != nil {
				return err
			}
			continue
		}
		l.t.roots[e.Path] = true
		if err := l.list(ctx, e.Blob, e.Path+"/", depth+1); err != nil {
			return err
		}
	}
	l.t.entries = slices.DeleteFunc(l.t.entries, func(e Entry) bool {
		return e.Mode&typeBits == Submodule && l.t.roots[e.Path]
	})
	return nil
}

// parseEntry reads "mode type hash size\tpath".
func parseEntry(text string) (Entry, error) {
	about, path, ok := strings.Cut(text, "\t")
	words := strings.Fields(about)
	if !ok || len(words) != 4 {
		return Entry{}, newError(Failed, "git ls-tree has said %.80q", text)
	}
	e := Entry{Path: path, Mode: parseMode(words[0]), Blob: words[2]}
	if words[3] != "-" {
		size, err := strconv.ParseInt(words[3], 10, 64)
		if err != nil {
			return Entry{}, newError(Failed, "git ls-tree has said %.80q", text)
		}
		e.Size = size
	}
	return e, checkPath(path)
}

// checkPath refuses what git's own checks have let through and a file system or an archive would take for
// something else.
func checkPath(path string) error {
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." || strings.EqualFold(segment, ".git") {
			return newError(Hostile, "the commit has the path %.200q", path)
		}
	}
	return nil
}

// Entries returns all paths by name. The caller doesn't change them.
func (t *Tree) Entries() []Entry { return t.entries }

// Entry returns what is at a path that is no folder.
func (t *Tree) Entry(path string) (Entry, bool) {
	i, ok := t.index[path]
	if !ok {
		return Entry{}, false
	}
	return t.entries[i], true
}

// Under returns what is in a folder, and in those below it; all for the empty path.
func (t *Tree) Under(folder string) []Entry {
	if folder == "" || folder == "." {
		return t.entries
	}
	byPath := func(e Entry, path string) int { return cmp.Compare(e.Path, path) }
	from, _ := slices.BinarySearchFunc(t.entries, folder+"/", byPath)
	to, _ := slices.BinarySearchFunc(t.entries, folder+"0", byPath) // "0" comes behind "/"
	return t.entries[from:to]
}

// ReadFile returns the content of a file, or of the one that a link leads to within the commit. Kinds: NotThere,
// TooLarge for one of more than limit bytes, Hostile for a link that leads out.
func (t *Tree) ReadFile(ctx context.Context, path string, limit int64) ([]byte, error) {
	e, err := t.follow(ctx, path)
	if err != nil {
		return nil, err
	}
	if !e.Mode.IsFile() {
		return nil, newError(NotThere, "%.200q is no file of the commit", path)
	}
	return t.content(ctx, e, limit)
}

// content reads an entry's own content.
func (t *Tree) content(ctx context.Context, e Entry, limit int64) ([]byte, error) {
	if e.Size > limit {
		return nil, newError(TooLarge, "%.200q has %d bytes, and at most %d are read", e.Path, e.Size, limit)
	}
	var content []byte
	err := t.copy(ctx, e, func(r io.Reader) (err error) {
		content = make([]byte, e.Size)
		_, err = io.ReadFull(r, content)
		return err
	})
	return content, err
}

// copy has the content of an entry read, all of it.
func (t *Tree) copy(ctx context.Context, e Entry, read func(io.Reader) error) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return errors.New("gitmirror: the tree is closed")
	}
	if t.blobs == nil {
		made, err := t.m.openBlobs()
		if err != nil {
			return err
		}
		t.blobs = made
	}
	err := t.blobs.read(ctx, e, read)
	if err != nil { // what it would answer next is not known
		t.blobs.close()
		t.blobs = nil
	}
	return err
}

// Close ends what stands behind it. It may be called several times.
func (t *Tree) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.closed = true
	if t.blobs != nil {
		t.blobs.close()
		t.blobs = nil
	}
	return nil
}

// ReadFile returns a file of a commit, as Tree's does. For several files of one commit, Tree is much quicker.
func (m *Mirror) ReadFile(ctx context.Context, commit, path string, limit int64) ([]byte, error) {
	t, err := m.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Close() }()
	return t.ReadFile(ctx, path, limit)
}
