package runs

import (
	"context"
	"maps"
	"reflect"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// sight is what was seen of a run that is watched.
type sight struct {
	version int64 // of the changes that this server was told of; 0 for nothing
	run     Run
	ends    map[LogRef]int64 // where its logs ended, when it was looked at
}

// Watch is a run that somebody looks at while it goes on. Whatever many see at once is read for
// them once: the run when it has changed, and each piece of its logs when it has come.
type Watch struct {
	service *Service
	ref     Ref
	watched *watched
	stop    func()
	caller  auth.Principal
}

// Watch has the caller see what becomes of a run and its logs. The caller closes it.
func (s *Service) Watch(ctx context.Context, p auth.Principal, id string) (*Watch, error) {
	run, err := s.find(ctx, p, auth.ReadRun, id)
	if err != nil {
		return nil, err
	}
	w := s.watch(run.Ref())
	w.caller = p
	return w, nil
}

func (s *Service) watch(ref Ref) *Watch {
	w, stop := s.changed.watch(ref, func() *partCache { return newPartCache(s.Memory, ref) }, func(w *watched) func() {
		ctx, end := context.WithCancel(context.Background())
		go s.lookAfter(ctx, ref, w)
		return end
	})
	return &Watch{service: s, ref: ref, watched: w, stop: stop}
}

// Close ends the watching.
func (w *Watch) Close() { w.stop() }

// Next returns what is closed when there is more to see than there was before it was called.
func (w *Watch) Next() <-chan struct{} {
	_, grown := w.service.changed.next(w.watched)
	return grown
}

// Allowed refuses a caller who may not see the run any more.
func (w *Watch) Allowed(ctx context.Context, p auth.Principal) error {
	run, err := w.Run(ctx)
	if err == nil {
		err = w.service.Gate.Authorize(ctx, p, auth.ReadRun)
	}
	if err != nil {
		return err
	}
	if p.SeesValues(run.Workspace) != w.caller.SeesValues(run.Workspace) {
		return fault.New(fault.StateInternal, "who is shown values of %q has changed: begin again", run.Workspace)
	}
	return w.service.Gate.AuthorizeOn(ctx, p, auth.ReadRun, run.Workspace)
}

// Run returns the run as it is, as Service.Get does.
func (w *Watch) Run(ctx context.Context) (Run, error) {
	w.watched.reading.Lock()
	defer w.watched.reading.Unlock()
	run, err := w.run(ctx)
	return w.service.seen(w.caller, run), err
}

func (w *Watch) run(ctx context.Context) (Run, error) {
	version, _ := w.service.changed.versions(w.watched)
	if w.watched.seen.version == version {
		return w.watched.seen.run, nil
	}
	seen, err := w.service.see(ctx, w.ref)
	if err != nil {
		return Run{}, err
	}
	seen.version = version
	w.watched.seen = seen
	return seen.run, nil
}

// see reads a run, and where its logs end.
func (s *Service) see(ctx context.Context, ref Ref) (sight, error) {
	run, err := s.Store.Run(ctx, ref)
	if err != nil {
		return sight{}, err
	}
	if run, err = s.explained(ctx, run); err != nil {
		return sight{}, err
	}
	logs, err := s.Store.LogsOf(ctx, ref)
	ends := map[LogRef]int64{}
	for _, l := range logs {
		ends[l.LogRef] = l.End
	}
	return sight{run: run, ends: ends}, err
}

// lookAfter looks at a run from time to time though nobody has told that it has changed: another
// server may have changed it, or what it waits for may have. It does so once for all who watch it.
func (s *Service) lookAfter(ctx context.Context, ref Ref, w *watched) {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	var had sight
	for {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
		w.parts.look()
		seen, err := s.see(ctx, ref)
		if err != nil && ctx.Err() == nil {
			s.changed.tell(ref) // those who watch see the error themselves
			continue
		}
		forgotten := s.forgetTails(seen.ends)
		switch {
		case !reflect.DeepEqual(seen.run, had.run) && !w.shows(seen.run):
			s.changed.tell(ref)
		case forgotten || !maps.Equal(seen.ends, had.ends):
			s.changed.tellLog(ref)
		}
		had = seen
	}
}

// forgetTails forgets the ends of logs to which another server has added something, and reports
// whether there were any.
func (s *Service) forgetTails(ends map[LogRef]int64) (were bool) {
	for log, end := range ends {
		if tail, ok := s.tails.Peek(log); ok && tail.end < end {
			s.tails.Remove(log)
			were = true
		}
	}
	return were
}

// shows reports whether the run is what those who watch it see anyway.
func (w *watched) shows(run Run) bool {
	w.reading.Lock()
	defer w.reading.Unlock()
	return reflect.DeepEqual(w.seen.run, run)
}
