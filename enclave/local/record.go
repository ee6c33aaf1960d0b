package local

import (
	"context"
	"encoding/json"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/enclave/reconcile"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/internal/mask"
)

// recordFile has the record that is not known to have ended at the server.
const recordFile = ".holdfast/record.json"

// keptRecord is what is in it.
type keptRecord struct {
	Key   string          `json:"key,omitempty"`  // by which the record was asked for; empty once it is there
	Order api.IACRunOrder `json:"order,omitzero"` // with that key
	Run   api.IACRun      `json:"run"`            // once it is there
	End   *api.IACRunEnd  `json:"end,omitempty"`  // nil while the run goes on
}

// errCancelled is why a tool is told to end.
var errCancelled = errors.New("the run was cancelled at the server")

// recorded does something with a tool, and has the server keep the record of it. Without a record the run goes on:
// the state is what counts.
func (r *Runner) recorded(ctx context.Context, at place, operation string,
	do func(context.Context, place) (json.RawMessage, error)) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	at.record = r.beginRecord(ctx, at, operation, stop)
	outputs, err := do(ctx, at)
	if err != nil && errors.Is(context.Cause(ctx), errCancelled) {
		err = errors.Join(err, errCancelled)
	}
	at.record.finish(endOf(outputs, err))
	return err
}

// endOf says how a run has ended. What a tool has said is in the log alone.
func endOf(outputs json.RawMessage, err error) api.IACRunEnd {
	if err == nil {
		code := 0
		return api.IACRunEnd{Status: "Succeeded", ExitCode: &code, Outputs: outputs}
	}
	end := api.IACRunEnd{Status: "Failed", Reason: err.Error()}
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() >= 0 {
		code := exit.ExitCode()
		end.ExitCode = &code
	}
	return end
}

// beginTries is how often the server is asked to begin a record.
const beginTries = 3

// beginRecord begins a record; nil where there is to be none.
func (r *Runner) beginRecord(ctx context.Context, at place, operation string, stop context.CancelCauseFunc) *record {
	if r.RunRecords == nil {
		return nil
	}
	file := filepath.Join(at.dir, filepath.FromSlash(recordFile))
	if err := r.endFormer(ctx, at.path, file); err != nil {
		r.warn(at.path, "the record of the run before has no end: "+err.Error())
	}
	order := api.IACRunOrder{Operation: operation, ReconcileRunID: r.Reconcile,
		Tool: strings.TrimSuffix(filepath.Base(at.binary), ".exe")}
	run, err := r.askForRecord(ctx, at.path, file, keptRecord{Key: uuid.NewString(), Order: order})
	if err != nil {
		r.warn(at.path, "the server keeps no record of this run: "+err.Error())
		return nil
	}
	made := &record{to: r.RunRecords, run: run, file: file, stop: stop, wake: make(chan struct{}, 1),
		done: make(chan struct{}), warn: func(text string) { r.warn(at.path, text) }}
	secrets := []string{r.Key}
	for _, value := range at.secrets {
		secrets = append(secrets, value)
	}
	made.masker = mask.New(secrets)
	made.masked = made.masker.Writer(made)
	go made.send(context.WithoutCancel(ctx))
	return made
}

// askForRecord has the server begin a record. By what is asked is noted before: who is killed meanwhile leaves a record
// that has no end, which the next run gives it.
func (r *Runner) askForRecord(ctx context.Context, path, file string, asked keptRecord) (run api.IACRun, err error) {
	if err := keep(file, asked); err != nil {
		return run, err
	}
	for try := range beginTries {
		run, err = r.RunRecords.Begin(ctx, path, asked.Order, asked.Key)
		if err == nil || errors.Is(err, reconcile.ErrNoRecord) || pause(ctx, time.Second<<try) != nil {
			break
		}
	}
	if err != nil {
		return run, errors.Join(err, removeAny(file))
	}
	return run, keep(file, keptRecord{Run: run})
}

// endFormer ends the record of a run that was cut off here.
func (r *Runner) endFormer(ctx context.Context, path, file string) error {
	var kept keptRecord
	found, err := readJSON(file, &kept)
	if err != nil || !found {
		return err
	}
	if kept.Key != "" { // it may be there
		kept.Run, err = r.RunRecords.Begin(ctx, path, kept.Order, kept.Key)
		if errors.Is(err, reconcile.ErrNoRecord) {
			return removeAny(file)
		}
		if err != nil {
			return err
		}
	}
	end := kept.End
	if end == nil {
		end = &api.IACRunEnd{Status: "Failed", Reason: "it was cut off"}
	}
	if err := r.RunRecords.End(ctx, kept.Run, *end); err != nil && !errors.Is(err, reconcile.ErrNoRecord) {
		return err
	}
	return removeAny(file)
}

func keep(file string, kept keptRecord) error {
	text, err := json.Marshal(kept)
	if err != nil {
		return err
	}
	return durable.Write(file, string(text)+"\n")
}

func (r *Runner) warn(path, text string) {
	if r.Tell != nil {
		r.Tell(path, []byte("holdfast: "+text))
	}
}

// pause waits, unless the context ends before.
func pause(ctx context.Context, long time.Duration) error {
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
