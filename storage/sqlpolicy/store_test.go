package sqlpolicy_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlpolicy"
	"github.com/holdfast/holdfast/storage/sqlworkspace"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }

// bundles is a store that a test works with, and the outbox of its database.
type bundles struct {
	*sqlpolicy.Store
	t      *testing.T
	outbox *sqlworkspace.Store
}

// onEach runs a test on a new store in a file, and, where deep tests run, in memory and on a MySQL-protocol server.
func onEach(t *testing.T, test func(t *testing.T, s bundles)) {
	on := func(t *testing.T, o sqldb.Options) {
		t.Helper()
		db, err := sqldb.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { suite.Close(t, db) })
		test(t, bundles{sqlpolicy.New(db), t, sqlworkspace.New(db, nil, time.Now)})
	}
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, _ bool) { on(t, o) })
}

func bundle(n int) policy.Bundle {
	return policy.Bundle{Digest: fmt.Sprint("digest", n), Enforce: policy.Hold, Message: "é <m>", Files: n, Bytes: 7,
		Rules: 2, Tests: 3, CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 1000, time.UTC),
		CreatedBy: audit.Actor{KeyID: "k", Subject: "s"}}
}

// push makes a version.
func (s bundles) push(ctx context.Context, ref policy.Ref, n int) (policy.Bundle, error) {
	return s.Update(ctx, ref, func(*policy.Bundle, int) (policy.Change, error) {
		b := bundle(n)
		return policy.Change{Put: &b, Files: fmt.Append(nil, "files", n), Event: &audit.Event{At: b.CreatedAt,
			Org: ref.Org, Action: audit.PolicyPush, Note: fmt.Sprint(ref.Name, n)}}, nil
	})
}

func (s bundles) mustPush(ref policy.Ref, n int) policy.Bundle {
	s.t.Helper()
	b, err := s.push(s.t.Context(), ref, n)
	if err != nil {
		s.t.Fatal(err)
	}
	return b
}

// wantNotes wants the outbox to have events with these notes.
func (s bundles) wantNotes(want ...string) {
	s.t.Helper()
	kept, err := s.outbox.Undelivered(s.t.Context(), uuid.Nil, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	var notes []string
	for _, one := range kept {
		notes = append(notes, one.Event.Note)
	}
	suite.Equal(s.t, "notes of events", want, notes)
}

func (s bundles) wantNoVersions(ref policy.Ref) {
	s.t.Helper()
	_, err := s.Versions(s.t.Context(), ref)
	suite.Fault(s.t, "versions of what is not there", err, fault.PolicyNotFound)
}

func TestVersions(t *testing.T) {
	onEach(t, func(t *testing.T, s bundles) {
		ref := policy.Ref{Org: uuid.New(), Workspace: "prod/net", Name: "a"}
		var want []policy.Bundle // the newest first
		for n := 1; n <= 3; n++ {
			b := bundle(n)
			b.Ref, b.Version = ref, int64(n)
			suite.Equal(t, "what Update returns", b, s.mustPush(ref, n))
			want = append([]policy.Bundle{b}, want...)
		}
		all, err := s.Versions(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		suite.Equal(t, "versions", want, all)
		for n := 1; n <= 3; n++ {
			files, err := s.Files(t.Context(), ref, int64(n))
			if err != nil || string(files) != fmt.Sprint("files", n) {
				t.Errorf("files of version %d: %q, %v", n, files, err)
			}
		}
		_, err = s.Files(t.Context(), ref, 4)
		suite.Fault(t, "files of an absent version", err, fault.PolicyNotFound)
		s.wantNotes("a1", "a2", "a3")
	})
}

func TestList(t *testing.T) {
	onEach(t, func(t *testing.T, s bundles) {
		org := uuid.New()
		for i, ref := range []policy.Ref{{Workspace: "b", Name: "x"}, {Name: "y"}, {Name: "x"}, {Workspace: "a", Name: "x"},
			{Name: "x"}, {Workspace: "A", Name: "x"}} {
			ref.Org = org
			s.mustPush(ref, i)
		}
		for _, c := range []struct {
			workspaces []string
			want       string
		}{
			{nil, "/x2 /y1 A/x1 a/x1 b/x1 "}, {[]string{"", "a"}, "/x2 /y1 a/x1 "}, {[]string{""}, "/x2 /y1 "},
			{[]string{"c"}, ""},
		} {
			all, err := s.List(t.Context(), org, c.workspaces...)
			text := ""
			for _, b := range all {
				text += fmt.Sprintf("%s/%s%d ", b.Workspace, b.Name, b.Version)
			}
			if err != nil || text != c.want {
				t.Errorf("of %q: %s, %v; want %s", c.workspaces, text, err, c.want)
			}
		}
	})
}

// An error of a decision, and a decision that changes nothing, leave everything as it was.
func TestNoChange(t *testing.T) {
	onEach(t, func(t *testing.T, s bundles) {
		ctx, ref, no := t.Context(), policy.Ref{Org: uuid.New(), Name: "a"}, errors.New("no")
		_, err := s.Update(ctx, ref, func(newest *policy.Bundle, n int) (policy.Change, error) {
			if newest != nil || n != 0 {
				t.Errorf("the decision was given %+v of %d", newest, n)
			}
			b := bundle(1)
			return policy.Change{Put: &b, Event: &audit.Event{Org: ref.Org}}, no
		})
		if !errors.Is(err, no) || err.Error() != "no" {
			t.Errorf("the refusal became %v", err)
		}
		s.wantNoVersions(ref)
		s.mustPush(ref, 1)
		got, err := s.Update(ctx, ref, func(newest *policy.Bundle, n int) (policy.Change, error) {
			if newest == nil || newest.Digest != "digest1" || n != 1 {
				t.Errorf("the decision was given %+v of %d", newest, n)
			}
			return policy.Change{}, nil
		})
		if err != nil || got.Version != 1 {
			t.Errorf("version %d, %v", got.Version, err)
		}
		s.wantNotes("a1")
	})
}

func TestOldVersionsGo(t *testing.T) {
	onEach(t, func(t *testing.T, s bundles) {
		ref := policy.Ref{Org: uuid.New(), Name: "a"}
		const more = 3
		for n := 1; n <= policy.MaxVersions+more; n++ {
			s.mustPush(ref, n)
		}
		all, err := s.Versions(t.Context(), ref)
		if err != nil || len(all) != policy.MaxVersions || all[len(all)-1].Version != more+1 {
			t.Errorf("%d versions, %v", len(all), err)
		}
		_, err = s.Files(t.Context(), ref, more)
		suite.Fault(t, "files of an old version", err, fault.PolicyNotFound)
	})
}

func TestRemove(t *testing.T) {
	onEach(t, func(t *testing.T, s bundles) {
		org := uuid.New()
		gone, stays := policy.Ref{Org: org, Name: "a"}, policy.Ref{Org: org, Workspace: "w", Name: "a"}
		for _, ref := range []policy.Ref{gone, gone, stays} {
			s.mustPush(ref, 1)
		}
		after, err := s.Update(t.Context(), gone, func(*policy.Bundle, int) (policy.Change, error) {
			return policy.Change{Remove: true}, nil
		})
		if err != nil || after != (policy.Bundle{}) {
			t.Errorf("%+v, %v", after, err)
		}
		s.wantNoVersions(gone)
		if all, err := s.List(t.Context(), org); err != nil || len(all) != 1 {
			t.Errorf("left are %+v, %v", all, err)
		}
	})
}

func TestOrganizations(t *testing.T) {
	onEach(t, func(t *testing.T, s bundles) {
		ctx := t.Context()
		mine, theirs := policy.Ref{Org: uuid.New(), Name: "a"}, policy.Ref{Org: uuid.New(), Name: "a"}
		s.mustPush(mine, 1)
		_, err := s.Files(ctx, theirs, 1)
		suite.Fault(t, "another organization's files", err, fault.PolicyNotFound)
		if _, err := s.Update(ctx, theirs, func(newest *policy.Bundle, n int) (policy.Change, error) {
			if newest != nil || n != 0 {
				t.Errorf("another organization's decision was given %+v of %d", newest, n)
			}
			return policy.Change{Remove: true}, nil
		}); err != nil {
			t.Error(err)
		}
		if all, err := s.List(ctx, theirs.Org); err != nil || len(all) != 0 {
			t.Errorf("another organization has %+v, %v", all, err)
		}
		if kept, err := s.Versions(ctx, mine); err != nil || len(kept) != 1 {
			t.Errorf("kept are %+v, %v", kept, err)
		}
	})
}

func TestConcurrentUpdates(t *testing.T) {
	onEach(t, func(t *testing.T, s bundles) {
		ref := policy.Ref{Org: uuid.New(), Name: "a"}
		const many = 8
		suite.Together(t, many, func(ctx context.Context, worker int) error {
			_, err := s.push(ctx, ref, worker)
			return err
		})
		if kept, err := s.Versions(t.Context(), ref); err != nil || len(kept) != many {
			t.Errorf("%d versions, %v", len(kept), err)
		}
	})
}
