package shim

import (
	"context"
	"errors"

	"golang.org/x/sys/unix"
)

// Interrupt sends one SIGINT to the command, and only to itself: not to what it started. That
// happens once, however often and by whomever it is asked for, because the tools take a second
// one for an order to leave everything as it is.
func (p *Process) Interrupt(ctx context.Context) error { return p.ask(ctx, interruptRequest) }

// Kill ends the command: a SIGINT more, then, after the grace, SIGKILL to it and all that it
// started. It returns when that is under way, and the shim does it even if we end; Wait waits
// for it.
func (p *Process) Kill(ctx context.Context) error { return p.ask(ctx, killRequest) }

// ask leaves a request for the shim, and wakes it. A command that runs without one is adopted.
func (p *Process) ask(ctx context.Context, r request) error {
	status, err := p.Status()
	if err != nil || status.Condition != Running && status.Condition != Orphaned {
		return err
	}
	if _, err := p.folder.move(r, unset, asked); err != nil {
		return err
	}
	if status.Condition == Orphaned {
		return p.Adopt(ctx)
	}
	identity, err := p.Identity()
	if err != nil {
		return err
	}
	shim, err := identity.Shim.open()
	if errors.Is(err, errGone) {
		return nil // a shim that begins looks for requests by itself
	}
	if err != nil {
		return err
	}
	defer shim.close()
	if err := shim.signal(nudge); !errors.Is(err, errGone) {
		return err
	}
	return nil
}

// Adopt starts a new shim for a command that runs without one. It does nothing when somebody
// else does so, or when there is nothing to adopt.
func (p *Process) Adopt(ctx context.Context) error {
	lock, err := p.folder.lock(unix.LOCK_EX)
	if errors.Is(err, errLocked) {
		return nil
	}
	if err != nil {
		return err
	}
	if status, err := p.ended(); status.Exit != nil || err != nil {
		return errors.Join(err, lock.Close())
	}
	if status, err := p.withoutShim(); err != nil || status.Condition != Orphaned {
		return errors.Join(err, lock.Close())
	}
	return launch(ctx, lock, order{Spec: Spec{Dir: p.Dir()}, Adopt: true})
}
