package states

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/state"
)

const (
	// ackAge is for how long an acknowledged change is looked for. Its outcome is in the database for
	// longer, see sqldb.OutcomesKept.
	ackAge = time.Hour
	// mostAcks is how many are remembered, and twice that how long the file may get.
	mostAcks = 4096
)

// ack is a change that this node has acknowledged.
type ack struct {
	Token  uuid.UUID  `json:"token"`
	Org    uuid.UUID  `json:"org"`
	Name   state.Name `json:"name"`
	Number uint64     `json:"number,omitempty"` // of the version that it made; 0 when it made none
	At     time.Time  `json:"at"`

	missed bool // the database does not have it: known, and not looked for again
}

func (a ack) ref() state.Ref { return state.Ref{Org: a.Org, Name: a.Name} }

// acks is what this node remembers of the changes that it has acknowledged, outside the database: in
// memory and, if there is a path, in a file, for the next process. The file is not synced: it is for a
// node that was stopped or killed while the database failed over, not for one whose machine failed with it.
type acks struct {
	path string

	mu    sync.Mutex
	all   []ack // the newest last
	file  *os.File
	lines int
}

// openAcks reads what an earlier process has left. Lines that are damaged, as the last one may be after a
// kill, are passed over.
func openAcks(path string) (*acks, error) {
	a := &acks{path: path}
	if path == "" {
		return a, nil
	}
	text, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var one ack
		if json.Unmarshal(lines.Bytes(), &one) == nil && one.Token != uuid.Nil {
			a.all = append(a.all, one)
		}
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return a, a.rewrite()
}

// add remembers one more. An error is of the file: in memory it is.
func (a *acks) add(one ack) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.all = append(a.all, one)
	if a.lines++; a.lines >= 2*mostAcks {
		return a.rewrite()
	}
	if a.path == "" {
		return nil
	}
	text, err := json.Marshal(one)
	if err != nil {
		return err
	}
	_, err = a.file.Write(append(text, '\n'))
	return err
}

// newest returns at most n that are young enough and not known to be gone, the newest first.
func (a *acks) newest(n int, now time.Time) (some []ack) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, one := range slices.Backward(a.all) {
		if len(some) == n || now.Sub(one.At) > ackAge {
			break
		}
		if !one.missed {
			some = append(some, one)
		}
	}
	return some
}

// miss has changes be known as gone.
func (a *acks) miss(tokens map[uuid.UUID]bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.all {
		a.all[i].missed = a.all[i].missed || tokens[a.all[i].Token]
	}
}

// forget removes some.
func (a *acks) forget(which func(ack) bool) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	before := len(a.all)
	if a.all = slices.DeleteFunc(a.all, which); len(a.all) == before {
		return nil
	}
	return a.rewrite()
}

// rewrite drops what is too much, and writes the file anew. a.mu is held, or nobody else has a.
func (a *acks) rewrite() error {
	if len(a.all) > mostAcks {
		a.all = slices.Clone(a.all[len(a.all)-mostAcks:])
	}
	a.lines = len(a.all)
	if a.path == "" {
		return nil
	}
	var text bytes.Buffer
	for _, one := range a.all {
		line, err := json.Marshal(one)
		if err != nil {
			return err
		}
		text.Write(append(line, '\n'))
	}
	if a.file != nil {
		_ = a.file.Close()
	}
	if err := durable.Write(a.path, text.String()); err != nil {
		return err
	}
	var err error
	a.file, err = os.OpenFile(a.path, os.O_WRONLY|os.O_APPEND, 0o600)
	return err
}

func (a *acks) close() error {
	if a == nil || a.file == nil {
		return nil
	}
	return a.file.Close()
}
