package bench

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/bench/sample"
)

// Options say what a load does.
type Options struct {
	Mix         Mix
	Size        int // of each state, in bytes
	Connections int
	// Name begins the names of the load's states; each connection has one of its own.
	Name string
	// Seed of what is sent. Each connection has another one, but for Read, in which all
	// states are the same: so can a floor's be that has one answer only.
	Seed uint64
	// Gzip has reads accept compressed answers.
	Gzip bool
	// MD5 has writes carry Content-MD5, as Terraform's and OpenTofu's do.
	MD5 bool
	// Instances of each upload; 0 means 100.
	Instances int
	// Patient has operations try again while the server is crowded, as clients do: Result
	// counts it, and the operation takes as long as it takes.
	Patient bool
	// Sparing ends a run as soon as an answer says that the organization has little left of its
	// limit, so that others of it are not kept out.
	Sparing bool
	// Timeout of each request; 0 means a minute.
	Timeout time.Duration
}

const usualInstances = 100

// Load is a number of connections with their states.
type Load struct {
	options  Options
	sessions []*session
	work     func(*session, context.Context) error
	spent    atomic.Bool // little is left of the organization's limit, which is to be spared
}

// Open connects, and prepares the server for each connection. The caller
// closes the load, also after an error of Run.
func Open(ctx context.Context, t Target, o Options) (*Load, error) {
	work, err := o.Mix.run()
	if err != nil {
		return nil, err
	}
	p, err := t.place()
	if err != nil {
		return nil, err
	}
	if o.Timeout == 0 {
		o.Timeout = time.Minute
	}
	l := &Load{options: o, work: work}
	for i := range o.Connections {
		l.sessions = append(l.sessions, l.session(p, t.Identities, i))
	}
	if err := l.each(func(_ int, s *session) error { return patiently(ctx, l.prepare(s)) }); err != nil {
		err = errors.Join(err, l.Remove(context.WithoutCancel(ctx)))
		l.Close()
		return nil, err
	}
	return l, nil
}

// prepare is what comes before anything is measured: the state's first version, or else one
// operation. The server knows the key afterwards.
func (l *Load) prepare(s *session) func(context.Context) error {
	if s.state != nil {
		return s.settle
	}
	return func(ctx context.Context) error { return l.work(s, ctx) }
}

func (l *Load) session(p place, ids []Identity, i int) *session {
	o := l.options
	var id *Identity
	if len(ids) > 0 {
		id = &ids[i%len(ids)]
	}
	s := &session{conn: newConn(p, id, o), path: fmt.Sprintf("/api/v1/state/%s-%d", o.Name, i), patient: o.Patient}
	if o.Sparing {
		s.conn.limited = func() { l.spent.Store(true) }
	}
	if o.Gzip {
		s.asking = "Accept-Encoding: gzip\r\n"
	}
	switch {
	case o.Mix == Read:
		s.state = sample.NewState(o.Size, o.Seed)
	case o.Mix.hasStates():
		s.state = sample.NewState(o.Size, o.Seed+uint64(i))
	case o.Mix == Upload:
		instances := o.Instances
		if instances == 0 {
			instances = usualInstances
		}
		s.report = sample.NewUpload(instances, o.Seed+uint64(i))
	}
	return s
}

// each runs work for all sessions at once.
func (l *Load) each(work func(int, *session) error) error {
	errs := make([]error, len(l.sessions))
	var running sync.WaitGroup
	for i, s := range l.sessions {
		running.Go(func() { errs[i] = work(i, s) })
	}
	running.Wait()
	return eachOnce(errs)
}

// eachOnce joins errors, but of failures of a kind only the first: connections fail alike.
func eachOnce(errs []error) error {
	var different []error
	said := map[string]bool{}
	for _, err := range errs {
		if err == nil || said[kindOf(err)] {
			continue
		}
		said[kindOf(err)] = true
		different = append(different, err)
	}
	return errors.Join(different...)
}

// patience is how long a server may refuse what is not measured for its number.
const patience = 30 * time.Second

// patiently repeats work while the server says that it is too much at once.
func patiently(ctx context.Context, work func(context.Context) error) error {
	for end := time.Now().Add(patience); ; {
		err := work(ctx)
		failure, ok := errors.AsType[*Failure](err)
		if !ok || failure.Kind != Refused && failure.Kind != Crowded || time.Now().After(end) || !sleep(ctx, pause, nil) {
			return err
		}
	}
}

// Remove takes away the states that may be there, and the locks of them. Their versions stay in
// the store.
func (l *Load) Remove(ctx context.Context) error {
	if !l.options.Mix.hasStates() {
		return nil
	}
	return l.each(func(_ int, s *session) error {
		if !s.there {
			return nil
		}
		if s.lockID != "" {
			_ = s.unlock(ctx)
		}
		return patiently(ctx, s.remove)
	})
}

// Close closes the connections and leaves the states where they are.
func (l *Load) Close() {
	for _, s := range l.sessions {
		s.conn.close()
	}
}
