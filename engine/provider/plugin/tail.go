package plugin

import (
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
	if said := strings.TrimSpace(string(p)); said != "" {
		t.lines.Debug("the provider says", "said", said)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, p...)
	if extra := len(t.text) - tailSize; extra > 0 {
		t.text = append([]byte(nil), t.text[extra:]...)
	}
	return len(p), nil
}

// said is the log as the end of an error, empty if there is none.
func (t *tail) said() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	text := strings.TrimSpace(string(t.text))
	if text == "" {
		return ""
	}
	return "\nThe end of the provider's log:\n" + text
}
