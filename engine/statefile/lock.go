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
	place
	PID       int       `json:"pid"`
	Started   string    `json:"started,omitempty"` // tells a process from a later one with its number
	Heartbeat time.Time `json:"heartbeat"`
	Interval  string    `json:"heartbeat_interval"`
}

// place is where a process runs, so far as the numbers of processes have a meaning there. Containers and other machines
// can have the same name of a host.
type place struct {
	Hostname string `json:"hostname"`
	Boot     string `json:"boot,omitempty"`          // of the kernel
	Numbers  string `json:"pid_namespace,omitempty"` // of the processes' numbers
}

// placeHere is where this process runs; what can't be told is empty.
func placeHere() place {
	var p place
	p.Hostname, _ = os.Hostname()
	if text, err := os.ReadFile("/proc/sys/kernel/random/boot_id"); err == nil {
		p.Boot = strings.TrimSpace(string(text))
	}
	p.Numbers, _ = os.Readlink("/proc/self/ns/pid")
	return p
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

// Lock implements Store. A lock is broken only if its process is provably gone: on this machine, since it was started,
// with that number and start no more. An old heartbeat alone proves nothing.
func (l *Local) Lock(ctx context.Context, info LockInfo) (func(context.Context) error, error) {
	here := placeHere()
	info.Path = l.path
	h := held{LockInfo: info, place: here, PID: os.Getpid(), Started: startOf(os.Getpid()), Heartbeat: l.now().UTC(),
		Interval: l.beat.String()}
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return nil, err
	}
	err = durable.CreateNew(l.lockPath(), string(text))
	if errors.Is(err, fs.ErrExist) && l.breakDead(here) {
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

// breakDead removes a lock whose process is gone.
func (l *Local) breakDead(here place) (broken bool) {
	l.guarded(func() {
		h, err := l.holder()
		broken = err == nil && h.gone(here) && os.Remove(l.lockPath()) == nil
	})
	return broken
}

// gone reports whether a holder's process is provably gone: here, where its number means it and no other, there is
// none with its number and start.
func (h held) gone(here place) bool {
	if h.place != here || h.PID <= 0 {
		return false
	}
	if errors.Is(syscall.Kill(h.PID, 0), syscall.ESRCH) {
		return true
	}
	now := startOf(h.PID)
	return h.Started != "" && now != "" && now != h.Started
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
			ours := true
			l.guarded(func() { ours = l.say(&h) })
			if !ours {
				return
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

// say writes a heartbeat into the lock, and is false if that isn't ours any more.
func (l *Local) say(h *held) bool {
	if now, err := l.holder(); err != nil || now.ID != h.ID {
		return false
	}
	h.Heartbeat = l.now().UTC()
	if text, err := json.MarshalIndent(h, "", "  "); err == nil {
		_ = durable.Write(l.lockPath(), string(text))
	}
	return true
}

// remove deletes the lock if it is the one with this ID.
func (l *Local) remove(id string) (err error) {
	if !l.guarded(func() { err = l.removeNow(id) }) {
		return diag.Stateful(nil, "the lock %s isn't removed: somebody else has its folder", l.lockPath()).
			WithHint("holdfast engine force-unlock %s removes it later", id)
	}
	return err
}

func (l *Local) removeNow(id string) error {
	h, err := l.holder()
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return diag.Stateful(err, "the lock %s can't be read", l.lockPath()).WithHint("%s", unreadHint)
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

const unreadHint = "if surely nobody works with the state, delete the file that is its lock"

// taken says who has the lock.
func (l *Local) taken() error {
	e := &diag.Error{Category: diag.Concurrency, Summary: "the state " + l.path + " is locked"}
	h, err := l.holder()
	if err != nil {
		e.Detail, e.Err, e.Hint = "who holds it can't be read: "+err.Error(), err, unreadHint
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
