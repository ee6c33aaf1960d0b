package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/gofrs/flock"

	"github.com/holdfast/holdfast/api"
)

// Settings are what an Executor works with.
type Settings struct {
	Server Server
	// Presentation is how it presents itself; PoolToken is what it does so with.
	Presentation api.AgentRegistration
	PoolToken    string
	// Work is the folder for run folders, of this executor alone.
	Work string
	// Slots is how many stages may go on at once; 0 for one.
	Slots int
	// Address is where the tools find the server, without a path.
	Address string
	// CACertificate is in PEM what signs the server's certificate, where the system doesn't
	// know it.
	CACertificate string
	// Proxies are the environment variables about proxies that commands get.
	Proxies map[string]string
	// Authorities are in PEM those that commands trust, where that is not the system's matter: empty.
	Authorities []byte
	Tools       Tools
	Commands    Commands
	// Infracost says what plans cost, where there is one.
	Infracost Infracost
	// MinSandbox is the level of the sandbox below which no run is begun, whatever its workspace
	// wants; empty for any.
	MinSandbox string
	// MaxFolderBytes is how much of the disk a run's folder may take; 0 for no bound.
	MaxFolderBytes int64
	// User is whom Commands runs commands as, where that is somebody else.
	User *User
	// LogPatience is how long the end of a stage waits for the rest of its log to be accepted; 0
	// for ten minutes.
	LogPatience time.Duration
	// Discards reports whether nothing is to be kept of an organization that its server does not
	// take; nil for never.
	Discards func(org string) bool
	// ClaimWait is for how many seconds a claim waits for work; 0 for 50.
	ClaimWait int
	Log       *slog.Logger
}

// Executor carries out stages of runs.
type Executor struct {
	settings Settings
	log      *slog.Logger
	folders  *folders
	slots    chan int
	// initialized is what the inits of plans have made, for their applies.
	initialized *initialized
	stages      sync.WaitGroup
	identity    Identity
	draining    chan struct{}
	drain       sync.Once
}

// New returns an executor. It makes its folder, and does nothing else before Run.
func New(s Settings) (*Executor, error) {
	s.Slots, s.LogPatience, s.ClaimWait = max(s.Slots, 1), cmp.Or(s.LogPatience, 10*time.Minute), cmp.Or(s.ClaimWait, 50)
	if err := s.Infracost.check(); err != nil {
		return nil, err
	}
	f, err := newFolders(s.Work)
	if err != nil {
		return nil, err
	}
	i := newInitialized(s.Work)
	e := &Executor{settings: s, log: s.Log, folders: f, initialized: i, slots: make(chan int, s.Slots),
		draining: make(chan struct{})}
	for slot := range s.Slots {
		e.slots <- slot
	}
	return e, nil
}

// Drain has the executor claim nothing more, and Run return when what goes on has ended.
func (e *Executor) Drain() {
	e.drain.Do(func() {
		e.log.Info("the agent claims nothing more")
		close(e.draining)
	})
}

func (e *Executor) isDraining() bool {
	select {
	case <-e.draining:
		return true
	default:
		return false
	}
}

// untilDrained is a context that ends when nothing more is to be claimed.
func (e *Executor) untilDrained(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancel(ctx)
	go func() {
		select {
		case <-e.draining:
			stop()
		case <-ctx.Done():
		}
	}()
	return ctx, stop
}

// Run carries out stages, those first that an executor before it has left in the folder, until
// it is drained. When the context ends it returns at once: commands go on without it, and the
// next executor finds them.
func (e *Executor) Run(ctx context.Context) error {
	lock, err := e.lock(ctx)
	if ctx.Err() != nil {
		return lock.Close()
	}
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := errors.Join(e.initialized.open(), e.keepAuthorities()); err != nil {
		return err
	}
	defer e.initialized.close()
	if err := e.sweepKept(); err != nil {
		e.log.WarnContext(ctx, "what was kept for too long can't be removed", "error", err)
	}
	if err := e.introduce(ctx); err != nil {
		if ctx.Err() != nil || e.isDraining() {
			return nil // nobody knows this executor, so there is nothing to end
		}
		return err
	}
	defer e.stages.Wait()
	if err := e.adopt(ctx); err != nil {
		return err
	}
	err = e.claimAll(ctx)
	e.stages.Wait()
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// An agent that is killed while it starts a command leaves its folder locked for a moment: the new
// process has all of its descriptors until it has become the command.
const (
	lockPatience = 2 * time.Second
	lockInterval = 20 * time.Millisecond
)

// lock keeps other agents out of the folder.
func (e *Executor) lock(ctx context.Context) (*flock.Flock, error) {
	lock := flock.New(filepath.Join(e.settings.Work, "lock"))
	ctx, stop := context.WithTimeout(ctx, lockPatience)
	defer stop()
	_, err := lock.TryLockContext(ctx, lockInterval)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("another agent works in %s", e.settings.Work)
	}
	return lock, err
}

// take carries out a stage that this executor has got, in the background. The slot comes back
// when it is over.
func (e *Executor) take(ctx context.Context, s *stage, release func()) {
	e.stages.Go(func() {
		defer release()
		s.log.InfoContext(ctx, "a stage begins", "folder", s.folder, "phase", s.record.Phase)
		if err := s.carryOut(ctx); errors.Is(err, errDetached) {
			e.folders.release(s.folder)
			return
		}
		s.keepInit()
		s.boundCache(ctx)
		e.clear(ctx, s)
	})
}

// clear removes the folder of a stage that is over, with all the secrets that are in it, and ends before what goes on
// in there yet, as Infracost does where the run was lost beside it. Only of an apply nothing is killed: it may be
// writing.
func (e *Executor) clear(ctx context.Context, s *stage) {
	if s.stranded {
		s.log.ErrorContext(ctx, "the run folder stays: there may be a state in it that is nowhere else", "folder", s.folder)
		return // and nobody else gets it
	}
	s.record.Over = true
	s.attempt("note that the stage is over", func() error { return s.record.save(s.folder) })
	if !s.applies() {
		e.endCommands(ctx, s.folder)
	}
	s.attempt("remove the run folder", func() error { return e.folders.remove(s.folder) })
}

// freeSlot waits for a slot.
func (e *Executor) freeSlot(ctx context.Context) (int, bool) {
	if ctx.Err() != nil || e.isDraining() {
		return 0, false
	}
	select {
	case slot := <-e.slots:
		return slot, true
	case <-e.draining:
	case <-ctx.Done():
	}
	return 0, false
}

// bootID tells this start of the machine from others; empty where the system doesn't.
func bootID() string {
	raw, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return string(raw[:max(0, len(raw)-1)])
}
