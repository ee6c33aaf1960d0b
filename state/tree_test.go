package state_test

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// planted is a service with states, and somebody who may do everything.
func planted(t *testing.T, names ...state.Name) (*state.Service, auth.Principal) {
	t.Helper()
	s := state.NewService(memory.New(1<<30), state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	owner := auth.Principal{Org: uuid.New(), KeyID: "key", Grant: auth.Grant{Role: auth.Owner}}
	for _, name := range names {
		if _, err := s.Put(t.Context(), owner, name, state.Write{Body: []byte(numbered(1))}); err != nil {
			t.Fatal(err)
		}
	}
	return s, owner
}

// allFolders reads all pages of folders.
func allFolders(t *testing.T, s *state.Service, p auth.Principal, prefix string, limit int) (texts, cursors []string) {
	t.Helper()
	q := state.FoldersQuery{Prefix: prefix, Limit: limit}
	for more := true; more; more = q.After != "" {
		found, next, err := s.Folders(t.Context(), p, q)
		if err != nil || len(found) > limit || len(cursors) > 100 {
			t.Fatalf("%d folders, on behind %q, %v", len(found), next, err)
		}
		for _, f := range found {
			texts = append(texts, fmt.Sprintf("%s %d %t", f.Name, f.States, f.More))
		}
		q.After = next
		cursors = append(cursors, string(next))
	}
	return texts, cursors
}

// Folders are the next segments of names, each once, with the states on any level below.
func TestFolders(t *testing.T) {
	s, owner := planted(t, "dev/a", "loose", "prod", "prod/db/one", "prod/db/two", "prod/net", "prod/net/eu", "prod-2/x")
	for _, limit := range []int{1, 2, 9} {
		if got, _ := allFolders(t, s, owner, "", limit); !slices.Equal(got,
			[]string{"dev/ 1 false", "prod-2/ 1 false", "prod/ 4 false"}) {
			t.Errorf("by %d: %q", limit, got)
		}
		if got, _ := allFolders(t, s, owner, "prod/", limit); !slices.Equal(got,
			[]string{"prod/db/ 2 false", "prod/net/ 1 false"}) {
			t.Errorf("in prod by %d: %q", limit, got)
		}
	}
	if n, more, err := s.Count(t.Context(), owner); n != 8 || more || err != nil {
		t.Errorf("%d states, %t, %v", n, more, err)
	}
}

// Who may see some states only learns of no other: neither in a folder, nor its number, nor a cursor.
func TestFoldersOfSomeStates(t *testing.T) {
	s, owner := planted(t, "prod/db/one", "prod/net/eu", "prod/net/us", "secret/a", "zone/prod")
	patterns, err := auth.ParsePatterns("prod/net/eu, zone/prod")
	if err != nil {
		t.Fatal(err)
	}
	owner.States = patterns
	got, cursors := allFolders(t, s, owner, "", 1)
	if !slices.Equal(got, []string{"prod/ 1 false", "zone/ 1 false"}) ||
		strings.Contains(strings.Join(cursors, ""), "secret") {
		t.Errorf("%q, by %q", got, cursors)
	}
	if n, _, err := s.Count(t.Context(), owner); n != 2 || err != nil {
		t.Errorf("%d states, %v", n, err)
	}
}

// What one answer reads is bounded: a folder with more than that says so, and the next page is behind it.
func TestFoldersAreBounded(t *testing.T) {
	names := []state.Name{"a/x", "z/x"}
	for i := range 20_100 {
		names = append(names, state.Name(fmt.Sprintf("many/%05d", i)))
	}
	s, owner := planted(t, names...)
	got, cursors := allFolders(t, s, owner, "", 9)
	if !slices.Equal(got, []string{"a/ 1 false", "many/ 19999 true", "z/ 1 false"}) ||
		!slices.Equal(cursors, []string{"many/", ""}) {
		t.Errorf("%q, by %q", got, cursors)
	}
}
