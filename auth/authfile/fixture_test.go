package authfile

import (
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

var (
	orgA = uuid.MustParse("11111111-2222-3333-4444-555555555555")
	orgB = uuid.MustParse("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee")
)

// fakeHash returns a text that has the form of a bcrypt hash and is nobody's.
func fakeHash(n int) string {
	return "$2a$10$" + strings.Repeat("x", 43) + fmt.Sprintf("%010d", n)
}

func mustParse(t *testing.T, text string) *Document {
	t.Helper()
	d, err := Parse("auth.cfg", text)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// bench is what a watcher puts in force, and its log.
type bench struct {
	ring atomic.Pointer[keyring.Keyring]
	used atomic.Int64 // how often it was given one
	log  journal
}

// journal is what the watcher logged.
type journal struct{ logtest.Journal }

func (j *journal) logger() *slog.Logger {
	return slog.New(slog.NewTextHandler(j, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

func newBench() *bench { return &bench{} }

func (b *bench) use(r *keyring.Keyring) {
	b.ring.Store(r)
	b.used.Add(1)
}

// opens reports whether the key of fakeHash(n), called "k<n>", is in force.
func (b *bench) opens(key string) bool {
	for _, k := range b.ring.Load().Organizations[orgA].Keys {
		if strings.TrimLeft(k.Hash[50:], "0") == strings.TrimPrefix(key, "k") {
			return true
		}
	}
	return false
}

// following watches a file with this text until the test ends.
func following(t *testing.T, text string) *Watcher {
	t.Helper()
	return newBench().watch(t, writeAuth(t, text, 0o600), time.Hour)
}
