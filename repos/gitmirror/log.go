package gitmirror

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"iter"
	"strconv"
	"strings"
	"time"

	"github.com/holdfast/holdfast/internal/printable"
)

// Range says which commits Log goes through: those of the history of To that are not in that of From, the newest
// first. It follows the first parent of each, so that a branch that was merged counts as its merge, with all that
// it changed.
type Range struct {
	From string // empty for the beginning of history
	To   string
	// Most is how many commits are gone through; 1,000 by default.
	Most int
	// Paths is how many changed paths a commit has here; 50,000 by default.
	Paths int
}

// Commit is one with what it changes compared with its first parent.
type Commit struct {
	Hash    string
	Parents []string
	Author  string // a name; whatever somebody wrote
	Email   string
	At      time.Time // when it was committed, as it says
	Subject string    // the first line of its message; printable, and not long
	Changes []Change
	More    bool // there are more changes than Range.Paths
}

// Change is a path that differs. A file that was renamed is one that is gone and one that is new.
type Change struct {
	Path   string
	Status byte // 'A' is new, 'D' is gone, 'M' is another content or mode, 'T' is another type
	Mode   Mode // now; 0 where it is gone

	was, is string // the commits of a submodule; empty where it is none
}

const (
	maxField   = 1 << 10
	maxSubject = 300
	// maxLongPath is how long a path may be that is passed on; others are cut off, and match no file.
	maxLongPath = 4 << 10
)

func (r Range) withDefaults() Range {
	orElse(&r.Most, 1000)
	orElse(&r.Paths, 50_000)
	return r
}

func (r Range) args() []string {
	return []string{"log", "-z", "--raw", "--no-abbrev", "--no-renames", "--root", "--first-parent",
		"--diff-merges=first-parent", "--no-notes", "--no-ext-diff", "--no-textconv", "--no-color", "--no-decorate",
		"--no-mailmap", "--ignore-submodules=none", "--max-count=" + itoa(r.Most),
		"--format=tformat:%H%x00%P%x00%an%x00%ae%x00%ct%x00%s"}
}

// Log goes through the commits of a range as git finds them. It ends with an error where there is one. Kinds:
// NotThere.
func (m *Mirror) Log(ctx context.Context, r Range) iter.Seq2[Commit, error] {
	r = r.withDefaults()
	return func(yield func(Commit, error) bool) {
		if err := m.log(ctx, r, func(c Commit) bool { return yield(c, nil) }); err != nil {
			yield(Commit{}, err)
		}
	}
}

func (m *Mirror) log(ctx context.Context, r Range, pass func(Commit) bool) error {
	args, err := m.logArgs(ctx, r)
	if err != nil {
		return err
	}
	return m.stream(ctx, args, func(out *bufio.Reader) (bool, error) {
		fields, into := &fieldReader{in: out}, m.diving()
		for {
			c, err := fields.commit(r.Paths)
			if errors.Is(err, io.EOF) {
				return false, nil
			}
			if err != nil {
				return false, err
			}
			if c.Changes, c.More, err = into.inside(ctx, c.Changes, c.More, r.Paths, 0); err != nil {
				return false, err
			}
			if !pass(c) {
				return true, nil
			}
		}
	})
}

func (m *Mirror) logArgs(ctx context.Context, r Range) ([]string, error) {
	if err := m.haveEnds(ctx, r); err != nil {
		return nil, err
	}
	args := append(r.args(), r.To)
	if r.From != "" {
		args = append(args, "^"+r.From)
	}
	return append(args, "--"), nil
}

// haveEnds looks whether the commits that a range names are in the mirror. Kind: NotThere.
func (m *Mirror) haveEnds(ctx context.Context, r Range) error {
	ends := []string{r.To}
	if r.From != "" {
		ends = append(ends, r.From)
	}
	if err := cmp.Or(m.usable(), checkCommits(ends...)); err != nil {
		return err
	}
	for _, c := range ends {
		if there, err := m.Has(ctx, c); err != nil || !there {
			return cmp.Or(err, errNoCommit(c))
		}
	}
	return nil
}

// Diff returns the paths that differ between two commits, up to most of them; more says that there are others.
// From is empty for a comparison with nothing. Kinds: NotThere.
func (m *Mirror) Diff(ctx context.Context, from, to string, most int) (changes []Change, more bool, err error) {
	if changes, more, err = m.diff(ctx, from, to, most); err != nil {
		return nil, false, err
	}
	return m.diving().inside(ctx, changes, more, most, 0)
}

// diff is Diff without what is in submodules.
func (m *Mirror) diff(ctx context.Context, from, to string, most int) (changes []Change, more bool, err error) {
	if err := m.haveEnds(ctx, Range{From: from, To: to}); err != nil {
		return nil, false, err
	}
	args := []string{"diff-tree", "-r", "-z", "--raw", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv",
		"--ignore-submodules=none"}
	if from == "" {
		from = emptyTree
	}
	args = append(args, from, to, "--")
	err = m.stream(ctx, args, func(out *bufio.Reader) (bool, error) {
		changes, more, err = (&fieldReader{in: out}).changes(most)
		return more, err
	})
	return changes, more, err
}

// emptyTree is the hash that git knows the tree without files by.
const emptyTree = "4b825dc642cb6eb9a060e54bf8d69288fbee4904"

// stream runs a command and has its output read; stopped says that the rest is not wanted.
func (m *Mirror) stream(ctx context.Context, args []string, read func(*bufio.Reader) (stopped bool, err error)) error {
	ctx, cancel := m.reading(ctx)
	defer cancel()
	running, stop := context.WithCancel(ctx)
	defer stop()
	c := m.git(running, nil, args...)
	out, err := c.StdoutPipe()
	if err != nil {
		return err
	}
	if err := c.start(m.o.Limits); err != nil {
		return err
	}
	stopped, err := read(bufio.NewReaderSize(out, 64<<10))
	if stopped || err != nil {
		stop()
	}
	waited := c.wait()
	switch {
	case ctx.Err() != nil:
		return cmp.Or(waited, ctx.Err())
	case stopped && err == nil:
		return nil
	}
	return cmp.Or(err, waited)
}

// fieldReader reads what git writes with -z: fields that end with a zero byte.
type fieldReader struct{ in *bufio.Reader }

// next reads a field, of which it keeps at most so much.
func (f *fieldReader) next(most int) (text string, cut bool, err error) {
	var kept []byte
	for {
		part, err := f.in.ReadSlice(0)
		if errors.Is(err, bufio.ErrBufferFull) {
			err = nil
		} else if err != nil {
			if errors.Is(err, io.EOF) && len(kept)+len(part) > 0 {
				err = io.ErrUnexpectedEOF
			}
			return "", false, err
		}
		whole := len(part) > 0 && part[len(part)-1] == 0
		if whole {
			part = part[:len(part)-1]
		}
		if room := most - len(kept); len(part) > room {
			part, cut = part[:room], true
		}
		if kept = append(kept, part...); whole {
			return string(kept), cut, nil
		}
	}
}

// commit reads one with its changes. git puts a zero byte before each line of --raw that follows a message, and
// behind all of them.
func (f *fieldReader) commit(paths int) (c Commit, err error) {
	if c.Hash, _, err = f.next(maxField); err != nil {
		return c, err
	}
	c.Hash = strings.TrimLeft(c.Hash, "\n")
	if !IsCommit(c.Hash) {
		return c, newError(Failed, "git log has said %.80q where a commit begins", c.Hash)
	}
	var fields [5]string
	for i := range fields {
		if fields[i], _, err = f.next(maxField); err != nil {
			return c, unexpected(err)
		}
	}
	c.Parents = strings.Fields(fields[0])
	c.Author, c.Email, c.Subject = shown(fields[1]), shown(fields[2]), shown(fields[4])
	seconds, err := strconv.ParseInt(fields[3], 10, 64)
	if err == nil {
		c.At = time.Unix(seconds, 0).UTC()
	}
	c.Changes, c.More, err = f.changes(paths)
	return c, err
}

func shown(text string) string {
	text = strings.ToValidUTF8(text, "�")
	if len(text) > maxSubject {
		text = strings.ToValidUTF8(text[:maxSubject], "") + "…"
	}
	return printable.Text(text)
}

// changes reads the paths that follow, and no more than most of them into memory.
func (f *fieldReader) changes(most int) (all []Change, more bool, err error) {
	for {
		begin, err := f.in.Peek(2)
		if len(begin) == 0 && errors.Is(err, io.EOF) {
			return all, more, nil
		}
		switch {
		case len(begin) > 0 && begin[0] == ':':
		case len(begin) > 1 && (begin[0] == 0 || begin[0] == '\n') && begin[1] == ':':
			_, _ = f.in.Discard(1)
		case len(begin) > 0 && begin[0] == 0: // the end of a commit
			_, _ = f.in.Discard(1)
			return all, more, nil
		default:
			return all, more, nil
		}
		change, err := f.change()
		if err != nil {
			return all, more, unexpected(err)
		}
		if len(all) >= most {
			more = true
			continue
		}
		all = append(all, change)
	}
}

// change reads ":oldmode newmode oldhash newhash status" and a path.
func (f *fieldReader) change() (c Change, err error) {
	line, _, err := f.next(maxField)
	if err != nil {
		return c, err
	}
	words := strings.Fields(line)
	if len(words) != 5 || words[4] == "" {
		return c, newError(Failed, "git has said %.80q of a change", line)
	}
	c.Status = words[4][0]
	c.Mode = parseMode(words[1])
	if parseMode(strings.TrimPrefix(words[0], ":"))&typeBits == Submodule {
		c.was = words[2]
	}
	if c.Mode&typeBits == Submodule {
		c.is = words[3]
	}
	c.Path, _, err = f.next(maxLongPath)
	return c, err
}

func unexpected(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
