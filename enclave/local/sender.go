package local

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave/reconcile"
	"github.com/holdfast/holdfast/internal/mask"
)

// record sends the record of a run to the server while the tool runs: the log in the order in which it comes, signs
// of life, and the end. While the server can't be reached it keeps what is to be sent, and goes on where it was.
type record struct {
	to     reconcile.Records
	run    api.IACRun
	file   string
	stop   context.CancelCauseFunc // ends the tool
	warn   func(string)
	masker *mask.Masker
	masked io.WriteCloser // into the log of the stage
	wake   chan struct{}
	done   chan struct{} // closed when nothing more is sent

	mu      sync.Mutex
	applies bool     // the tool has begun to change something
	logs    [2]queue // of the stages plan and apply
	end     *api.IACRunEnd
	dead    bool // the server wants nothing more

	told    bool      // the server knows that it applies; the sender's alone, as the rest
	renewed time.Time // last sign of life
	every   time.Duration
}

// queue is a log that is to be sent.
type queue struct {
	unsent []byte
	offset int64 // of the first of them
	left   int   // bytes that there was no room for
}

const (
	maxUnsent = 16 << 20 // bytes of a log that are kept while the server is away
	maxPiece  = 256 << 10
	// patience is for how long the end of a run waits for the server.
	patience = time.Minute
	// usualSign is how often a sign of life is sent while the server has not said.
	usualSign = 10 * time.Second
)

// Write takes what is masked.
func (r *record) Write(text []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	log := r.log()
	switch {
	case r.dead:
	case len(log.unsent)+len(text) > maxUnsent:
		log.left += len(text)
	default:
		if log.left > 0 {
			log.unsent = fmt.Appendf(log.unsent, "[holdfast: %d bytes are left out: the server was away]\n", log.left)
			log.left = 0
		}
		log.unsent = append(log.unsent, text...)
	}
	r.nudge()
	return len(text), nil
}

// log is that of the stage.
func (r *record) log() *queue {
	if r.applies {
		return &r.logs[1]
	}
	return &r.logs[0]
}

func (r *record) nudge() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// line adds what the tool has printed.
func (r *record) line(text []byte) {
	if r != nil {
		_, _ = r.masked.Write(append(bytes.Clone(text), '\n')) // it keeps it in memory
	}
}

// apply says that the tool begins to change something.
func (r *record) apply() {
	if r == nil {
		return
	}
	_ = r.masked.Close()
	r.mu.Lock()
	r.applies = true
	r.mu.Unlock()
	r.masked = r.masker.Writer(r)
	r.nudge()
}

// finish sends what is left, and the end. What can't be sent now is for the next run of the partition.
func (r *record) finish(end api.IACRunEnd) {
	if r == nil {
		return
	}
	_ = r.masked.Close()
	end.Reason = string(r.masker.Bytes([]byte(end.Reason)))
	if err := keep(r.file, keptRecord{Run: r.run, End: &end}); err != nil {
		r.warn("the end of the run can't be noted: " + err.Error())
	}
	r.mu.Lock()
	r.end = &end
	r.mu.Unlock()
	r.nudge()
	<-r.done
}

// send sends until the end is, or the server wants no more.
func (r *record) send(ctx context.Context) {
	defer close(r.done)
	r.renewed, r.every = time.Now(), usualSign
	wait := time.Second
	var away time.Time // since when the server can't be reached, behind the end
	for {
		over, err := r.step(ctx)
		switch {
		case over:
			return
		case err == nil:
			wait, away = time.Second, time.Time{}
			continue
		case errors.Is(err, reconcile.ErrNoRecord):
			r.giveUp(err)
			return
		}
		if r.hasEnded() {
			if away.IsZero() {
				away = time.Now()
			}
			if time.Since(away) >= patience {
				r.warn("the server can't be told how the run has ended; the next one will: " + err.Error())
				return
			}
		}
		_ = pause(ctx, wait)
		wait = min(2*wait, 15*time.Second)
	}
}

func (r *record) hasEnded() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.end != nil
}

// giveUp has nothing more sent.
func (r *record) giveUp(err error) {
	r.mu.Lock()
	r.dead, r.logs = true, [2]queue{}
	r.mu.Unlock()
	r.warn("the server takes no more of the record of this run: " + err.Error())
	_ = removeAny(r.file)
}

// step sends what is next: a sign of life that is due, the log, the end. Where there is nothing, it waits for it.
func (r *record) step(ctx context.Context) (over bool, err error) {
	r.mu.Lock()
	applies, end, stage := r.applies, r.end, 0
	if len(r.logs[0].unsent) == 0 && applies {
		stage = 1
	}
	piece, offset := r.logs[stage].unsent, r.logs[stage].offset
	piece = bytes.Clone(piece[:min(len(piece), maxPiece)])
	r.mu.Unlock()
	switch {
	case time.Since(r.renewed) >= r.every:
		return false, r.sign(ctx, "")
	case stage == 1 && !r.told:
		return false, r.sign(ctx, "apply")
	case len(piece) > 0:
		return false, r.append(ctx, stage, offset, piece)
	case end != nil:
		if err := r.to.End(ctx, r.run, *end); err != nil {
			return false, err
		}
		return true, removeAny(r.file)
	}
	timer := time.NewTimer(r.every - time.Since(r.renewed))
	defer timer.Stop()
	select {
	case <-r.wake:
	case <-timer.C:
	}
	return false, nil
}

// sign is a sign of life. The answer may say that the run is to end.
func (r *record) sign(ctx context.Context, phase string) error {
	lease, err := r.to.Renew(ctx, r.run, api.IACRunSign{Phase: phase})
	if err != nil {
		return err
	}
	r.renewed, r.told = time.Now(), r.told || phase == "apply"
	if lease.Every > 0 {
		r.every = time.Duration(lease.Every) * time.Second
	}
	if lease.Cancel != "" {
		r.stop(errCancelled)
	}
	return nil
}

// append sends a piece of a log. Where its answer got lost before, the server has it already.
func (r *record) append(ctx context.Context, stage int, offset int64, piece []byte) error {
	end, err := r.to.Append(ctx, r.run, []string{"plan", "apply"}[stage], offset, piece)
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	log := &r.logs[stage]
	has := end - log.offset
	if has < 0 || has > int64(len(log.unsent)) {
		return fmt.Errorf("%w: its log ends at %d", reconcile.ErrNoRecord, end)
	}
	log.unsent, log.offset = bytes.Clone(log.unsent[has:]), end
	return nil
}
