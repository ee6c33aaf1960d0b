package sqlworkspace_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/workspace"
)

func digestOf(content string) workspace.Digest { return sha256.Sum256([]byte(content)) }

// read returns a content, "-" for none.
func (s workspaces) read(org uuid.UUID, d workspace.Digest) string {
	s.t.Helper()
	content, size, err := s.OpenContent(s.t.Context(), org, d)
	if errors.Is(err, fs.ErrNotExist) {
		return "-"
	}
	s.must(err)
	all, err := io.ReadAll(content)
	s.must(err)
	want(s.t, "size", size, int64(len(all)))
	return string(all)
}

func (s workspaces) wantStored(org uuid.UUID, bytes int64) {
	s.t.Helper()
	stored, err := s.StoredBytes(s.t.Context(), org)
	s.must(err)
	want(s.t, "stored bytes", stored, bytes)
}

// sweepAfter sweeps when so much time has passed.
func (s workspaces) sweepAfter(d time.Duration) {
	s.t.Helper()
	s.clock.at = s.clock.at.Add(d)
	s.must(s.Sweep(s.t.Context()))
}

func TestContents(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, org, broken := t.Context(), uuid.New(), errors.New("the line broke")
		large := strings.Repeat("0123456789abcdef", 150_000) // more than a row may have
		total := int64(100)                                  // the beginning of the large one
		for _, c := range []string{"", "small", "\x00\xff", large} {
			first := c[:min(len(c), 100)]
			for range 2 {
				d, size, err := s.PutContent(ctx, org, iotest.OneByteReader(strings.NewReader(first)), 100)
				s.must(err)
				want(t, "digest", d, digestOf(first))
				want(t, "size", size, int64(len(first)))
				d, _, err = s.PutContent(ctx, org, strings.NewReader(c), int64(len(c)))
				s.must(err)
				if got := s.read(org, d); got != c {
					t.Errorf("a content of %d bytes came back with %d", len(c), len(got))
				}
			}
			total += int64(len(c))
		}
		s.wantStored(org, total)
		_, _, err := s.PutContent(ctx, org, strings.NewReader(large+"!"), int64(len(large)))
		suite.Fault(t, "too long", err, fault.BodyTooLarge)
		if _, _, err := s.PutContent(ctx, org, io.MultiReader(strings.NewReader(large+"?"), iotest.ErrReader(broken)),
			1<<30); !errors.Is(err, broken) {
			t.Errorf("a reader's error became %v", err)
		}
		for _, c := range []string{large + "!", large + "?", "never"} {
			if got := s.read(org, digestOf(c)); got != "-" {
				t.Errorf("%d bytes that were not put are there", len(c))
			}
		}
		sizes, err := s.Sizes(ctx, org, []workspace.Digest{digestOf("small"), digestOf("never"), digestOf(large)})
		s.must(err)
		want(t, "sizes", sizes, map[workspace.Digest]int64{digestOf("small"): 5, digestOf(large): int64(len(large))})
	})
}

func TestSent(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		org := uuid.New()
		a := ref(org, "a")
		for range 2 {
			s.must(s.NoteSent(t.Context(), a, digestOf("one")))
		}
		wantSent := func(r workspace.Ref, sent map[workspace.Digest]bool) {
			t.Helper()
			got, err := s.Sent(t.Context(), r, []workspace.Digest{digestOf("one"), digestOf("two")})
			s.must(err)
			want(t, fmt.Sprint("sent for ", r), got, sent)
		}
		none := map[workspace.Digest]bool{}
		wantSent(a, map[workspace.Digest]bool{digestOf("one"): true})
		wantSent(ref(org, "b"), none)
		wantSent(ref(uuid.New(), "a"), none)
		s.sweepAfter(24 * time.Hour)
		wantSent(a, none)
	})
}

// Contents of several snapshots stay until the last of these goes.
func TestSweepKeepsWhatIsNeeded(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		ctx, org := t.Context(), uuid.New()
		a, b := ref(org, "a"), ref(org, "b")
		for _, r := range []workspace.Ref{a, b} {
			s.put(r)
			s.mustPush(r, "shared", "one")
			s.mustPush(r, "shared", "two")
		}
		_, _, err := s.PutContent(ctx, org, strings.NewReader("unneeded"), 100)
		s.must(err)
		wantLeft := func(what, left string) {
			t.Helper()
			s.sweepAfter(24 * time.Hour)
			var got []string
			for _, c := range []string{"shared", "one", "two", "unneeded"} {
				got = append(got, s.read(org, digestOf(c)))
			}
			want(t, what, strings.Join(got, " "), left)
		}
		wantLeft("a day later", "shared one two -")
		s.must(s.RemoveEntry(ctx, a, 1))
		wantLeft("without the first", "shared one two -")
		s.must(s.RemoveEntry(ctx, b, 1))
		wantLeft("without either", "shared - two -")
		_, err = s.Files(ctx, org, snapshotOf("shared", "one").ID)
		suite.Fault(t, "a snapshot that nobody has", err, fault.SnapshotNotFound)
		stored, err := s.StoredBytes(ctx, org)
		s.must(err)
		if stored < 9 || stored > 9+4096 { // with lists or without
			t.Errorf("%d bytes are stored", stored)
		}
		want(t, "pushed again", s.mustPush(a, "shared", "one").Number, int64(3))
	})
}

func TestSweepAfterDeletion(t *testing.T) {
	onEach(t, func(t *testing.T, s workspaces) {
		org := uuid.New()
		r := ref(org, "a")
		s.put(r)
		s.mustPush(r, "one")
		s.delete(r)
		// The first sweep lets go of what the workspace needed, and a later one removes it.
		s.sweepAfter(0)
		s.sweepAfter(24 * time.Hour)
		s.sweepAfter(24 * time.Hour)
		want(t, "content", s.read(org, digestOf("one")), "-")
		s.wantStored(org, 0)
	})
}
