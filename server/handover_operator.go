package server

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// The paths at the OperatorSocket by which a command moves what this server keeps while it is served.
const (
	// OperatorHold has requests and writes wait for as long as the answer is read, whose first line says
	// that all of them do. The query's to is where requests are to go in the end.
	OperatorHold = "/handover/hold"
	// OperatorHandOver ends that for good: the folder is marked as moved to what the query's place says,
	// and requests go to where they were to. It fails where none wait any more: then some may have been
	// served since.
	OperatorHandOver = "/handover/finish"
	// Held is the line that says so.
	Held = "held"
)

// mover hands over what the server keeps, when a command asks it to.
type mover struct {
	*handover
	parts *parts
	stop  context.Context // ends when the server is to stop

	deciding sync.Mutex
	held     bool
	to       *url.URL
	thaw     func() // nil while nothing is frozen
}

// routes are those of the OperatorSocket.
func (m *mover) routes(mux *http.ServeMux) {
	mux.HandleFunc("POST "+OperatorHold, m.serveHold)
	mux.HandleFunc("POST "+OperatorHandOver, m.serveFinish)
	mux.HandleFunc("POST "+OperatorStill, m.serveStill)
	m.sealRoutes(mux)
}

func (m *mover) serveHold(w http.ResponseWriter, r *http.Request) {
	to, err := url.Parse(r.URL.Query().Get("to"))
	if err != nil || to.Scheme != "http" && to.Scheme != "https" || to.Host == "" {
		http.Error(w, "where requests are to go is no address of a server", http.StatusBadRequest)
		return
	}
	if err := m.begin(r.Context(), to); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	defer m.end()
	fmt.Fprintln(w, Held)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-r.Context().Done():
	case <-m.stop.Done():
	}
}

// begin has everything wait.
func (m *mover) begin(ctx context.Context, to *url.URL) error {
	if err := m.hold(ctx); err != nil {
		return err
	}
	thaw, err := freezeAll(ctx, m.parts.frozen())
	if err != nil {
		m.release(nil)
		return err
	}
	m.deciding.Lock()
	defer m.deciding.Unlock()
	m.held, m.to, m.thaw = true, to, thaw
	m.parts.log.WarnContext(ctx, "requests wait: what is kept here is being moved", "to", to.Redacted())
	return nil
}

// end lets everything go on here, unless it was handed over.
func (m *mover) end() {
	m.deciding.Lock()
	defer m.deciding.Unlock()
	if m.held {
		m.held = false
		m.thaw()
		m.release(nil)
		m.parts.log.Warn("requests go on here: nothing was moved")
	}
}

func (m *mover) serveFinish(w http.ResponseWriter, r *http.Request) {
	if err := m.finish(r.Context(), r.URL.Query().Get("place")); err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
	}
}

// finish hands over: the mark comes first, so that a server that is started here next serves nothing.
func (m *mover) finish(ctx context.Context, place string) error {
	m.deciding.Lock()
	defer m.deciding.Unlock()
	if !m.held {
		return errors.New("requests go on at the server that is moved; nothing was handed over")
	}
	if err := storage.MarkMoved(context.WithoutCancel(ctx), m.parts.settings, place); err != nil {
		return err
	}
	m.held = false
	m.release(relay(m.to, m.parts.log))
	m.parts.log.WarnContext(ctx, "what was kept here is served elsewhere now; requests are sent on until this server is "+
		"stopped", "to", m.to.Redacted())
	return nil
}

// Close lets writes end that wait, for who closes stores.
func (m *mover) Close() error {
	m.end()
	m.deciding.Lock()
	defer m.deciding.Unlock()
	if m.thaw != nil {
		m.thaw()
	}
	return nil
}

// frozen is everything that is written to the folder, and that a move takes away: a moment of what is in a database
// needs nobody to wait.
func (p *parts) frozen() []sqlitedb.Freezer {
	all := append([]sqlitedb.Freezer{}, p.freezers...)
	if states, ok := p.states.(sqlitedb.Freezer); ok && !configs.OnServer(p.settings.State.Storage) {
		all = append(all, states)
	}
	if p.database != nil && !configs.OnServer(p.settings.Runs.Storage) {
		all = append(all, p.database)
	}
	return all
}
