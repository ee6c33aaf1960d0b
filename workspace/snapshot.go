package workspace

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/digest"
)

// Digest is a SHA-256.
type Digest = digest.SHA256

// ParseDigest reads one in 64 lower-case hexadecimal digits.
func ParseDigest(text string) (d Digest, err error) {
	raw, err := hex.DecodeString(text)
	if err != nil || len(raw) != len(d) || strings.ToLower(text) != text {
		return Digest{}, fault.New(fault.ParameterInvalid, "%.100q is not a SHA-256 in 64 hexadecimal digits", text)
	}
	return Digest(raw), nil
}

// File is a file of a snapshot.
type File struct {
	Path       string
	Executable bool
	Size       int64
	Digest     Digest // of its content
}

// Snapshot is an immutable set of files, by path. Its ID is the SHA-256 of its list, so that
// equal sets are one.
type Snapshot struct {
	ID    Digest
	Files []File
}

// Bytes is how many bytes its files have.
func (s Snapshot) Bytes() (n int64) {
	for _, f := range s.Files {
		n += f.Size
	}
	return n
}

// File returns the one with this path, or fault.FileNotFound.
func (s Snapshot) File(p string) (File, error) {
	i, found := slices.BinarySearchFunc(s.Files, p, func(f File, p string) int { return cmp.Compare(f.Path, p) })
	if !found {
		return File{}, fault.New(fault.FileNotFound, "the configuration has no file %.200q", p)
	}
	return s.Files[i], nil
}

// Contents are the digests of the different contents of the files.
func (s Snapshot) Contents() []Digest {
	all := make([]Digest, len(s.Files))
	for i, f := range s.Files {
		all[i] = f.Digest
	}
	slices.SortFunc(all, func(a, b Digest) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(all)
}

// with is the snapshot with another file of its path.
func (s Snapshot) with(f File) []File {
	return append(s.without(f.Path), f)
}

func (s Snapshot) without(p string) []File {
	return slices.DeleteFunc(slices.Clone(s.Files), func(f File) bool { return f.Path == p })
}

// NewSnapshot checks a set of files, in any order, and returns it as a snapshot.
func NewSnapshot(files []File, limits Limits) (Snapshot, error) {
	limits = limits.withDefaults()
	if len(files) > limits.Files {
		return Snapshot{}, fault.New(fault.FilesTooMany, "there are %d files; at most %d are allowed", len(files),
			limits.Files)
	}
	s := Snapshot{Files: slices.Clone(files)}
	slices.SortFunc(s.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	for _, f := range s.Files {
		if err := f.check(limits); err != nil {
			return Snapshot{}, err
		}
	}
	if err := checkPaths(s.Files); err != nil {
		return Snapshot{}, err
	}
	if n := s.Bytes(); n > limits.SnapshotBytes {
		return Snapshot{}, errSnapshotBytes(limits)
	}
	s.ID = sha256.Sum256(s.List())
	return s, nil
}

func (f File) check(limits Limits) error {
	if err := CheckPath(f.Path); err != nil {
		return err
	}
	if strings.Count(f.Path, "/") >= limits.Depth {
		return fault.New(fault.FilesTooMany, "%.200q lies deeper than %d folders", f.Path, limits.Depth-1)
	}
	if f.Size > limits.FileBytes {
		return errFileBytes(f.Path, limits)
	}
	return nil
}

func errFileBytes(p string, limits Limits) error {
	return fault.New(fault.FileTooLarge, "%.200q is larger than %d bytes, which is the limit of a file", p,
		limits.FileBytes)
}

func errSnapshotBytes(limits Limits) error {
	return fault.New(fault.FilesTooLarge, "the files have more than %d bytes together, which is the limit",
		limits.SnapshotBytes)
}

// checkPaths refuses sets of files that can't lie in one folder everywhere.
func checkPaths(sorted []File) error {
	// of files and folders, as they are spelt, by how systems see them that tell neither case nor composed characters
	// apart
	names := map[string]string{}
	files := map[string]bool{}
	for _, f := range sorted {
		if files[f.Path] {
			return fault.New(fault.FileTwice, "the path %.200q comes twice", f.Path)
		}
		files[f.Path] = true
		folded := norm.NFD.String(strings.ToLower(norm.NFC.String(f.Path))) // once: the names in it are parts of it
		for spelt, seen := range prefixes(f.Path, folded) {
			if other, there := names[seen]; there && other != spelt {
				return fault.New(fault.FileTwice, "%.200q and %.200q differ only by case, or by how characters are composed", other, spelt)
			}
			names[seen] = spelt
			if len(spelt) < len(f.Path) && files[spelt] {
				return fault.New(fault.FileTwice, "%.200q is a file, and the folder of %.200q", spelt, f.Path)
			}
		}
	}
	for _, f := range sorted { // a folder that comes before the file of its name
		for end := range f.Path {
			if f.Path[end] == '/' && files[f.Path[:end]] {
				return fault.New(fault.FileTwice, "%.200q is a file, and the folder of %.200q", f.Path[:end], f.Path)
			}
		}
	}
	return nil
}

// prefixes are a path's folders and itself, beside what stands for each in the path's other
// spelling, which has as many names.
func prefixes(path, other string) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		j := 0
		for i := range len(path) + 1 {
			if i < len(path) && path[i] != '/' {
				continue
			}
			for j < len(other) && other[j] != '/' {
				j++
			}
			if !yield(path[:i], other[:j]) {
				return
			}
			j++
		}
	}
}

// listHead is the first line of a snapshot's list.
const listHead = "holdfast snapshot 1\n"

// List is the text whose SHA-256 is the ID: a line for each file, sorted by path.
func (s Snapshot) List() []byte {
	var b bytes.Buffer
	b.WriteString(listHead)
	for _, f := range s.Files {
		fmt.Fprintf(&b, "%s %s %d %s\n", f.mode(), f.Digest, f.Size, f.Path)
	}
	return b.Bytes()
}

// mode is x for what may be executed, - for the rest.
func (f File) mode() string {
	if f.Executable {
		return "x"
	}
	return "-"
}

var errList = errors.New("workspace: the list of a snapshot is not one")

// ParseList reads what List wrote, of the snapshot with this ID.
func ParseList(id Digest, list []byte) (Snapshot, error) {
	rest, ours := strings.CutPrefix(string(list), listHead)
	if !ours || sha256.Sum256(list) != id {
		return Snapshot{}, errList
	}
	s := Snapshot{ID: id}
	for line := range strings.Lines(rest) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), " ", 4)
		if len(parts) != 4 {
			return Snapshot{}, errList
		}
		digest, err := ParseDigest(parts[1])
		size, failed := strconv.ParseInt(parts[2], 10, 64)
		if err != nil || failed != nil {
			return Snapshot{}, errList
		}
		s.Files = append(s.Files, File{Path: parts[3], Executable: parts[0] == "x", Size: size, Digest: digest})
	}
	return s, nil
}

// Entry is a snapshot in the row of those that a workspace has had.
type Entry struct {
	Number    int64 // from 1
	ID        Digest
	Files     int
	Bytes     int64
	Message   string
	CreatedAt time.Time
	CreatedBy Actor
}
