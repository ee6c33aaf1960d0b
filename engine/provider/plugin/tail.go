package plugin

import (
	"context"
	"log/slog"
	"strings"
	"sync"
)

// tailSize is how much of a provider's log is kept to be shown when it crashes.
const tailSize = 16 << 10

// tail keeps the end of what is written to it, and has the operation's log say each write of it.
type tail struct {
	lines *slog.Logger

	mu   sync.Mutex
	text []byte
}

func newTail() *tail { return &tail{lines: slog.New(slog.DiscardHandler)} }

func (t *tail) Write(p []byte) (int, error) {
	if t.lines.Enabled(context.Background(), slog.LevelDebug) {
		if said := strings.TrimSpace(string(p)); said != "" {
			t.lines.Debug("the provider says", "said", said)
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	// Twice as much is let come together, so that not each write moves all of it.
	if len(t.text) > 2*tailSize {
		t.text = append(t.text[:0], t.text[len(t.text)-tailSize:]...)
	}
	return len(p), nil
}

// said is the log as the end of an error, empty if there is none.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text[max(0, len(t.text)-tailSize):]))
	if text == "" {
		return ""
	}
	return "\nThe end of the provider's log:\n" + text
}
