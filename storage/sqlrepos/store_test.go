package sqlrepos_test

import (
	"context"
	"errors"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/repos"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqldb/sqldbtest"
	"github.com/holdfast/holdfast/storage/sqlrepos"
)

func TestMain(m *testing.M) { os.Exit(sqldbtest.Main(m)) }

// repositories is a store that a test works with.
type repositories struct {
	*sqlrepos.Store
	t *testing.T
}

// onEach runs a test on a new store in a file, and, where deep tests run, in memory and on a MySQL-protocol server.
func onEach(t *testing.T, test func(t *testing.T, s repositories)) {
	on := func(t *testing.T, o sqldb.Options) {
		t.Helper()
		db, err := sqldb.Open(t.Context(), o)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { suite.Close(t, db) })
		test(t, repositories{sqlrepos.New(db), t})
	}
	sqldbtest.On(t, func(t *testing.T, o sqldb.Options, _ bool) { on(t, o) })
}

// begin is when all examples are due.
func begin() time.Time { return time.Date(2026, 3, 1, 12, 0, 0, 123000, time.UTC) }

func example(name string) repos.Repository {
	return repos.Repository{Name: name, ID: uuid.New(), Sealed: []byte{0, 1, 255}, CreatedAt: begin(), UpdatedAt: begin(),
		Settings:  repos.Settings{URL: "https://example.com/ü.git", Branches: []string{"main", "release/*"}, Poll: time.Hour},
		UpdatedBy: repos.Actor{KeyID: "k", Subject: "ada"}}
}

func (s repositories) update(ctx context.Context, org uuid.UUID, r repos.Repository) (repos.Repository, error) {
	return s.Update(ctx, org, r.Name, func(*repos.Repository, int) (repos.Change, error) {
		return repos.Change{Put: &r}, nil
	})
}

func (s repositories) put(org uuid.UUID, r repos.Repository) repos.Repository {
	s.t.Helper()
	r, err := s.update(s.t.Context(), org, r)
	s.must(err)
	return r
}

func (s repositories) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s repositories) get(org uuid.UUID, name string) repos.Repository {
	s.t.Helper()
	r, err := s.Repository(s.t.Context(), org, name)
	s.must(err)
	return r
}

func (s repositories) wantNone(org uuid.UUID, name string) {
	s.t.Helper()
	_, err := s.Repository(s.t.Context(), org, name)
	suite.Fault(s.t, "what is not there", err, fault.RepositoryNotFound)
}

func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s: %+v, not %+v", what, got, want)
	}
}

func TestPut(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		org, r := uuid.New(), example("infra")
		made := s.put(org, r)
		r.Org, r.Revision = org, 1
		want(t, "made", made, r)
		want(t, "by name", s.get(org, "infra"), made)
		byID, err := s.ByID(t.Context(), r.ID)
		s.must(err)
		want(t, "by ID", byID, made)
		r.Settings.API, r.Sealed = "https://example.com/api", []byte("other")
		changed := s.put(org, r)
		r.Revision = 2
		want(t, "changed", changed, r)
	})
}

func TestRefusedChange(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		org, no := uuid.New(), errors.New("no")
		_, err := s.Update(t.Context(), org, "x", func(is *repos.Repository, count int) (repos.Change, error) {
			if is != nil || count != 0 {
				t.Errorf("there is %v of %d", is, count)
			}
			r := example("x")
			return repos.Change{Put: &r}, no
		})
		if !errors.Is(err, no) {
			t.Errorf("the refusal became %v", err)
		}
		s.wantNone(org, "x")
	})
}

func TestEndedContext(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		ended, end := context.WithCancel(t.Context())
		end()
		org := uuid.New()
		if _, err := s.update(ended, org, example("infra")); err == nil {
			t.Error("a change was made in a context that has ended")
		}
		s.wantNone(org, "infra")
	})
}

func TestOrganizations(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		ctx, org, other := t.Context(), uuid.New(), uuid.New()
		r := s.put(org, example("infra"))
		s.wantNone(other, "infra")
		all, err := s.Repositories(ctx, other, "", 10)
		s.must(err)
		want(t, "list", len(all), 0)
		_, ok, err := s.Claim(ctx, other, r.ID, uuid.NewString(), begin(), begin().Add(time.Hour))
		s.must(err)
		want(t, "claim", ok, false)
		s.must(s.Hint(ctx, other, r.ID, begin().Add(-time.Hour)))
		s.must(s.Finish(ctx, repos.Finished{Org: other, ID: r.ID, Began: begin(), Status: repos.Status{Failures: 3}}))
		_, err = s.BeginDelivery(ctx, other, r.ID, []string{"a"}, begin(), begin(), 10)
		s.must(err)
		known, err := s.BeginDelivery(ctx, org, r.ID, []string{"a"}, begin(), begin(), 10)
		s.must(err)
		want(t, "delivery", known, repos.DeliveryNew)
		_, err = s.Update(ctx, other, "infra", func(*repos.Repository, int) (repos.Change, error) {
			return repos.Change{Delete: true}, nil
		})
		s.must(err)
		want(t, "repository", s.get(org, "infra"), r)
	})
}

func TestPages(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		org := uuid.New()
		for _, name := range []string{"b", "B", "a", "c"} {
			s.put(org, example(name))
		}
		for after, names := range map[string][]string{"": {"B", "a", "b"}, "b": {"c"}} {
			page, err := s.Repositories(t.Context(), org, after, 3)
			s.must(err)
			var got []string
			for _, r := range page {
				got = append(got, r.Name)
			}
			want(t, "behind "+after, got, names)
		}
	})
}

func TestDelete(t *testing.T) {
	onEach(t, func(t *testing.T, s repositories) {
		ctx, org := t.Context(), uuid.New()
		r := s.put(org, example("infra"))
		_, err := s.BeginDelivery(ctx, org, r.ID, []string{"a"}, begin(), begin(), 5)
		s.must(err)
		_, err = s.Update(ctx, org, "infra", func(is *repos.Repository, _ int) (repos.Change, error) {
			return repos.Change{Delete: is != nil}, nil
		})
		s.must(err)
		s.wantNone(org, "infra")
		_, err = s.ByID(ctx, r.ID)
		suite.Fault(t, "by ID", err, fault.RepositoryNotFound)
		forgotten, err := s.ForgetDeliveries(ctx, begin().Add(time.Hour), 10)
		s.must(err)
		want(t, "deliveries left", forgotten, 0)
	})
}
