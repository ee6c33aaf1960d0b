package copies

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

// board is one in memory.
type board struct {
	mu    sync.Mutex
	all   []Copy
	posts int
	down  error
}

func (b *board) Post(_ context.Context, c Copy) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.posts++
	if b.down != nil {
		return b.down
	}
	b.remove(c.Node)
	b.all = append(b.all, c)
	return nil
}

func (b *board) remove(node string) {
	b.all = slices.DeleteFunc(b.all, func(c Copy) bool { return c.Node == node })
}

func (b *board) Copies(context.Context) ([]Copy, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return slices.Clone(b.all), b.down
}

func (b *board) Withdraw(_ context.Context, node string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.remove(node)
	return b.down
}

func (b *board) set(down error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.down = down
}

func TestOlder(t *testing.T) {
	at := time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	own := Copy{Node: "own", Digest: "a", At: at}
	revised := Copy{Node: "own", Digest: "a", At: at, Revision: 7}
	for name, test := range map[string]struct {
		own  Copy
		all  []Copy
		want string
	}{
		"alone":                   {own, []Copy{own}, ""},
		"nobody is there":         {own, nil, ""},
		"the same text elsewhere": {own, []Copy{{Node: "b", Digest: "a", At: at.Add(time.Hour)}}, ""},
		"an older file":           {own, []Copy{{Node: "b", Digest: "b", At: at.Add(-time.Hour)}}, ""},
		"a newer file":            {own, []Copy{{Node: "b", Digest: "b", At: at.Add(time.Hour)}}, "1h0m0s before"},
		"the newest of newer ones": {own,
			[]Copy{{Node: "b", Digest: "b", At: at.Add(time.Hour)}, {Node: "c", Digest: "c", At: at.Add(2 * time.Hour)}},
			"2h0m0s before"},
		"an older revision": {revised, []Copy{{Node: "b", Digest: "b", At: at.Add(time.Hour), Revision: 6}}, ""},
		"a newer revision": {revised, []Copy{{Node: "b", Digest: "b", At: at.Add(time.Minute), Revision: 9}},
			"revision 7 of auth.cfg is in force here, 9 on another node; it was written 1m0s later"},
		"a file beside the database": {revised, []Copy{{Node: "b", Digest: "b", At: at.Add(time.Minute)}}, "1m0s before"},
	} {
		got := older(test.own, test.all)
		if test.want == "" && got != "" || !strings.Contains(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

// TestWatch: a node says what it has, at once when that changes, sees when another has something
// newer, says when nobody can know, and is forgotten when it stops.
func TestWatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log logtest.Journal
		b, at := &board{}, time.Now()
		var mu sync.Mutex
		own := Copy{Node: "own", Digest: "a", Revision: 1, At: at}
		w := New(t.Context(), Config{Board: b, Log: slog.New(slog.NewTextHandler(&log, nil)), Own: func() Copy {
			mu.Lock()
			defer mu.Unlock()
			return own
		}})
		stale := func(want string) {
			t.Helper()
			if got := w.Stale(); (got == "") != (want == "") || !strings.Contains(got, want) {
				t.Errorf("stale is %q, want %q", got, want)
			}
		}
		stale("")
		_ = b.Post(t.Context(), Copy{Node: "other", Digest: "b", Revision: 2, At: at.Add(time.Second)})
		time.Sleep(interval)
		synctest.Wait()
		stale("revision 1")
		mu.Lock()
		own.Revision, own.Digest = 2, "b"
		mu.Unlock()
		posts := b.posts
		w.Soon()
		synctest.Wait()
		stale("")
		if b.posts != posts+1 {
			t.Errorf("%d posts at once", b.posts-posts)
		}
		b.set(errors.New("away"))
		time.Sleep(10 * interval)
		synctest.Wait()
		stale("away")
		b.set(nil)
		time.Sleep(interval)
		synctest.Wait()
		stale("")
		if err := w.Close(); err != nil {
			t.Error(err)
		}
		if len(b.all) != 1 || strings.Count(log.String(), "other nodes can't be told") != 1 {
			t.Errorf("%d copies are left; the log says\n%s", len(b.all), log.String())
		}
	})
}

// TestAwait names those that are late, and waits for no file and nobody who is gone.
func TestAwait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &board{all: []Copy{{Node: "a", Name: "a:1", Revision: 2}, {Node: "b", Name: "b:1", Revision: 1},
			{Node: "c", Name: "c:1"}, {Node: "d", Name: "d:1", Revision: 1, Silent: Gone + 1},
			{Node: "e", Name: "e:1", Revision: 2, Silent: Gone + 1}}}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		late, silent, err := Await(ctx, b, 2)
		if !errors.Is(err, context.DeadlineExceeded) || !slices.Equal(late, []string{"b:1"}) ||
			!slices.Equal(silent, []string{"d:1"}) {
			t.Errorf("late %v, silent %v, %v", late, silent, err)
		}
		go func() {
			time.Sleep(time.Second)
			_ = b.Withdraw(t.Context(), "b")
		}()
		late, silent, err = Await(t.Context(), b, 2)
		if err != nil || len(late) != 0 || !slices.Equal(silent, []string{"d:1"}) {
			t.Errorf("late %v, silent %v, %v", late, silent, err)
		}
	})
}

// TestShredded: all nodes that run have to have carried out that very order, and one has to run.
func TestShredded(t *testing.T) {
	org, at := uuid.New(), time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC)
	order := Order(org, at)
	done, not := Copy{Shredded: Order(uuid.New(), at) + " " + order}, Copy{Shredded: Order(org, at.Add(time.Second))}
	for name, test := range map[string]struct {
		all  []Copy
		want bool
	}{
		"nobody": {nil, false}, "all": {[]Copy{done, done}, true}, "one is late": {[]Copy{done, not}, false},
		"none": {[]Copy{{}}, false}, "one is gone": {[]Copy{done, {Silent: Gone + 1}}, true},
	} {
		if got := Shredded(test.all, order); got != test.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
