package server

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// OperatorStill has what is written wait, for as long as the answer is read and no longer than stillFor: a
// backup fixes the moment meanwhile that it has. Its first line, Held, says that nothing is written.
const OperatorStill = "/backup/still"

// stillFor is how long writers wait for a backup at most. What it does meanwhile takes milliseconds.
const stillFor = 10 * time.Second

// serveStill holds writers back, and no requests: what has begun is either written before the moment, or
// after it.
func (m *mover) serveStill(w http.ResponseWriter, r *http.Request) {
	ctx, cancel := context.WithTimeout(r.Context(), stillFor)
	defer cancel()
	if m.isMoved() {
		http.Error(w, "what this server kept was moved, or is being moved", http.StatusConflict)
		return
	}
	thaw, err := freezeAll(ctx, m.parts.frozen())
	if err != nil {
		http.Error(w, err.Error(), http.StatusConflict)
		return
	}
	defer thaw()
	fmt.Fprintln(w, Held)
	if http.NewResponseController(w).Flush() != nil {
		return
	}
	select {
	case <-ctx.Done():
	case <-m.stop.Done():
	}
}

// isMoved reports whether requests wait for a move, or go elsewhere.
func (h *handover) isMoved() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.closed != nil || h.to != nil
}
