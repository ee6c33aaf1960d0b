package csv

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

// crashed is what a crash leaves of a store whose last uploads were not on disk yet.
type crashed struct {
	dir     string
	org     uuid.UUID
	batches []inventory.Batch
	flushed int64 // bytes of the file that were
	whole   string
}

func crash(t *testing.T, flushed int) (c crashed) {
	c.org = uuid.New()
	dir := t.TempDir()
	s := openQuiet(t, dir, &disk{})
	for i := range flushed + 2 {
		if i == flushed {
			if err := s.flusher.flush(); err != nil {
				t.Fatal(err)
			}
			if info, err := os.Stat(s.path(c.org)); err == nil {
				c.flushed = info.Size()
			}
		}
		c.batches = append(c.batches, newBatch(c.org, 2))
		upload(t, s, c.batches[i])
	}
	c.whole = contents(t, s.path(c.org))
	c.dir = sqlitetest.CopyAsCrash(t, dir)
	return c
}

func (c crashed) path() string { return filepath.Join(c.dir, c.org.String()+suffix) }

// TestRefill has a crash of the machine take something of what was not flushed from the
// file: nothing is lost that was acknowledged.
func TestRefill(t *testing.T) {
	for name, leave := range map[string]func(whole string, flushed int64) string{
		"nothing lost":        func(whole string, _ int64) string { return whole },
		"all of it":           func(whole string, flushed int64) string { return whole[:flushed] },
		"a part":              func(whole string, flushed int64) string { return whole[:flushed+50] },
		"the last byte":       func(whole string, _ int64) string { return whole[:len(whole)-1] },
		"zeros":               func(whole string, flushed int64) string { return zeros(whole, flushed, len(whole)) },
		"zeros in the middle": func(whole string, flushed int64) string { return zeros(whole, flushed+30, len(whole)-60) },
		"zeros, and a part": func(whole string,
			flushed int64) string {
			return zeros(whole, flushed, len(whole))[:flushed+300]
		},
		"torn behind it": func(whole string, _ int64) string { return whole + "torn" },
	} {
		for _, flushed := range []int{0, 1} {
			t.Run(name, func(t *testing.T) {
				c := crash(t, flushed)
				write(t, c.path(), leave(c.whole, c.flushed))
				checkRefilled(t, c, name == "torn behind it")
			})
		}
	}
	t.Run("the file", func(t *testing.T) {
		c := crash(t, 0)
		if err := os.Remove(c.path()); err != nil {
			t.Fatal(err)
		}
		checkRefilled(t, c, false)
		wantMode(t, c.path(), 0o600)
	})
}

func zeros(whole string, from int64, to int) string {
	return whole[:from] + strings.Repeat("\x00", to-int(from)) + whole[to:]
}

func checkRefilled(t *testing.T, c crashed, torn bool) {
	t.Helper()
	for range 2 {
		s := openDir(t, c.dir)
		wantBatches(t, s, c.org, c.batches...)
		if got := contents(t, c.path()); got != c.whole || journaled(t, s) != 0 {
			t.Errorf("%d files in the journal, and the file has\n%q, want\n%q", journaled(t, s), got, c.whole)
		}
		if got := kept(t, c.dir, c.org); len(got) > 0 != torn {
			t.Errorf("kept aside: %q", got)
		}
		if receipt := upload(t, s, c.batches[0]); !receipt.Replayed {
			t.Error("an upload that was put back is recorded again")
		}
		shut(t, s)
	}
}

// TestRefillOnFullDisk starts while the disk has no room for what a crash took from a file:
// nobody takes that for a change, and all is there, without another start, when there is room.
func TestRefillOnFullDisk(t *testing.T) {
	for _, flushed := range []int{0, 1} {
		c, d := crash(t, flushed), &disk{short: 20}
		write(t, c.path(), c.whole[:c.flushed])
		d.set(func() { d.write = syscall.ENOSPC })
		s := openQuiet(t, c.dir, d)
		for range 2 {
			if err := firstError(t, s, c.org, inventory.Query{}); !fault.Is(err, fault.StoreFull) {
				t.Errorf("reading: %v", err)
			}
			if _, err := s.Append(t.Context(), newBatch(c.org, 1)); !fault.Is(err, fault.StoreFull) {
				t.Errorf("an upload: %v", err)
			}
		}
		d.set(func() { d.write = nil })
		wantBatches(t, s, c.org, c.batches...)
		if got := contents(t, c.path()); got != c.whole {
			t.Errorf("the file has\n%q, want\n%q", got, c.whole)
		}
		more := newBatch(c.org, 1)
		upload(t, s, more)
		shut(t, s)
		wantBatches(t, openDir(t, c.dir), c.org, append(c.batches, more)...)
	}
}

// TestUnreadableJournal: who starts the server learns which file can't be read.
func TestUnreadableJournal(t *testing.T) {
	c := crash(t, 0)
	path := filepath.Join(c.dir, indexName)
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), "DROP TABLE journal"); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), Options{Dir: c.dir})
	if err == nil || !strings.Contains(err.Error(), c.dir) || !strings.Contains(err.Error(), indexName) {
		t.Errorf("%v", err)
	}
	if got := contents(t, c.path()); got != c.whole {
		t.Errorf("the file was changed to\n%q", got)
	}
}

// TestRefillLeavesOthersAlone: what somebody changed after a crash stays as it is, and is
// refused; with the file as it was, all is there.
func TestRefillLeavesOthersAlone(t *testing.T) {
	for name, change := range map[string]func(whole string, flushed int64) string{
		"changed":   func(whole string, flushed int64) string { return whole[:flushed+130] + "?" + whole[flushed+131:] },
		"cut short": func(whole string, flushed int64) string { return whole[:flushed-1] },
		"emptied":   func(string, int64) string { return "" },
	} {
		t.Run(name, func(t *testing.T) {
			c := crash(t, 1)
			changed := change(c.whole, c.flushed)
			write(t, c.path(), changed)
			s := openDir(t, c.dir)
			if err := firstError(t, s, c.org, inventory.Query{}); err == nil {
				t.Error("the file is not refused")
			}
			if _, err := s.Append(t.Context(), newBatch(c.org, 1)); err == nil {
				t.Error("an upload is not refused")
			}
			upload(t, s, newBatch(uuid.New(), 1))
			if got := contents(t, c.path()); got != changed {
				t.Errorf("the file was changed to\n%q", got)
			}
			shut(t, s)
			write(t, c.path(), c.whole[:c.flushed])
			checkRefilled(t, c, false)
		})
	}
}
