package authfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
)

// memoryRevisions is a database in memory that can be stepped into.
type memoryRevisions struct {
	mu        sync.Mutex
	all       []Revision
	down      error  // of all calls
	answer    error  // of Add, once, after it has happened
	beforeAdd func() // once
	looks     int
}

func (m *memoryRevisions) last() Revision {
	if len(m.all) == 0 {
		return Revision{}
	}
	return m.all[len(m.all)-1]
}

func (m *memoryRevisions) Tip(context.Context) (uint64, string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.looks++
	return m.last().Number, digestOf([]byte(m.last().Text)), m.down
}

func (m *memoryRevisions) Newest(context.Context) (Revision, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last(), m.down
}

func (m *memoryRevisions) Add(_ context.Context, after uint64, text, by string) (bool, error) {
	if step := m.beforeAdd; step != nil {
		m.beforeAdd = nil
		step()
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.down != nil || m.last().Number != after {
		return false, m.down
	}
	m.all = append(m.all, Revision{after + 1, text, time.Unix(int64(after), 0).UTC(), by})
	err := m.answer
	m.answer = nil
	return err == nil, err
}

func (m *memoryRevisions) put(text string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.all = append(m.all, Revision{Number: m.last().Number + 1, Text: text})
}

func (m *memoryRevisions) set(change func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	change()
}

// each runs a test on a file and on a database, which begin with the same text.
func eachSource(t *testing.T, text string, test func(t *testing.T, s Source)) {
	t.Run("file", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "auth.cfg")
		put(t, path, text)
		test(t, InFile(path))
	})
	t.Run("database", func(t *testing.T) {
		m := &memoryRevisions{}
		m.put(text)
		test(t, InDatabase(m, "the database", "test"))
	})
}

// TestEditsAreNotLost has many edit at once.
func TestEditsAreNotLost(t *testing.T) {
	const editors = 15
	eachSource(t, keysOld, func(t *testing.T, s Source) {
		var editing sync.WaitGroup
		for i := range editors {
			editing.Go(func() {
				must(t, s.Edit(t.Context(), func(d *Document) error { return d.AddOrganization(uuid.New(), fmt.Sprint("org", i)) }))
			})
		}
		editing.Wait()
		doc, err := s.Load(t.Context())
		if err != nil || len(doc.Organizations()) != editors+1 {
			t.Fatalf("%d organizations, %v", len(doc.Organizations()), err)
		}
	})
}

// TestRefusedEdit leaves the text as it is.
func TestRefusedEdit(t *testing.T) {
	eachSource(t, keysOld, func(t *testing.T, s Source) {
		refused := errors.New("refused")
		if err := s.Edit(t.Context(), func(d *Document) error {
			_ = d.AddOrganization(uuid.New(), "Other")
			return refused
		}); !errors.Is(err, refused) {
			t.Error(err)
		}
		if doc, err := s.Load(t.Context()); err != nil || doc.String() != keysOld {
			t.Errorf("%q, %v", doc, err)
		}
	})
}

// TestEditsMadeAnew: an edit that another one comes before is made on what that has left.
func TestEditsMadeAnew(t *testing.T) {
	m := &memoryRevisions{}
	m.put(keysOld)
	m.beforeAdd = func() { m.put(keysNew) }
	edits := 0
	must(t, InDatabase(m, "the database", "test").Edit(t.Context(), func(d *Document) error {
		edits++
		return d.AddOrganization(uuid.New(), "Other")
	}))
	if text := m.last().Text; edits != 2 || m.last().Number != 3 || !strings.HasPrefix(text, keysNew) ||
		!strings.Contains(text, "Other") {
		t.Errorf("%d edits, revision %d:\n%s", edits, m.last().Number, text)
	}
}

// TestLostAnswer: a write whose answer is lost is looked up, and made once; where nobody can say,
// the error says so.
func TestLostAnswer(t *testing.T) {
	m := &memoryRevisions{}
	s := InDatabase(m, "the database", "test")
	m.answer = errors.New("the connection broke")
	must(t, s.Edit(t.Context(), func(d *Document) error { return d.AddOrganization(uuid.New(), "Acme") }))
	if len(m.all) != 1 {
		t.Fatalf("%d revisions", len(m.all))
	}
	m.beforeAdd = func() { m.down = errors.New("away") }
	err := s.Edit(t.Context(), func(d *Document) error { return d.AddOrganization(uuid.New(), "Other") })
	if err == nil || !strings.Contains(err.Error(), "may have been edited or not") || !errors.Is(err, m.down) {
		t.Errorf("%v", err)
	}
}

func TestNoRevision(t *testing.T) {
	m := &memoryRevisions{}
	s := InDatabase(m, "the database", "test")
	if _, err := s.Load(t.Context()); !errors.Is(err, ErrNoRevision) {
		t.Errorf("Load: %v", err)
	}
	if _, err := Watch(t.Context(),
		WatchConfig{Path: "db", Revisions: m, Use: newBench().use, Logger: newBench().log.logger()}); !errors.Is(err,
		ErrNoRevision) {
		t.Errorf("Watch: %v", err)
	}
}

// TestReplaceExpects puts a whole file in the place of what was expected only.
func TestReplaceExpects(t *testing.T) {
	m := &memoryRevisions{}
	never := errors.New("not this one")
	expect := func(err error) func(Revision) error { return func(Revision) error { return err } }
	must(t, Replace(t.Context(), m, "db", "test", keysOld, expect(nil)))
	must(t, Replace(t.Context(), m, "db", "test", keysOld, expect(never))) // it is there already
	if err := Replace(t.Context(), m, "db", "test", keysNew, expect(never)); !errors.Is(err, never) {
		t.Error(err)
	}
	m.beforeAdd = func() { m.put(keysOld + "# edited\n") }
	if err := Replace(t.Context(), m, "db", "test", keysNew, expect(nil)); err == nil {
		t.Error("an edit was replaced that nobody has seen")
	}
	if err := Replace(t.Context(), m, "db", "test", "nonsense", expect(nil)); err == nil {
		t.Error("nonsense was taken")
	}
	if len(m.all) != 2 {
		t.Errorf("%d revisions", len(m.all))
	}
}

// TestFollowsRevisions takes what is new within a second, keeps what it has while the database is
// away or has nonsense, and says both.
func TestFollowsRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := newBench(), &memoryRevisions{}
		m.put(keysOld)
		w, err := Watch(t.Context(), WatchConfig{Path: "db", Revisions: m, Use: b.use, Logger: b.log.logger()})
		must(t, err)
		defer w.Close()
		second := func() { time.Sleep(time.Second); synctest.Wait() }
		want := func(what string, revision uint64, trouble bool) {
			t.Helper()
			if got := w.Taken(); got.Revision != revision || (w.Trouble() != "") != trouble {
				t.Errorf("%s: revision %d in force, trouble %q", what, got.Revision, w.Trouble())
			}
		}
		want("at first", 1, false)
		m.put(keysNew)
		second()
		want("a new one", 2, false)
		m.put("nonsense")
		second()
		want("nonsense", 2, true)
		m.put(keysOld)
		second()
		want("a good one again", 4, false)
		m.set(func() { m.down = errors.New("away") })
		second()
		want("away", 4, true)
		m.set(func() { m.down = nil })
		second()
		want("back", 4, false)
		if digest := w.Taken().Digest; digest != digestOf([]byte(keysOld)) {
			t.Errorf("the digest is %s", digest)
		}
	})
}

// TestLostRevisions: a database that lacks what was in force, and has another text under its number,
// counts all the same, and the log says so.
func TestLostRevisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, m := newBench(), &memoryRevisions{}
		m.put(keysOld)
		m.put(keysNew)
		w, err := Watch(t.Context(), WatchConfig{Path: "db", Revisions: m, Use: b.use, Logger: b.log.logger()})
		must(t, err)
		defer w.Close()
		m.set(func() { m.all = m.all[:1] })
		m.put(keysOld + "# other\n")
		time.Sleep(time.Second)
		synctest.Wait()
		if got := w.Taken(); got.Revision != 2 || got.Digest != digestOf([]byte(keysOld+"# other\n")) {
			t.Errorf("%+v in force", got)
		}
		if !strings.Contains(b.log.String(), "lost revisions") {
			t.Errorf("the log says\n%s", b.log.String())
		}
	})
}
