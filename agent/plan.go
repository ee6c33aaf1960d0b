package agent

import (
	"context"
	"encoding/json"
	"os"
	"path"
	"slices"
	"strconv"

	"github.com/holdfast/holdfast/agent/archive"
	"github.com/holdfast/holdfast/agent/backend"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/durable"
)

// changesExit is the exit code of a plan that would change something.
const changesExit = 2

func (s *stage) plan(ctx, _ context.Context) api.PhaseReport {
	if !s.isTerragrunt() && !s.isBegun(ctx, phasePlan) {
		if err := s.noteBefore(); err != nil {
			return failed(infrastructure, reason(err))
		}
	}
	out, err := s.command(ctx, phasePlan, true, false, s.planArgs()...)
	changes := err == nil && out.exit.Code == changesExit && out.exit.Signal == ""
	if changes {
		out.exit.Code = 0
	}
	r := s.ended(out, err)
	if changes {
		r.Changes, r.ExitCode = true, changesExit
	}
	return r
}

func (s *stage) planArgs() []string {
	a := s.assignment
	args := []string{"plan", "-json", "-input=false", "-lock=false", "-detailed-exitcode", "-out=" + planIn(s.folder)}
	if a.Kind == "destroy" {
		args = append(args, "-destroy")
	}
	if a.RefreshOnly {
		args = append(args, "-refresh-only")
	}
	if a.NoRefresh {
		args = append(args, "-refresh=false")
	}
	for _, target := range a.Targets {
		args = append(args, "-target="+target)
	}
	for _, address := range a.Replace {
		args = append(args, "-replace="+address)
	}
	return append(args, s.parallelism()...)
}

func (s *stage) parallelism() []string {
	if s.assignment.Parallelism <= 0 {
		return nil
	}
	return []string{"-parallelism=" + strconv.Itoa(s.assignment.Parallelism)}
}

// show has the plan told as JSON, and keeps all that the plan made: what is there before that is
// brought to the server meanwhile.
func (s *stage) show(ctx, held context.Context) api.PhaseReport {
	keeping, stop := context.WithCancel(held)
	defer stop()
	kept := make(chan *api.PhaseReport, 1)
	if s.isTerragrunt() { // whose show makes the files anew
		kept <- s.keepPlan(keeping)
	} else {
		go func() { kept <- s.keepPlan(keeping) }()
	}
	out, err := s.command(ctx, phaseShow, false, true, "show", "-json", planIn(s.folder))
	r := s.ended(out, err)
	if r.Outcome != succeeded {
		stop() // nobody wants it any more
	}
	if fault := <-kept; fault != nil && r.Outcome == succeeded {
		return *fault
	}
	if r.Outcome != succeeded {
		return r
	}
	told, err := s.toldJSON(out.stdout)
	if err != nil {
		return s.ended(out, err)
	}
	if fault := s.keepResults(held, s.costs(ctx, told)); fault != nil {
		return *fault
	}
	if err := s.upload(held, artefactPlanJSON, told); err != nil {
		return refused(held, "the artefact "+artefactPlanJSON, err)
	}
	return r
}

// keepPlan brings the plan, and what its apply needs beside it, to the server. It returns what
// keeps it from that.
func (s *stage) keepPlan(held context.Context) *api.PhaseReport {
	if err := s.packMade(); err != nil {
		r := failed(config, "the files that the plan made can't be kept for its apply: "+reason(err))
		return &r
	}
	if err := s.sameLock(); err != nil {
		r := failed(config, reason(err))
		return &r
	}
	for _, file := range []struct {
		kind, path string
		maybe      bool
	}{
		{artefactLock, s.lockPath(), true},
		{artefactPlanFiles, s.madePath(), true},
		{artefactPlan, planIn(s.folder), false},
	} {
		if _, err := os.Stat(file.path); file.maybe && err != nil {
			continue
		}
		if err := s.upload(held, file.kind, file.path); err != nil {
			r := refused(held, "the artefact "+file.kind, err)
			return &r
		}
	}
	return nil
}

// notMade names what is in the configuration's folder and is nothing that its apply lacks. Of Terragrunt's caches
// only what its tool works in is something.
func (s *stage) notMade(w work) func(name string, isFolder bool) bool {
	return func(name string, isFolder bool) bool {
		base := path.Base(name)
		switch {
		case w.inCache(name) && !w.has(name):
			return !isFolder || !w.leadsTo(name)
		case isFolder && w.leadsTo(name):
			return false
		case isFolder:
			return slices.Contains([]string{".terraform", backend.TerragruntCache, resultsFolder}, base) ||
				base == ".git" && w.has(name)
		case base == erroredState: // what an apply could not store is only what that apply has left
			return true
		case w.has(name):
			return base == lockFile || isTerragruntsOwn(base) || base == backend.File && path.Dir(name) != w.tool
		}
		return (base == lockFile || base == backend.File) && path.Dir(name) == w.unit
	}
}

// listMade lists what may be made.
func (s *stage) listMade() (archive.Listing, work, error) {
	w, err := s.work()
	if err != nil {
		return nil, w, err
	}
	found, err := archive.List(configIn(s.folder), s.notMade(w))
	return found, w, err
}

// noteBefore notes which files there are before the plan is made.
func (s *stage) noteBefore() error {
	before, _, err := s.listMade()
	if err != nil {
		return err
	}
	raw, err := json.Marshal(before)
	if err != nil {
		return err
	}
	return durable.Write(beforeIn(s.folder), string(raw))
}

func (s *stage) madePath() string { return scratchIn(s.folder, "made.tar") }

// made lists the files that were made since noteBefore.
func (s *stage) made() (archive.Listing, work, error) {
	raw, err := os.ReadFile(beforeIn(s.folder))
	if err != nil {
		return nil, work{}, err
	}
	var before archive.Listing
	if err := json.Unmarshal(raw, &before); err != nil {
		return nil, work{}, err
	}
	now, w, err := s.listMade()
	return now.Since(before), w, err
}

// packMade packs the files that planning made: a plan file doesn't have them.
func (s *stage) packMade() error {
	made, w, err := s.made()
	if err != nil || len(made) == 0 {
		return err
	}
	return writeFile(s.madePath(), func(f *os.File) error {
		return archive.Pack(f, configIn(s.folder), made, w.carried, planLimits())
	})
}
