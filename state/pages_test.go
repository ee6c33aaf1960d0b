package state_test

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// shortLooks are states of which lists look at three at a time, and count the looks.
type shortLooks struct {
	state.Store
	looks int
}

func (s *shortLooks) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	s.looks++
	q.Limit = min(q.Limit, 3)
	return s.Store.States(ctx, org, q)
}

func (s *shortLooks) Events(ctx context.Context, org uuid.UUID, q audit.Query) (audit.Page, error) {
	s.looks++
	filtered := q
	q.Limit = min(q.Limit, 3)
	q.Action, q.State = "", ""
	page, err := s.Store.Events(ctx, org, q)
	page.Events = slices.DeleteFunc(page.Events, func(e audit.Event) bool { return !filtered.Matches(e) })
	return page, err
}

// A list looks so far and no farther for a caller who may see little of much, and goes on
// from there, without a word about what it has seen.
func TestSeekingIsBounded(t *testing.T) {
	store := &shortLooks{Store: memory.New(1 << 30)}
	s := state.NewService(store, state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	caller := auth.Principal{Org: uuid.New(), KeyID: "key", Grant: auth.Grant{Role: auth.Owner}}
	var names []state.Name
	for i := range 100 {
		names = append(names, state.Name(fmt.Sprintf("theirs/%03d", i)))
	}
	for _, name := range append(names, "mine/1", "theirs/050/mine", "zmine") {
		if _, err := s.Put(t.Context(), caller, name, state.Write{Body: []byte(numbered(1))}); err != nil {
			t.Fatal(err)
		}
	}
	patterns, err := auth.ParsePatterns("mine/*,theirs/*/mine,zmine")
	if err != nil {
		t.Fatal(err)
	}
	caller.States = patterns
	var seen []state.Name
	q, pages := state.StatesQuery{Limit: 5}, 0
	for more := true; more; more = q.After != "" {
		store.looks = 0
		page, err := s.States(t.Context(), caller, q)
		if err != nil {
			t.Fatal(err)
		}
		if store.looks > 4 || strings.Contains(string(page.Next), "theirs/") && !patterns.Match(string(page.Next)) {
			t.Errorf("%d looks, then %q", store.looks, page.Next)
		}
		for _, one := range page.States {
			seen = append(seen, one.Name)
		}
		q.After, pages = page.Next, pages+1
	}
	if want := []state.Name{"mine/1", "theirs/050/mine", "zmine"}; !slices.Equal(seen, want) || pages < 100/12 {
		t.Errorf("%q in %d pages; want %q", seen, pages, want)
	}
}

// Undelete said again asks for nothing that grows with the log.
func TestUndeleteAgainLooksAtNoEvents(t *testing.T) {
	store := &shortLooks{Store: memory.New(1 << 30)}
	s := state.NewService(store, state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	caller := auth.Principal{Org: uuid.New(), KeyID: "key", Grant: auth.Grant{Role: auth.Owner}}
	if _, err := s.Put(t.Context(), caller, "x", state.Write{Body: []byte(numbered(1))}); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), caller, "x", ""); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if v, err := s.Undelete(t.Context(), caller, "x"); err != nil || v.Number != 1 {
			t.Errorf("%+v, %v", v, err)
		}
	}
	if store.looks != 0 {
		t.Errorf("%d looks at the log", store.looks)
	}
}
