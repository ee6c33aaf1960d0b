package handlers_test

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/logctx"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
)

// journal is the log of a router, which can be read while it is written.
type journal struct {
	logtest.Journal
	t *testing.T
}

// newJournal makes the router of deps, and its states, log to the journal.
func newJournal(t *testing.T, deps *handlers.Deps) *journal {
	t.Helper()
	j := &journal{t: t}
	deps.Log = slog.New(logctx.Handler(slog.NewJSONHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug})))
	store := memory.New(1 << 20)
	t.Cleanup(func() { _ = store.Close() })
	deps.States = state.NewService(store, state.DefaultPolicies{}, deps.Now, deps.Log)
	return j
}

// lines returns what was logged, line by line.
func (j *journal) lines() []map[string]any {
	j.t.Helper()
	var all []map[string]any
	for decoder := json.NewDecoder(bytes.NewReader([]byte(j.String()))); decoder.More(); {
		var line map[string]any
		if err := decoder.Decode(&line); err != nil {
			j.t.Fatal(err)
		}
		all = append(all, line)
	}
	return all
}

// named returns the lines with this message.
func (j *journal) named(message string) []map[string]any {
	j.t.Helper()
	var some []map[string]any
	for _, line := range j.lines() {
		if line["msg"] == message {
			some = append(some, line)
		}
	}
	return some
}
