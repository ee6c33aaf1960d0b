package csv

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/sqlitedb/sqlitetest"
)

func longAgo() time.Time { return time.Date(2025, 2, 3, 0, 0, 0, 0, time.UTC) }

// daily uploads a batch for each day, of which every third has a large record.
func daily(t testing.TB, s *Store, org uuid.UUID, from, days int) (batches []inventory.Batch) {
	t.Helper()
	for i := range days {
		b := newBatch(org, 3)
		if b.At = longAgo().AddDate(0, 0, from+i); i%3 == 0 {
			b.Resources[1].Attributes = fmt.Appendf(nil, `{"large":"%s"}`, strings.Repeat("x", segmentSize))
		}
		b.Resources[0].ResourceType = fmt.Sprint("type-", i%4)
		upload(t, s, b)
		batches = append(batches, b)
	}
	return batches
}

func expire(t testing.TB, s *Store, org uuid.UUID, days, want int) {
	t.Helper()
	removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, days), 1)
	if err != nil || removed != want {
		t.Fatalf("Expire removed %d, %v; want %d", removed, err, want)
	}
	if exists(s.path(org) + keptMark) {
		t.Error("a copy is left")
	}
}

// wantWhole compares all of the file, and the groups, with these batches.
func wantWhole(t testing.TB, s *Store, org uuid.UUID, batches ...inventory.Batch) {
	t.Helper()
	wantBatches(t, s, org, batches...)
	tn := s.tenants.acquire(org)
	defer s.tenants.release(tn)
	if err := tn.inspect(t.Context()); err != nil {
		t.Fatalf("the file is not what the index says: %v", err)
	}
	counts := map[string]int64{}
	first := map[string]time.Time{}
	for _, b := range batches {
		for _, r := range b.Resources {
			if counts[r.ResourceType]++; counts[r.ResourceType] == 1 {
				first[r.ResourceType] = b.At
			}
		}
	}
	groups, err := s.Summary(t.Context(), org)
	if err != nil || len(groups) != len(counts) {
		t.Fatalf("%d groups, want %d (%v)", len(groups), len(counts), err)
	}
	for _, g := range groups {
		if at := first[g.ResourceType]; g.Count != counts[g.ResourceType] || !at.IsZero() && !g.First.Equal(at) {
			t.Errorf("%+v, want %d records, the first of %v", g, counts[g.ResourceType], at)
		}
	}
}

// TestExpire cuts segments at their ends and in between, up to the last record, and goes on with the file across
// restarts, without reading all of it, and with its bytes where they belong if it is read.
func TestExpire(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	batches, began := daily(t, s, org, 0, 10), 0
	for _, gone := range []int{0, 1, 2, 2, 3, 7, 9, 10, 13} {
		expire(t, s, org, gone, 3*(gone-began))
		began = gone
		wantWhole(t, s, org, batches[gone:]...)
		if gone == 10 {
			if size := len(contents(t, s.path(org))); size > 100 {
				t.Errorf("without records, the file has %d bytes", size)
			}
			batches = append(batches, daily(t, s, org, 10, 4)...)
			wantWhole(t, s, org, batches[gone:]...)
		}
		if head, err := s.index.Head(t.Context(), org); err != nil || head.Seal != must(lookAt(s.path(org))).seal {
			t.Errorf("after %d days, the file is not trusted (%v)", gone, err)
		}
		wantMode(t, s.path(org), 0o600)
		shut(t, s)
		s = openDir(t, dir)
		wantWhole(t, s, org, batches[gone:]...)
	}
	// What a crash takes of the file is put back in its place, and a torn tail is cut off there.
	shut(t, s)
	s = openQuiet(t, dir, &disk{})
	before, c := contents(t, s.path(org)), newBatch(org, 2)
	upload(t, s, c)
	whole := contents(t, s.path(org))
	for name, text := range map[string]string{"all": before, "a part": whole[:len(whole)-20], "nothing": whole + "torn"} {
		left := sqlitetest.CopyAsCrash(t, dir)
		write(t, strings.Replace(s.path(org), dir, left, 1), text)
		again := openDir(t, left)
		wantWhole(t, again, org, append(batches[13:], c)...)
		if got := kept(t, left, org); len(got) != len(text)/len(whole+"torn") {
			t.Errorf("a crash that takes %s: kept %q", name, got)
		}
	}
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// TestExpiredFileWithANewIndex makes the index again: the file has what stays, and a cursor from before is refused
// rather than taken for another place.
func TestExpiredFileWithANewIndex(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	batches := daily(t, s, org, 0, 5)
	given := readAll(t, s, org, inventory.Query{})
	expire(t, s, org, 2, 6)
	shut(t, s)
	removeIndex(t, dir)
	s = openDir(t, dir)
	wantWhole(t, s, org, batches[2:]...)
	for i, record := range given {
		err := firstError(t, s, org, inventory.Query{After: record.Next})
		if !fault.Is(err, fault.CursorInvalid) {
			t.Errorf("record %d: %v", i, err)
		}
	}
	expire(t, s, org, 3, 3)
	wantWhole(t, s, org, batches[3:]...)
}

// TestEditsAfterExpire changes files of which records are gone: the line is the one that people see.
func TestEditsAfterExpire(t *testing.T) {
	dir := t.TempDir()
	s := openDir(t, dir)
	orgs := map[uuid.UUID]edit{}
	for _, e := range edits() {
		org := uuid.New()
		daily(t, s, org, 0, 2)
		expire(t, s, org, 1, 3)
		expire(t, s, org, 2, 3)
		tenUploads(t, s, org)
		orgs[org] = e
	}
	for org, e := range orgs {
		e.apply(t, s.path(org))
		t.Run(e.name, func(t *testing.T) {
			wantRefused(t, s, org, e.line)
			text := contents(t, s.path(org))
			removed, err := s.Expire(t.Context(), org, time.Now().AddDate(1, 0, 0), 1)
			if removed != 0 || !fault.Is(err, fault.StoreCorrupt) {
				t.Errorf("Expire: %d, %v", removed, err)
			}
			if contents(t, s.path(org)) != text || exists(s.path(org)+keptMark) {
				t.Error("the file was touched")
			}
		})
	}
}

// stepFile tells what is done to a file.
type stepFile struct {
	appendFile
	step func(string)
}

func (f stepFile) WriteAt(p []byte, offset int64) (int, error) {
	f.step("before a write")
	n, err := f.appendFile.WriteAt(p[:len(p)/2], offset)
	f.step("in a write")
	if err == nil {
		n, err = f.appendFile.WriteAt(p, offset)
	}
	return n, err
}

func (f stepFile) Truncate(size int64) error {
	defer f.step("truncated")
	return f.appendFile.Truncate(size)
}

func (f stepFile) Sync() error {
	defer f.step("synced")
	return f.appendFile.Sync()
}

// TestCrashInExpire has a crash at each step. All records are there then, or those that stay, and the next Expire does
// what is left to do. What is copied has other inodes, as a folder has that somebody saves before the restart.
func TestCrashInExpire(t *testing.T) {
	for _, gone := range []int{1, 4, 6} {
		dir, org := t.TempDir(), uuid.New()
		left := map[string]string{} // folders by step
		step := func(name string) {
			name = fmt.Sprintf("%d: %s", len(left), name)
			left[name] = sqlitetest.CopyAsCrash(t, dir)
		}
		s := openIn(t, Options{Dir: dir, flushEvery: time.Hour,
			open: func(path string) (appendFile, error) {
				f, err := openFile(path)
				if err == nil && strings.HasSuffix(path, keptMark) {
					f = stepFile{f, step}
				}
				return f, err
			},
			rename: func(from, to string) error {
				step("before the rename")
				err := os.Rename(from, to)
				step("behind the rename")
				return err
			}})
		batches := daily(t, s, org, 0, 6)
		given := readAll(t, s, org, inventory.Query{})
		expire(t, s, org, gone, 3*gone)
		if len(left) < 6 {
			t.Fatalf("only %d steps", len(left))
		}
		for name, left := range left {
			t.Run(fmt.Sprintf("%d of 6, %s", gone, name), func(t *testing.T) {
				checkLeft(t, left, org, batches, given, gone, strings.Contains(name, "rename"))
			})
		}
	}
}

func checkLeft(t *testing.T, dir string, org uuid.UUID, batches []inventory.Batch, given []inventory.Positioned,
	gone int, committed bool) {
	t.Helper()
	s := openDir(t, dir)
	if exists(s.path(org) + keptMark) {
		t.Error("a copy is left")
	}
	want, removed := batches, 3*gone
	if committed {
		want, removed = batches[gone:], 0
	}
	wantWhole(t, s, org, want...)
	next := daily(t, s, org, 6, 1)
	wantWhole(t, s, org, append(want[:len(want):len(want)], next...)...)
	expire(t, s, org, gone, removed)
	batches = append(batches[:len(batches):len(batches)], next...)
	wantWhole(t, s, org, batches[gone:]...)
	for i, record := range given {
		rest := readAll(t, s, org, inventory.Query{After: record.Next})
		if n := min(3*len(batches)-i-1, 3*(len(batches)-gone)); len(rest) != n {
			t.Errorf("behind record %d come %d, want %d", i, len(rest), n)
		}
	}
	if receipt := upload(t, s, batches[0]); !receipt.Replayed {
		t.Error("the first upload is not recognised")
	}
}

// TestRenameFails has the last step fail for a while: nothing is read or written by the wrong file meanwhile, and
// whoever comes when it works again finds all in order.
func TestRenameFails(t *testing.T) {
	org, fails := uuid.New(), true
	s := openIn(t, Options{Dir: t.TempDir(), rename: func(from, to string) error {
		if fails {
			return syscall.EIO
		}
		return os.Rename(from, to)
	}})
	batches := daily(t, s, org, 0, 5)
	removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 2), 1)
	if removed != 6 || !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("Expire: %d, %v", removed, err)
	}
	for range 2 {
		_, appendErr := s.Append(t.Context(), newBatch(org, 1))
		for what, err := range map[string]error{"Append": appendErr, "Records": firstError(t, s, org, inventory.Query{})} {
			if !fault.Is(err, fault.StoreUnavailable) {
				t.Errorf("%s: %v", what, err)
			}
		}
	}
	fails = false
	wantWhole(t, s, org, batches[2:]...)
	expire(t, s, org, 3, 3)
	wantWhole(t, s, org, batches[3:]...)
}

// TestUploadsGoOnMeanwhile appends and reads while the copy is made; what came meanwhile is in the new file.
func TestUploadsGoOnMeanwhile(t *testing.T) {
	org, begun, goOn := uuid.New(), make(chan struct{}), make(chan struct{})
	first := sync.OnceFunc(func() {
		close(begun)
		<-goOn
	})
	s := openIn(t, Options{Dir: t.TempDir(), open: func(path string) (appendFile, error) {
		f, err := openFile(path)
		if err == nil && strings.HasSuffix(path, keptMark) {
			f = stepFile{f, func(step string) {
				if step == "before a write" {
					first()
				}
			}}
		}
		return f, err
	}})
	batches := daily(t, s, org, 0, 6)
	done := make(chan error)
	go func() {
		_, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 1), 1)
		done <- err
	}()
	<-begun
	batches = append(batches, daily(t, s, org, 6, 4)...)
	wantBatches(t, s, org, batches...)
	close(goOn)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	wantWhole(t, s, org, batches[1:]...)
}

// TestUnfinishedCopy comes upon a copy that is not what the index goes by, whatever its size: it is removed, and the
// file stays.
func TestUnfinishedCopy(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	batches := daily(t, s, org, 0, 3)
	expire(t, s, org, 1, 3)
	whole := contents(t, s.path(org))
	for i, text := range []string{"", whole[:100], strings.Repeat("x", len(whole)), whole + "torn"} {
		write(t, s.path(org)+keptMark, text)
		if i%2 == 0 {
			shut(t, s)
			s = openDir(t, dir)
		} else if err := os.Chmod(s.path(org), 0o600); err != nil { // so that it is looked at
			t.Fatal(err)
		}
		wantWhole(t, s, org, batches[1:]...)
		if exists(s.path(org)+keptMark) || contents(t, s.path(org)) != whole {
			t.Errorf("with a copy of %d bytes: it is left, or in the place of the file", len(text))
		}
	}
	expire(t, s, org, 2, 3)
	write(t, s.path(org)+keptMark, "")
	if _, err := s.Shred(t.Context(), org, 100); err != nil || exists(s.path(org)+keptMark) {
		t.Errorf("Shred leaves a copy: %v", err)
	}
}

// TestExpireOnABadDisk changes nothing when there is no room for the copy, or it can't be brought to disk.
func TestExpireOnABadDisk(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(*disk)
		want fault.Code
	}{
		"full":  {func(d *disk) { d.write, d.short = syscall.ENOSPC, 1000 }, fault.StoreFull},
		"write": {func(d *disk) { d.write = syscall.EIO }, fault.StoreUnavailable},
		"sync":  {func(d *disk) { d.sync = syscall.EIO }, fault.StoreUnavailable},
		"open":  {func(d *disk) { d.open = syscall.EMFILE }, fault.StoreUnavailable},
	} {
		t.Run(name, func(t *testing.T) {
			d, org := &disk{}, uuid.New()
			s := openIn(t, Options{Dir: t.TempDir(), flushEvery: time.Hour, open: func(path string) (appendFile, error) {
				if strings.HasSuffix(path, keptMark) {
					return d.opener(path)
				}
				return openFile(path)
			}})
			batches := daily(t, s, org, 0, 5)
			before := contents(t, s.path(org))
			d.set(func() { c.set(d) })
			removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 2), 1)
			if removed != 0 || !fault.Is(err, c.want) {
				t.Errorf("Expire: %d, %v; want %s", removed, err, c.want)
			}
			if contents(t, s.path(org)) != before || exists(s.path(org)+keptMark) {
				t.Error("the file was touched, or a copy is left")
			}
			wantWhole(t, s, org, batches...)
			batches = append(batches, daily(t, s, org, 5, 1)...)
			d.set(func() { d.open, d.write, d.sync = nil, nil, nil })
			expire(t, s, org, 2, 6)
			wantWhole(t, s, org, batches[2:]...)
		})
	}
}

// TestExpireOfWhatIsNotFlushed: while a file can't be brought to disk, it is not replaced.
func TestExpireOfWhatIsNotFlushed(t *testing.T) {
	d, org := &disk{}, uuid.New()
	s := openQuiet(t, t.TempDir(), d)
	batches := daily(t, s, org, 0, 3)
	s.files.open = func(path string) (appendFile, error) {
		if strings.HasSuffix(path, keptMark) {
			return openFile(path)
		}
		return d.opener(path)
	}
	d.set(func() { d.sync = syscall.EIO })
	if removed, err := s.Expire(t.Context(), org, longAgo().AddDate(0, 0, 1), 1); removed != 0 || err == nil {
		t.Errorf("Expire: %d, %v", removed, err)
	}
	wantWhole(t, s, org, batches...)
	d.set(func() { d.sync = nil })
	expire(t, s, org, 1, 3)
	wantWhole(t, s, org, batches[1:]...)
	if n := journaled(t, s); n != 0 {
		t.Errorf("%d files are in the journal", n)
	}
}

// TestReadersAreOvertaken removes records under readers. One that is behind them goes on with the new file; one that
// was to read them is told to ask again, and is never told that the file was changed.
func TestReadersAreOvertaken(t *testing.T) {
	s, org := openDir(t, t.TempDir()), uuid.New()
	batches := daily(t, s, org, 0, 12)
	all := readAll(t, s, org, inventory.Query{})
	for _, order := range both() {
		for _, read := range []int{1, 6, 14, 15, 16, 35} {
			s, org := s, uuid.New()
			for _, b := range batches {
				b.Org = org
				upload(t, s, b)
			}
			next, stop := iter.Pull2(s.Records(t.Context(), org, inventory.Query{Order: order}))
			got, last := 0, error(nil)
			for got < read {
				if _, err, ok := next(); !ok || err != nil {
					t.Fatal(got, err)
				}
				got++
			}
			expire(t, s, org, 4, 12)
			expire(t, s, org, 5, 3)
			for {
				record, err, ok := next()
				if last = err; !ok || err != nil {
					break
				}
				at := got
				if order == inventory.Descending {
					at = len(all) - 1 - got
				}
				if diff := cmp.Diff(string(all[at].Attributes), string(record.Attributes)); diff != "" {
					t.Fatalf("descending %v, record %d: %s", order, got, diff)
				}
				got++
			}
			stop()
			if last != nil && (!fault.Is(last, fault.StoreUnavailable) || fault.From(last).RetryAfter == 0) ||
				last == nil && got != len(all) {
				t.Errorf("descending %v, after %d: %d of %d records, %v", order, read, got, len(all), last)
			}
			if ascending := order == inventory.Ascending; ascending && (last == nil) != (read > 12) {
				t.Errorf("after %d records in ascending order: %v", read, last)
			}
		}
	}
}

// TestExpireUnderLoad has appends, readers, flushes and restarts of readers at once with removals, for the race
// detector too: after all of it, what was acknowledged and stays is there.
func TestExpireUnderLoad(t *testing.T) {
	s, org := openIn(t, Options{Dir: t.TempDir(), flushEvery: time.Millisecond}), uuid.New()
	batches := daily(t, s, org, 0, 20)
	ctx, stop := context.WithCancel(t.Context())
	var mu sync.Mutex
	var running, readers sync.WaitGroup
	running.Go(func() {
		for i := range 20 {
			if _, err := s.Expire(ctx, org, longAgo().AddDate(0, 0, i), 1); err != nil {
				t.Errorf("Expire: %v", err)
			}
		}
	})
	running.Go(func() {
		for range 40 {
			b := newBatch(org, 2)
			if _, err := s.Append(ctx, b); err != nil {
				t.Errorf("Append: %v", err)
			}
			mu.Lock()
			batches = append(batches, b)
			mu.Unlock()
		}
	})
	for range 2 {
		readers.Go(func() {
			for after := ""; ctx.Err() == nil; {
				query := inventory.Query{Order: inventory.Order(rand.IntN(2) == 1)}
				if !bool(query.Order) {
					query.After = after
				}
				for r, err := range s.Records(ctx, org, query) {
					if err != nil && !fault.Is(err, fault.StoreUnavailable) && !errors.Is(err, context.Canceled) {
						t.Errorf("Records(%+v): %v", query, err)
					}
					if err == nil && !bool(query.Order) && rand.IntN(10) == 0 {
						after = r.Next
					}
				}
			}
		})
	}
	running.Wait()
	stop()
	readers.Wait()
	wantWhole(t, s, org, batches[19:]...)
}
