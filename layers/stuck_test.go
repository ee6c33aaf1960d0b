package layers_test

import (
	"context"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
)

// odd are repositories in which something happens at a call.
type odd struct {
	repositories
	onHead    func(ctx context.Context, org uuid.UUID) error
	onRead    func()
	onArchive func(commit string) error
}

func (o odd) Head(ctx context.Context, org uuid.UUID, repository, branch string) (layers.Commit, string, error) {
	if o.onHead != nil {
		if err := o.onHead(ctx, org); err != nil {
			return layers.Commit{}, "", err
		}
	}
	return o.repositories.Head(ctx, org, repository, branch)
}

func (o odd) Read(ctx context.Context, org uuid.UUID, repository, commit string, read func(fs.FS) error) error {
	if o.onRead != nil {
		o.onRead()
	}
	return o.repositories.Read(ctx, org, repository, commit, read)
}

func (o odd) Archive(ctx context.Context, org uuid.UUID, repository, commit string, folders, files []string,
	w io.Writer) error {
	if o.onArchive != nil {
		if err := o.onArchive(commit); err != nil {
			return err
		}
	}
	return o.repositories.Archive(ctx, org, repository, commit, folders, files, w)
}

// with is a service over other repositories.
func (w *world) with(r layers.Repositories) *layers.Service {
	return layers.NewService(layers.Deps{Store: w.store, Repositories: r, Workspaces: workspaces{w}, Runs: runs{w},
		Audit: w, Now: w.Now, Log: slog.New(slog.DiscardHandler)})
}

// A commit of which no configuration can be made fails, and the next one is planned.
func TestCommitThatCannotBeBroughtIsNoEnd(t *testing.T) {
	t.Parallel()
	for name, bad := range map[string]error{
		"too large": fault.New(fault.FilesTooLarge, "the files are too large"),
		"gone":      fault.New(fault.CommitNotFound, "the commit is gone"),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			first := w.commits[0].ID
			s := w.with(odd{repositories: repositories{w}, onArchive: func(commit string) error {
				if commit == first {
					return bad
				}
				return nil
			}})
			w.add(func(*layers.Settings) {})
			w.settle(s)
			l := w.layer()
			failed := l.Conditions.Of(layers.HasLastPlanFailed)
			if l.Run != nil || l.Facts.Failures.Count != 1 || failed.Status != layers.True ||
				failed.Message != "no run could be made: "+fault.From(bad).Message {
				t.Fatalf("%+v, %+v, %+v", l.Run, l.Facts.Failures, failed)
			}
			second := w.push("envs/prod/main.tf")
			if err := s.Pushed(t.Context(), layers.Ref{Org: w.org, Name: "infra"}); err != nil {
				t.Fatal(err)
			}
			w.settle(s)
			if l := w.layer(); l.Run == nil || l.Run.ID == "" || l.Run.Commit != second {
				t.Errorf("%+v, %s", l.Run, l.Says)
			}
		})
	}
}

// What may go well a little later is tried again, and is no failure.
func TestTroubleIsNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	trouble := fault.New(fault.RepositoryFailed, "its host does not answer")
	var now error = trouble
	s := w.with(odd{repositories: repositories{w}, onArchive: func(string) error { return now }})
	w.add(func(*layers.Settings) {})
	w.settle(s)
	if l := w.layer(); l.Run == nil || l.Facts.Failures.Count != 0 {
		t.Fatalf("%+v, %+v", l.Run, l.Facts.Failures)
	}
	now = nil
	w.pass(layersAside)
	w.settle(s)
	if l := w.layer(); l.Run == nil || l.Run.ID == "" {
		t.Errorf("%+v, %s", l.Run, l.Says)
	}
}

const layersAside = 61e9

// A push that comes while a layer is looked at is not lost, though no check for drift looks again.
func TestPushWhileALayerIsLookedAt(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repository := layers.Ref{Org: w.org, Name: "infra"}
	during := func() {}
	s := w.with(odd{repositories: repositories{w}, onRead: func() { during() }})
	w.add(func(s *layers.Settings) { s.Drift.Off = true })
	w.settle(s)
	w.ends(layers.EndedWell, func(*run) {})
	w.pass(layersAside)
	w.settle(s)

	w.push("docs/README.md")
	var second string
	during = func() {
		during = func() {}
		second = w.push("envs/prod/main.tf")
		if err := s.Pushed(t.Context(), repository); err != nil {
			t.Error(err)
		}
	}
	if err := s.Pushed(t.Context(), repository); err != nil {
		t.Fatal(err)
	}
	w.settle(s)
	if l := w.layer(); second == "" || l.Facts.Branch.ID != second || l.Run == nil || l.Run.Commit != second {
		t.Errorf("%+v, %+v, due %v; want %s", l.Facts.Branch, l.Run, l.Due, second)
	}
}

// One whose process died before it said that there is something new keeps no layer from it for long.
func TestCommitIsFoundThoughNobodySaysSo(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(func(s *layers.Settings) { s.Drift.Off = true })
	w.settle(s)
	w.ends(layers.EndedWell, func(*run) {})
	w.pass(layersAside)
	w.settle(s)
	second := w.push("envs/prod/main.tf")
	w.pass(61 * layersAside)
	w.settle(s)
	if l := w.layer(); l.Run == nil || l.Run.Commit != second {
		t.Errorf("%+v, due %v", l.Run, l.Due)
	}
}

// A repository whose host never answers is in no other organization's way.
func TestSilentRepositoryHoldsUpNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	s := w.with(odd{repositories: repositories{w}, onHead: func(ctx context.Context, org uuid.UUID) error {
		if org == w.org {
			return nil
		}
		<-ctx.Done()
		return ctx.Err()
	}})
	w.add(func(*layers.Settings) {})
	silent := w.layer()
	silent.Due = at(-1)
	for range 300 {
		ref := layers.Ref{Org: uuid.NewSHA1(w.org, nil), Name: uuid.NewString()}
		_, err := w.store.Update(t.Context(), ref, func(*layers.Layer) (layers.Change, error) {
			return layers.Change{Put: &silent}, nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	swept := make(chan error, 1)
	go func() { swept <- s.Sweep(ctx) }()
	for w.layer().Run == nil {
		select {
		case err := <-swept:
			t.Fatalf("the sweep is over: %v", err)
		default:
		}
	}
	stop()
	<-swept
}

// A layer whose folder is taken out of the branch says so and what to do, and nothing is tried, until the folder is
// back.
func TestLayerIsGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(func(s *layers.Settings) { s.Remediation = layers.Auto })
	w.planAndApply(s)
	pushed := func(paths ...string) {
		t.Helper()
		w.push(paths...)
		if err := s.Pushed(t.Context(), layers.Ref{Org: w.org, Name: "infra"}); err != nil {
			t.Fatal(err)
		}
		w.settle(s)
	}
	kept := map[string]*fstest.MapFile{}
	var paths []string
	path := w.layer().Settings.Path
	for name, file := range w.tree {
		if strings.HasPrefix(name, path+"/") {
			kept[name], paths = file, append(paths, name)
			delete(w.tree, name)
		}
	}
	w.stands(s, layers.StateFact{Resources: 3})
	pushed(paths...)
	l := w.want(layers.Gone, 1, layers.WantApply)
	if !strings.Contains(l.Says, "has taken "+path+" out") || !strings.Contains(l.Says, "holdfast run destroy prod") {
		t.Error(l.Says)
	}
	w.stands(s, layers.StateFact{Version: 2})
	if l := w.want(layers.Gone, 1, layers.WantApply); !strings.Contains(l.Says, "nothing of what the layer has made is there") {
		t.Error("after the destroy: " + l.Says)
	}
	w.pass(1000 * time.Hour)
	w.settle(s)
	w.want(layers.Gone, 1, layers.WantApply)
	if _, err := s.Sync(t.Context(), w.principal(auth.Operator), "prod"); err != nil {
		t.Fatal(err)
	}
	w.settle(s)
	w.want(layers.PlanNeeded, 2, layers.WantApply)
	w.ends(layers.EndedBad, func(r *run) { r.out.Reason = "the configuration has no directory" })
	w.pass(3 * time.Second)
	w.settle(s)
	w.want(layers.Gone, 2, layers.WantApply)
	for name, file := range kept {
		w.tree[name] = file
	}
	pushed(paths...)
	w.want(layers.PlanNeeded, 3, layers.WantApply)
}

// A layer says that its repository can't be fetched, and says it no more when it can.
func TestLayersSayThatTheirRepositoryIsNotFetched(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := w.service()
	w.add(func(*layers.Settings) {})
	w.planAndApply(s)
	for _, trouble := range []string{"couldn't find remote ref refs/heads/main", ""} {
		w.mu.Lock()
		w.trouble = trouble
		w.mu.Unlock()
		if err := s.Pushed(t.Context(), layers.Ref{Org: w.org, Name: "infra"}); err != nil {
			t.Fatal(err)
		}
		w.settle(s)
		l := w.want(layers.ApplyNeeded, 1, layers.WantPlan)
		if got := strings.Contains(l.Says, "can't be fetched"); got != (trouble != "") || !strings.Contains(l.Says, trouble) {
			t.Errorf("%q: %s", trouble, l.Says)
		}
	}
}
