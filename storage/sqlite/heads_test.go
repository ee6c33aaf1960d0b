package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// wantKept compares each head that is kept with its row. The writer must be idle.
func wantKept(t *testing.T, s *Store) (kept int) {
	t.Helper()
	rows := s.session.heads.rows
	for _, ref := range rows.Keys() {
		kept, _ := rows.Peek(ref)
		in, err := s.bodies.Seals.Writing(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		base := &stateengine.Base{BaseID: kept.Base}
		if base.Kept, err = in.Hide(kept.Base.Digest); err != nil {
			t.Fatal(err)
		}
		if there, err := s.session.isBaseOf(kept.ID, base); kept.Base.ID != 0 && (err != nil || !there) {
			t.Fatalf("%s is kept with base %+v, which isn't there: %v", ref.Name, kept.Base, err)
		}
		kept.Base = stateengine.BaseID{}
		row, err := (&headQuery{stmt: s.session.head.stmt}).load(s.bodies.Seals.Of(t.Context(), ref))
		if err != nil || !reflect.DeepEqual(kept, row) {
			t.Fatalf("%s is kept as\n%+v\nand is, %v,\n%+v", ref.Name, kept, err, row)
		}
	}
	return rows.Len()
}

// randomChange is any change that a head allows, with the body that goes with it.
func randomChange(r *rand.Rand, h state.Head) (state.Change, []byte) {
	at := time.Unix(r.Int64N(1<<40), r.Int64N(1e9))
	change := state.Change{At: at, Delete: r.IntN(6) == 0, Undelete: r.IntN(6) == 0, Release: r.IntN(3) == 0,
		Seen: r.IntN(3) == 0}
	change.Undelete = change.Undelete && h.Deleted && !change.Delete
	change.Delete = change.Delete && h.Version.Number > 0
	if r.IntN(3) == 0 {
		change.Lock = &state.Lock{Since: at, Seen: at, KeyID: "ci",
			Info: state.LockInfo{ID: token(4), Who: "ann", Raw: []byte(`{"ID":"x"}`)}}
	}
	if r.IntN(2) == 0 {
		return change, nil
	}
	body := fmt.Appendf(nil, "%0300d", r.Uint64()) // a delta of others
	v := describe(body)
	v.Number, v.Serial, v.Lineage, v.Warnings, v.Resources, v.CreatedAt = h.Version.Number+1, r.Uint64(), "l\x00é",
		state.WarnShrunk|state.WarnLineage, r.IntN(9)-1, at
	v.Author, v.Origin = state.Author{Subject: "s", Who: "w"}, state.Origin{Version: 3, Candidate: "c", Reason: "r"}
	change.Version = &v
	return change, body
}

// TestKeptHeads holds what is kept of heads to what a query says, whatever came before.
func TestKeptHeads(t *testing.T) {
	s, _ := opened(t)
	s.bodies.DeltaFrom = 1
	r := rand.New(rand.NewPCG(1, 2))
	refs := []state.Ref{newRef("a"), newRef("b"), newRef("c"), newRef("d")}
	most := 0
	for range 600 {
		ref := refs[r.IntN(len(refs))]
		head, err := s.Head(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		switch change, body := randomChange(r, head); r.IntN(12) {
		case 0:
			_ = s.Purge(t.Context(), ref, head.Version.Number, audit.Event{Action: audit.VersionPurge})
		case 1:
			_, _ = s.Prune(t.Context(), ref, state.Pruning{Below: head.Version.Number, Limit: 2},
				audit.Event{Action: audit.VersionsPrune})
		case 2:
			_, _ = s.Expunge(t.Context(), ref, time.Unix(1<<41, 0), 3, audit.Event{Action: audit.StateExpire})
		case 3: // undone after it was made
			u, err := s.bodies.NewUpdate(t.Context(), ref, body, always(change))
			if err != nil {
				t.Fatal(err)
			}
			_ = s.submit(t.Context(), server(), 0, func(w *session) error {
				return errors.Join(u.Run(w.rowsOf(ref)), errors.New("no"))
			})
		default:
			if _, err := s.Update(t.Context(), ref, body, always(change)); err != nil {
				t.Fatal(err)
			}
		}
		most = max(most, wantKept(t, s))
	}
	if most != len(refs) {
		t.Errorf("at most %d heads were kept, want all %d", most, len(refs))
	}
}

// TestOthersWrites has another process change a row while its head is kept.
func TestOthersWrites(t *testing.T) {
	s, _ := opened(t)
	ref := newRef("app")
	mustPut(t, s, ref, []byte("{}"))
	if wantKept(t, s) != 1 {
		t.Fatal("the head is not kept")
	}
	db, err := sql.Open("sqlite", filepath.Join(filepath.Dir(s.path), databaseName))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "UPDATE states SET released_id = 'theirs'"); err != nil {
		t.Fatal(err)
	}
	var seen state.Head
	_, err = s.Update(context.Background(), ref, nil, func(h state.Head) (state.Change, error) {
		seen = h
		return state.Change{}, nil
	})
	if err != nil || seen.ReleasedID != "theirs" {
		t.Errorf("decided on the head before another's write: %q, %v", seen.ReleasedID, err)
	}
}

// TestHeadsAreBounded keeps a number of heads, and none that is large.
func TestHeadsAreBounded(t *testing.T) {
	h, org := newHeads(), uuid.New()
	for i := range 2 * keptHeads {
		h.keep(state.Ref{Org: org, Name: state.Name(fmt.Sprint(i))}, stateengine.HeadRow{ID: 1})
	}
	if h.rows.Len() != keptHeads {
		t.Errorf("%d heads are kept, want %d", h.rows.Len(), keptHeads)
	}
	ref := newRef("large")
	h.keep(ref, stateengine.HeadRow{ID: 1})
	h.keep(ref, stateengine.HeadRow{ID: 1,
		Head: state.Head{Lock: &state.Lock{Info: state.LockInfo{Raw: []byte(strings.Repeat("x", keptTexts+1))}}}})
	if h.rows.Contains(ref) {
		t.Error("a large head is kept")
	}
}
