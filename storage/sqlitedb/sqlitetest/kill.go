package sqlitetest

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// childDir is in the environment of the child.
const childDir = "HOLDFAST_SQLITETEST_DIR"

// step is a line of what the child tells its parent: that it sets out to record something, or
// how that ended.
type step struct {
	Name      string
	Ended     bool
	Error     string // why it failed
	Uncertain bool   // it may turn out to have happened
}

// Outcome implements killtest.Told.
func (s step) Outcome() (acked bool, err error) { return s.Ended && s.Error == "", nil }

// ChildMain is for the first lines of an engine's TestMain. It returns at once, unless this
// process is the child that Run starts and kills: then it records things, on a disk whose fsyncs
// fail now and then, until it dies.
func ChildMain(e Engine) {
	killtest.Child(childDir, func(dir string) (*child, error) {
		s, err := e.Open(dir)
		return &child{s: s, path: filepath.Join(dir, e.Database)}, err
	}, (*child).work)
}

type child struct {
	s    Store
	path string
}

func (c *child) work(seed uint64) {
	// A store that has written nothing yet may have no WAL.
	c.record(fmt.Sprintf("%x first", seed), 10)
	failing, restore, err := failSyncs(c.path)
	if err != nil {
		panic(err)
	}
	defer restore() // which never comes, but keeps in memory what SQLite calls
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(seed, i))
			for n := 0; ; n++ {
				if r.IntN(20) == 0 {
					failing.Store(1 + r.Int64N(4))
				}
				c.record(fmt.Sprintf("%x-%d-%d", seed, i, n), 10+r.IntN(5)*r.IntN(5_000))
			}
		})
	}
	wg.Wait() // never
}

func (c *child) record(name string, bytes int) {
	s := step{Name: name}
	killtest.Tell(s)
	s.Ended = true
	if err := c.s.Record(name, bytes); err != nil {
		s.Error, s.Uncertain = err.Error(), sqlitedb.Uncertain(err)
	}
	killtest.Tell(s)
}

// checkKill kills a child several times over the same folder, and looks for what it recorded.
func (e Engine) checkKill(t *testing.T) {
	suite.Deep(t)
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	r := rand.New(rand.NewPCG(seed, 0))
	dir, l := t.TempDir(), ledger{}
	for range 4 {
		steps := killtest.Kill[step](t, childDir, dir, r.Uint64(), 1+r.IntN(150))
		s := e.open(t, dir)
		l.verify(t, steps, recorded(t, s))
		shut(t, s)
	}
	t.Logf("%d acknowledged, %d refused, %d of them uncertain", len(l.there), l.failed, l.uncertain)
}

// ledger is what was recorded by the children so far.
type ledger struct {
	there             []string
	failed, uncertain int
}

// verify compares what is there with what the last child told.
func (l *ledger) verify(t *testing.T, steps []step, there []string) {
	t.Helper()
	last := map[string]step{}
	open := map[string]bool{} // what may be there, or not
	for i, s := range steps {
		switch last[s.Name] = s; {
		case !s.Ended || s.Uncertain:
			open[s.Name] = true
		default:
			delete(open, s.Name)
		}
		if s.Ended && s.Error == "" {
			l.there = append(l.there, s.Name)
			settleBefore(open, steps[:i], s.Name)
		} else if s.Ended {
			l.failed++
		}
		if s.Uncertain {
			l.uncertain++
		}
	}
	var unasked []string
	for _, name := range there {
		if !slices.Contains(l.there, name) && !open[name] {
			unasked = append(unasked, fmt.Sprintf("%s (%+v)", name, last[name]))
		} else if open[name] {
			l.there = append(l.there, name)
		}
	}
	if len(unasked) > 0 {
		t.Errorf("there is what was refused: %v", unasked)
	}
	for _, name := range l.there {
		if !slices.Contains(there, name) {
			t.Errorf("%s was acknowledged, and is not there", name)
		}
	}
}

// settleBefore takes off what is uncertain no more when a name was recorded: whatever had
// ended before that began.
func settleBefore(open map[string]bool, steps []step, name string) {
	begun := slices.IndexFunc(steps, func(s step) bool { return s.Name == name })
	for _, s := range steps[:begun] {
		if s.Ended && s.Uncertain {
			delete(open, s.Name)
		}
	}
}
