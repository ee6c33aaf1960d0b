package agent

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/durable"
)

const identityFile = "agent.json"

// introduce finds out who this executor is: who it was before it was started anew, or somebody
// new.
func (e *Executor) introduce(ctx context.Context) error {
	raw, err := os.ReadFile(filepath.Join(e.settings.Work, identityFile))
	switch {
	case err == nil:
		return json.Unmarshal(raw, &e.identity)
	case errors.Is(err, fs.ErrNotExist):
		ctx, stop := e.untilDrained(ctx)
		defer stop()
		return e.register(ctx)
	}
	return err
}

// register makes the executor known to the server, as somebody new.
func (e *Executor) register(ctx context.Context) error {
	presented := e.settings.Presentation
	presented.BootID, presented.Sandbox = bootID(), e.settings.Commands.Sandbox().Level
	return persist(ctx, e.log, "the registration", func(ctx context.Context) error {
		ctx, stop := context.WithTimeout(ctx, time.Minute)
		defer stop()
		made, err := e.settings.Server.Register(ctx, e.settings.PoolToken, presented)
		if err != nil {
			return err
		}
		e.identity = Identity{ID: made.ID, Secret: made.Secret}
		raw, err := json.Marshal(e.identity)
		if err != nil {
			return err
		}
		e.log.DebugContext(ctx, "registered", "agent", made.ID, "pool", made.Pool)
		return durable.Write(filepath.Join(e.settings.Work, identityFile), string(raw))
	})
}

// isStranger reports whether the server doesn't know the executor any more.
func isStranger(err error) bool {
	f, ok := errors.AsType[*fault.Error](err)
	return ok && (f.Code.Kind() == fault.Unauthenticated || f.Code == fault.AgentNotFound)
}
