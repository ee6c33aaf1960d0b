package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/storage"
)

// OperatorRotate is the path at the OperatorSocket by which a command has a new master key wrap what is sealed. It
// answers with how many data keys that were. With the query's rewrap=1 it makes no new key.
const OperatorRotate = "/seal/rotate"

// newMasterIfNew makes a master key file for a new store of states where nothing else does.
func (p *parts) newMasterIfNew(ctx context.Context) error {
	if p.settings.State.Storage != configs.SQLite {
		return nil
	}
	path := p.settings.MasterKeyPath()
	if p.settings.Seal.MasterKeys.Reveal() != "" {
		return nil
	}
	if found, err := p.hasStates(); found || err != nil {
		return err
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return p.createMaster(ctx, path)
}

// hasStates reports whether there is a file of states, which are encrypted under a master key that was made before it.
func (p *parts) hasStates() (bool, error) {
	if p.settings.State.Storage != configs.SQLite {
		return false, nil
	}
	_, err := os.Stat(filepath.Join(p.settings.Storage.Path, "state.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// removeLeftMasters removes what is left of a master key file that was being made when the program was killed: it can
// be the very key that is in use, and so a copy of it that nobody knows of.
func (p *parts) removeLeftMasters(ctx context.Context, path string) {
	removed, err := durable.RemoveLeft(path, time.Now())
	switch {
	case err != nil:
		p.log.WarnContext(ctx, "what a killed program has left of a new master key file is there still", "path", path,
			"error", err)
	case removed > 0:
		p.log.WarnContext(ctx, "removed what a killed program had left of a new master key file", "path", path,
			"files", removed)
	}
}

func (p *parts) createMaster(ctx context.Context, path string) error {
	if err := storage.CreateMaster(ctx, p.settings); err != nil {
		return fmt.Errorf("make the master key file: %w", err)
	}
	p.log.WarnContext(ctx, "made a master key file; keep a copy of it apart from copies of the data: if it is lost, "+
		"states, variables, configurations, plans and logs are lost too", "path", path)
	return nil
}

// sealRoutes are those of the OperatorSocket.
func (m *mover) sealRoutes(mux *http.ServeMux) { mux.HandleFunc("POST "+OperatorRotate, m.serveRotate) }

func (m *mover) serveRotate(w http.ResponseWriter, r *http.Request) {
	p := m.parts
	if ownMaster(p.settings) {
		http.Error(w, "this server keeps states in memory, and has a master key of its own that goes with it", http.StatusConflict)
		return
	}
	if !p.sealing.TryLock() {
		http.Error(w, "another new master key is made: ask again when that has ended",
			http.StatusConflict)
		return
	}
	defer p.sealing.Unlock()
	done, err := p.keyring().Rotate(r.Context(), p.settings, r.URL.Query().Get("rewrap") == "")
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	p.log.InfoContext(r.Context(), "data keys were wrapped with the newest master key", "keys", done.Rewrapped)
	fmt.Fprintln(w, done.Rewrapped)
}

// keyring is all whose data keys the master keys wrap.
func (p *parts) keyring() storage.Keyring {
	ring := storage.Keyring{Runs: p.database, Sealer: p.sealer}
	if s, ok := storage.SealingOf(p.states); ok {
		ring.States = s
	}
	return ring
}
