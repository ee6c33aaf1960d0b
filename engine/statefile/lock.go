package statefile

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/internal/durable"
)

// heartbeat is how often a holder says that it is still there.
const heartbeat = 10 * time.Second

// held is what a lock file says.
type held struct {
	LockInfo
	PID       int       `json:"pid"`
	Started   string    `json:"started,omitempty"` // tells a process from a later one with its number
	Hostname  string    `json:"hostname"`
	Heartbeat time.Time `json:"heartbeat"`
	Interval  string    `json:"heartbeat_interval"`
}

// NewLockInfo describes this process.
func NewLockInfo(operation string) LockInfo {
	who := "unknown"
	if u, err := user.Current(); err == nil {
		who = u.Username
	}
	host, _ := os.Hostname()
	return LockInfo{ID: strings.ToLower(rand.Text()), Operation: operation, Who: who + "@" + host, Version: ToolVersion,
		Created: time.Now().UTC()}
}

func (l *Local) lockPath() string { return l.path + ".lock" }

// Lock implements Store. A lock is broken only if its process is provably gone: on this machine, with that
// number and start no more. An old heartbeat alone proves nothing.
func (l *Local) Lock(ctx context.Context, info LockInfo) (func(context.Context) error, error) {
	host, _ := os.Hostname()
	info.Path = l.path
	h := held{LockInfo: info, PID: os.Getpid(), Started: startOf(os.Getpid()), Hostname: host, Heartbeat: l.now().UTC(),
		Interval: l.beat.String()}
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return nil, err
	}
	err = durable.CreateNew(l.lockPath(), string(text))
	if errors.Is(err, fs.ErrExist) && l.breakDead(host) {
		oplog.From(ctx, "state").WarnContext(ctx, "a lock was broken whose process is gone", "path", l.lockPath())
		err = durable.CreateNew(l.lockPath(), string(text))
	}
	if errors.Is(err, fs.ErrExist) {
		return nil, l.taken()
	}
	if err != nil {
		return nil, diag.Stateful(err, "the lock %s can't be made", l.lockPath())
	}
	return l.keep(h), nil
}

// breakDead removes a lock whose process is gone. Two that find the same dead lock both try: removal goes
// through a rename to a name of the lock's own, which only one of them can do.
func (l *Local) breakDead(host string) bool {
	h, err := l.holder()
	if err != nil || h.Hostname != host || h.PID <= 0 {
		return false
	}
	gone := errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH)
	if !gone && h.Started != "" {
		now := startOf(h.PID)
		gone = now != "" && now != h.Started
	}
	if !gone {
		return false
	}
	aside := l.lockPath() + ".dead-" + h.ID
	if err := os.Rename(l.lockPath(), aside); err != nil {
		return false
	}
	moved, err := readHeld(aside)
	if err != nil || moved.ID != h.ID {
		// Somebody else was faster, and this is their live lock: it goes back unless there is one again.
		_ = os.Link(aside, l.lockPath())
		_ = os.Remove(aside)
		return false
	}
	return os.Remove(aside) == nil
}

// keep writes the heartbeat until the lock is released.
func (l *Local) keep(h held) func(context.Context) error {
	stop := make(chan struct{})
	var beating sync.WaitGroup
	beating.Go(func() {
		ticker := time.NewTicker(l.beat)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				return
			case <-ticker.C:
			}
			if now, err := l.holder(); err != nil || now.ID != h.ID {
				return // not ours any more
			}
			h.Heartbeat = l.now().UTC()
			if text, err := json.MarshalIndent(h, "", "  "); err == nil {
				_ = durable.Write(l.lockPath(), string(text))
			}
		}
	})
	var once sync.Once
	return func(context.Context) error {
		once.Do(func() { close(stop) })
		beating.Wait()
		return l.remove(h.ID)
	}
}

// remove deletes the lock if it is the one with this ID.
func (l *Local) remove(id string) error {
	h, err := l.holder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.Stateful(err, "the lock %s can't be read", l.lockPath())
	}
	if h.ID != id {
		return &diag.Error{Category: diag.Concurrency, Summary: fmt.Sprintf("the lock is %s, not %s", h.ID, id)}
	}
	if err := os.Remove(l.lockPath()); err != nil {
		return diag.Stateful(err, "the lock %s can't be removed", l.lockPath())
	}
	return nil
}

// ForceUnlock implements Store.
func (l *Local) ForceUnlock(_ context.Context, id string) error {
	if _, err := os.Stat(l.lockPath()); errors.Is(err, fs.ErrNotExist) {
		return &diag.Error{Category: diag.Concurrency, Summary: "the state isn't locked"}
	}
	return l.remove(id)
}

func (l *Local) holder() (held, error) { return readHeld(l.lockPath()) }

func readHeld(path string) (held, error) {
	var h held
	text, err := os.ReadFile(path)
	if err != nil {
		return h, err
	}
	return h, json.Unmarshal(text, &h)
}

// taken says who has the lock.
func (l *Local) taken() error {
	e := &diag.Error{Category: diag.Concurrency, Summary: "the state " + l.path + " is locked"}
	h, err := l.holder()
	if err != nil {
		e.Detail, e.Err = "who holds it can't be read: "+err.Error(), err
		return e
	}
	e.Detail = fmt.Sprintf("%s has held it for %s since %s (process %d on %s, last seen %s), ID %s", h.Who, h.Operation,
		h.Created.Format(time.RFC3339), h.PID, h.Hostname, h.Heartbeat.Format(time.RFC3339), h.ID)
	e.Hint = "if it is surely gone: holdfast engine force-unlock " + h.ID
	return e
}

// startOf is when a process began, in the kernel's terms; empty where that can't be told.
func startOf(pid int) string {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return ""
	}
	// The name in parentheses may hold anything, so the fields are counted from behind it.
	_, rest, ok := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	if !ok || len(fields) < 20 {
		return ""
	}
	return fields[19]
}
