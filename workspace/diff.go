package workspace

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/rogpeppe/go-internal/diff"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
)

// How a file of two snapshots differs.
const (
	Added    = "added"
	Removed  = "removed"
	Modified = "modified" // content or mode
)

// Difference is a file that differs between two snapshots.
type Difference struct {
	Path   string
	How    string
	Before *File // nil for an added one
	After  *File // nil for a removed one
}

// maxDiffBytes is how large a file may be to be compared line by line.
const maxDiffBytes = 1 << 20

// Compare returns the files that differ from one snapshot to another, by path.
func Compare(from, to Snapshot) (all []Difference) {
	a, b := from.Files, to.Files
	for len(a) > 0 || len(b) > 0 {
		switch {
		case len(b) == 0 || len(a) > 0 && a[0].Path < b[0].Path:
			all = append(all, Difference{a[0].Path, Removed, &a[0], nil})
			a = a[1:]
		case len(a) == 0 || b[0].Path < a[0].Path:
			all = append(all, Difference{b[0].Path, Added, nil, &b[0]})
			b = b[1:]
		default:
			if a[0] != b[0] {
				all = append(all, Difference{a[0].Path, Modified, &a[0], &b[0]})
			}
			a, b = a[1:], b[1:]
		}
	}
	return all
}

// Sides returns two snapshots of a workspace that are to be compared, as Entry names them; an
// empty from is the one before the other, or nothing.
func (s *Service) Sides(ctx context.Context, p auth.Principal, name state.Name, from,
	to string) (before, after Entry, err error) {
	if after, err = s.Entry(ctx, p, name, to); err != nil {
		return before, after, err
	}
	ref := Ref{Org: p.Org, Name: name}
	if from != "" {
		before, err = s.find(ctx, ref, from)
		return before, after, err
	}
	earlier, err := s.Store.Entries(ctx, ref, after.Number, 1)
	if err == nil && len(earlier) == 1 {
		before = earlier[0]
	}
	return before, after, err
}

// Diff returns how one snapshot differs from another, as Sides has found them. The caller has
// acquired ListedBytes of memory for each of their files.
func (s *Service) Diff(ctx context.Context, org uuid.UUID, before, after Entry) ([]Difference, error) {
	newer, err := s.Store.Files(ctx, org, after.ID)
	if err != nil {
		return nil, err
	}
	var older Snapshot
	if before.Number > 0 {
		older, err = s.Store.Files(ctx, org, before.ID)
	}
	return Compare(older, newer), err
}

// WriteDiff writes it line by line, in the unified format. What is no text, or long, is only
// named. The caller has acquired ComparedBytes too.
func (s *Service) WriteDiff(ctx context.Context, org uuid.UUID, before, after Entry, w io.Writer) error {
	all, err := s.Diff(ctx, org, before, after)
	for _, d := range all {
		if err = s.writeFile(ctx, org, d, w); err != nil {
			break
		}
	}
	return err
}

func (s *Service) writeFile(ctx context.Context, org uuid.UUID, d Difference, w io.Writer) error {
	before, plain, err := s.side(ctx, org, d.Before)
	if err != nil {
		return err
	}
	after, alsoPlain, err := s.side(ctx, org, d.After)
	if err != nil {
		return err
	}
	if text := headOf(d); text != "" {
		if _, err := io.WriteString(w, text); err != nil {
			return err
		}
	}
	if !plain || !alsoPlain {
		_, err = fmt.Fprintf(w, "Files %s and %s differ, and are not compared line by line\n", nameOr(d.Before, "a/"),
			nameOr(d.After, "b/"))
		return err
	}
	text := diff.Diff(nameOr(d.Before, "a/"), before, nameOr(d.After, "b/"), after)
	_, rest, _ := bytes.Cut(text, []byte("\n")) // without its line of the command
	_, err = w.Write(rest)
	return err
}

// headOf says that a file can be executed by now, or can't any more.
func headOf(d Difference) string {
	if d.Before == nil || d.After == nil || d.Before.Executable == d.After.Executable {
		return ""
	}
	mode := map[bool]string{false: "644", true: "755"}
	return fmt.Sprintf("mode of %s: %s, before %s\n", d.Path, mode[d.After.Executable], mode[d.Before.Executable])
}

func nameOr(f *File, side string) string {
	if f == nil {
		return "/dev/null"
	}
	return side + f.Path
}

// side returns a file's text, and whether it is one that can be compared.
func (s *Service) side(ctx context.Context, org uuid.UUID, f *File) ([]byte, bool, error) {
	if f == nil {
		return nil, true, nil
	}
	if f.Size > maxDiffBytes {
		return nil, false, nil
	}
	content, err := s.Content(ctx, org, *f)
	if err != nil {
		return nil, false, err
	}
	text, err := io.ReadAll(content)
	return text, utf8.Valid(text) && !bytes.ContainsRune(text, 0), err
}
