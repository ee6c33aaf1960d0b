package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/storage"
)

// The paths at the OperatorSocket by which a command seals states, and has a new master key wrap what is sealed.
const (
	// OperatorSeal answers lines with how far it has come, as "DONE TOTAL", then SealedAll, or one that begins
	// with SealFailed.
	OperatorSeal = "/seal/enable"
	// OperatorRotate answers with how many data keys it has wrapped. With the query's rewrap=1 it makes no new key.
	OperatorRotate = "/seal/rotate"
	// OperatorSealStatus answers with how far states are sealed.
	OperatorSealStatus = "/seal/status"

	SealedAll  = "sealed"
	SealFailed = "failed: "
)

// unsealedWords are what is said of states that are not sealed.
const unsealedWords = "states are kept unencrypted: `holdfast seal enable` encrypts them while they are served"

// newMasterIfNew makes a master key file for a new store of states where nothing else does.
func (p *parts) newMasterIfNew(ctx context.Context) error {
	if p.settings.State.Storage != configs.SQLite || p.settings.Seal.PlainStates {
		return nil
	}
	path := p.settings.MasterKeyPath()
	if p.settings.Seal.MasterKeys.Reveal() != "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(p.settings.Storage.Path, "state.db")); !errors.Is(err, fs.ErrNotExist) {
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

// unsealed says in words that states are not sealed, or not all of them; empty where they are, and where none are on a
// disk.
func (p *parts) unsealed() string {
	s, ok := storage.SealingOf(p.states)
	switch {
	case !ok || s.SealMode() == storage.Sealed:
		return ""
	case s.SealMode() == storage.HalfSealed:
		return "states are being encrypted: some are kept unencrypted yet"
	}
	return unsealedWords
}

// startSealing says what is not sealed, and goes on with what was begun.
func (p *parts) startSealing(ctx context.Context) {
	what := p.unsealed()
	if what == "" {
		return
	}
	p.log.WarnContext(ctx, what)
	s, _ := storage.SealingOf(p.states)
	if s.SealMode() != storage.HalfSealed {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		if err := p.sealStates(ctx, func(storage.SealProgress) {}); err != nil && ctx.Err() == nil {
			p.log.ErrorContext(ctx, "states could not be encrypted; `holdfast seal enable` goes on with it", "error", err)
		}
	})
	p.closers = append(p.closers, func() { cancel(); running.Wait() })
}

// sealStates seals states; one caller at a time does.
func (p *parts) sealStates(ctx context.Context, tell func(storage.SealProgress)) error {
	s, ok := storage.SealingOf(p.states)
	if !ok {
		return errors.New("states are kept in memory only: there is nothing to encrypt")
	}
	if !p.sealing.TryLock() {
		return errors.New("states are being encrypted already, or a new master key is made")
	}
	defer p.sealing.Unlock()
	if err := s.Seal(ctx, tell); err != nil {
		return err
	}
	p.log.InfoContext(ctx, "all states are encrypted")
	return nil
}

// sealRoutes are those of the OperatorSocket.
func (m *mover) sealRoutes(mux *http.ServeMux) {
	mux.HandleFunc("POST "+OperatorSeal, m.serveSeal)
	mux.HandleFunc("POST "+OperatorRotate, m.serveRotate)
	mux.HandleFunc("POST "+OperatorSealStatus, m.serveSealStatus)
}

func (m *mover) serveSealStatus(w http.ResponseWriter, _ *http.Request) {
	what := m.parts.unsealed()
	if what == "" {
		what = SealedAll
	}
	fmt.Fprintln(w, what)
}

// tellEvery is how often a command is told how far the sealing has come.
const tellEvery = 200 * time.Millisecond

func (m *mover) serveSeal(w http.ResponseWriter, r *http.Request) {
	flusher := http.NewResponseController(w)
	told := time.Time{}
	err := m.parts.sealStates(r.Context(), func(p storage.SealProgress) {
		if now := time.Now(); now.Sub(told) >= tellEvery {
			told = now
			fmt.Fprintln(w, p.Done, p.Total)
			_ = flusher.Flush() // who has gone ends the context
		}
	})
	if err != nil {
		fmt.Fprintf(w, "%s%s\n", SealFailed, err)
		return
	}
	fmt.Fprintln(w, SealedAll)
}

func (m *mover) serveRotate(w http.ResponseWriter, r *http.Request) {
	p := m.parts
	if ownMaster(p.settings) {
		http.Error(w, "this server keeps states in memory, and has a master key of its own that goes with it", http.StatusConflict)
		return
	}
	if !p.sealing.TryLock() {
		http.Error(w, "states are being encrypted, or another new master key is made: ask again when that has ended",
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
