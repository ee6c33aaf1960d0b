package agent

import (
	"context"
	"crypto/rand"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/internal/pause"
)

// claimFile has the key of the claim that is under way: it is there before the claim is sent, so
// that a run is not lost with the answer.
const claimFile = "claim"

// claimAll claims stages, one for each free slot, until the executor drains or its context ends.
func (e *Executor) claimAll(ctx context.Context) error {
	for {
		slot, ok := e.freeSlot(ctx)
		if !ok {
			return e.sayDraining(ctx)
		}
		took, err := e.claimOne(ctx, slot)
		if !took {
			e.slots <- slot
		}
		if err != nil {
			return err
		}
	}
}

// claimOne claims a stage and begins it. It returns after a while if there is none.
func (e *Executor) claimOne(ctx context.Context, slot int) (took bool, err error) {
	key, err := e.claimKey()
	if err != nil {
		return false, err
	}
	assignment, err := e.claim(ctx, key, false)
	if err != nil || assignment == nil {
		return false, err
	}
	if err := e.begin(ctx, *assignment, key, slot, func() { e.slots <- slot }); err != nil {
		return false, e.notBegun(ctx, *assignment, err)
	}
	return true, e.forgetKey()
}

// begin makes a stage's folder and carries it out.
func (e *Executor) begin(ctx context.Context, a api.Assignment, key string, slot int, release func()) error {
	folder, err := e.folders.acquire(ctx, a.Org, a.Workspace, a.Kind)
	if err != nil {
		return err
	}
	r := newRecord(a, key, time.Now())
	r.Slot = slot
	if err := r.save(folder); err != nil {
		return errors.Join(err, e.folders.remove(folder))
	}
	e.take(ctx, e.newStage(a, folder, r), release)
	return nil
}

// notBegun gives a stage back that can't be begun, unless it is the executor that ends: the next
// one gets it by the same key.
func (e *Executor) notBegun(ctx context.Context, a api.Assignment, why error) error {
	if ctx.Err() != nil {
		return nil
	}
	e.log.ErrorContext(ctx, "a claimed stage can't be begun", "run", a.Run, "error", why)
	e.decline(ctx, a, why)
	return e.forgetKey()
}

// decline gives back a stage that has no folder here.
func (e *Executor) decline(ctx context.Context, a api.Assignment, why error) {
	ctx, stop := context.WithTimeout(ctx, time.Minute)
	defer stop()
	r := failed(infrastructure, "the agent can't begin it: "+why.Error())
	r.Epoch, r.Stage, r.Attempt, r.Phase, r.Last = a.Epoch, a.Stage, a.Attempt, phasePrepare, true
	hold := Hold{Run: a.Run, Token: a.Token, Stage: a.Stage, Attempt: a.Attempt, Epoch: a.Epoch}
	err := persist(ctx, e.log, "a declined stage", func(ctx context.Context) error {
		_, err := e.settings.Server.Report(ctx, hold, r)
		return err
	})
	if err != nil {
		e.log.ErrorContext(ctx, "a stage can't be declined", "run", a.Run, "error", err)
	}
}

// claim sends a claim until it is answered. known asks for nothing new: for what the key has
// got before.
func (e *Executor) claim(ctx context.Context, key string, known bool) (found *api.Assignment, err error) {
	waiting, stop := ctx, context.CancelFunc(func() {})
	if !known { // a claim that waits for work ends when none is wanted any more
		waiting, stop = e.untilDrained(ctx)
	}
	defer stop()
	err = persist(waiting, e.log, "a claim", func(ctx context.Context) error {
		found, err = e.claimOnce(ctx, key, known)
		if !isStranger(err) || known {
			return err
		}
		if err := e.register(ctx); err != nil {
			return err
		}
		found, err = e.claimOnce(ctx, key, known)
		return err
	})
	if ctx.Err() != nil || waiting.Err() != nil && e.isDraining() && found == nil {
		return nil, nil
	}
	return found, err
}

// patience is how much longer than its wait a claim may take.
const patience = 15 * time.Second

func (e *Executor) claimOnce(ctx context.Context, key string, known bool) (*api.Assignment, error) {
	claim := api.AgentClaim{Key: key, Sandbox: e.settings.Commands.Sandbox().Level, BootID: bootID(), Draining: known}
	if !known {
		claim.Wait = e.settings.ClaimWait
	}
	wait := time.Duration(claim.Wait) * time.Second
	ctx, stop := context.WithTimeout(ctx, wait+patience)
	defer stop()
	began := time.Now()
	found, err := e.settings.Server.Claim(ctx, e.identity, claim)
	if err == nil && found == nil && !known {
		// A server that doesn't wait is not to be asked without a break.
		err = pause.For(ctx, min(wait, time.Second)-time.Since(began))
	}
	return found, err
}

// sayDraining tells the server that nothing more is claimed. A run that a claim may have got
// whose answer was lost comes back with it.
func (e *Executor) sayDraining(ctx context.Context) error {
	if ctx.Err() != nil {
		return nil
	}
	key, err := e.claimKey()
	if err != nil {
		return err
	}
	found, err := e.claim(ctx, key, true)
	if err != nil || found == nil {
		return err
	}
	// It goes on beside those that have the slots.
	if err := e.begin(ctx, *found, key, cap(e.slots), func() {}); err != nil {
		return e.notBegun(ctx, *found, err)
	}
	return e.forgetKey()
}

// claimKey returns the key of the claim that is under way, or makes one.
func (e *Executor) claimKey() (string, error) {
	path := filepath.Join(e.settings.Work, claimFile)
	raw, err := os.ReadFile(path)
	if err == nil && len(raw) > 0 {
		return string(raw), nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	key := rand.Text()
	return key, durable.Write(path, key)
}

// forgetKey ends a claim: the next one is another.
func (e *Executor) forgetKey() error {
	err := os.Remove(filepath.Join(e.settings.Work, claimFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
