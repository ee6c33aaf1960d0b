package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/statefile"
	"github.com/holdfast/holdfast/internal/durable"
)

// keptSnapshots is how many snapshots are kept.
const keptSnapshots = 20

// Snapshot is the state before a change, with why it was changed.
type Snapshot struct {
	ID            string          `json:"id"` // such as apply-2023-10-05-14-30-00
	Time          time.Time       `json:"timestamp"`
	Operation     string          `json:"operation"`
	User          string          `json:"user"`
	CorrelationID string          `json:"correlation_id,omitempty"` // in the lines of the log about what was done
	State         json.RawMessage `json:"state,omitempty"`          // none: there was none
	Plan          json.RawMessage `json:"plan,omitempty"`
}

// Step is what a step of an apply has made of an object's records.
type Step struct {
	Address   string               `json:"address"`
	Action    plan.Action          `json:"action"`
	Provider  string               `json:"provider"`
	Instances []statefile.Instance `json:"instances"`
	Error     string               `json:"error,omitempty"`
}

// journal is a snapshot and the steps that follow it. A nil one keeps nothing.
type journal struct {
	mu    sync.Mutex
	file  *os.File
	steps *bufio.Writer
	err   error
}

// Snapshot keeps the state as it is before a change.
func (e *Engine) Snapshot(ctx context.Context, operation string, state *statefile.File) error {
	_, err := e.keepSnapshot(ctx, operation, nil, state)
	return err
}

func (e *Engine) keepSnapshot(ctx context.Context, operation string, p *plan.Plan, state *statefile.File) (id string,
	err error) {
	if e.snapshots == "" {
		return "", nil
	}
	now := time.Now().UTC()
	s := Snapshot{ID: operation + "-" + now.Format("2006-01-02-15-04-05"), Time: now, Operation: operation,
		CorrelationID: oplog.ID(ctx)}
	if u, err := user.Current(); err == nil {
		s.User = u.Username
	}
	if p != nil {
		if s.Plan, err = p.JSON(); err != nil {
			return "", err
		}
	}
	if state != nil {
		if s.State, err = state.Bytes(); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(e.snapshots, 0o700); err != nil {
		return "", err
	}
	base := s.ID
	for n := 2; ; n++ {
		if _, err := os.Stat(e.snapshotPath(s.ID)); errors.Is(err, fs.ErrNotExist) {
			break
		}
		s.ID = fmt.Sprintf("%s-%d", base, n)
	}
	text, err := json.Marshal(s)
	if err != nil {
		return "", err
	}
	if err := durable.Write(e.snapshotPath(s.ID), string(text)); err != nil {
		return "", err
	}
	return s.ID, e.forgetOld()
}

func (e *Engine) snapshotPath(id string) string { return filepath.Join(e.snapshots, id+".json") }
func (e *Engine) stepsPath(id string) string    { return filepath.Join(e.snapshots, id+".steps") }

// begin keeps a snapshot, and opens the journal of the steps that follow.
func (e *Engine) begin(ctx context.Context, operation string, p *plan.Plan, state *statefile.File) (*journal, error) {
	id, err := e.keepSnapshot(ctx, operation, p, state)
	if err != nil || id == "" {
		return &journal{}, err
	}
	f, err := os.OpenFile(e.stepsPath(id), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return &journal{file: f, steps: bufio.NewWriter(f)}, nil
}

func (j *journal) step(r apply.Recorded) {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return
	}
	s := Step{Address: r.Resource.String(), Action: r.Action, Provider: r.Provider, Instances: r.Instances}
	if r.Err != nil {
		s.Error = r.Err.Error()
	}
	err := json.NewEncoder(j.steps).Encode(s)
	j.err = errors.Join(j.err, err, j.steps.Flush())
}

func (j *journal) end() error {
	if j.file == nil {
		return nil
	}
	return errors.Join(j.err, j.file.Close())
}

// forgetOld removes all but the newest snapshots.
func (e *Engine) forgetOld() error {
	all, err := Snapshots(e.snapshots)
	if err != nil {
		return err
	}
	for ; len(all) > keptSnapshots; all = all[1:] {
		for _, path := range []string{e.snapshotPath(all[0].ID), e.stepsPath(all[0].ID)} {
			if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// Snapshots lists the snapshots in a folder, the oldest first.
func Snapshots(folder string) ([]Snapshot, error) {
	entries, err := os.ReadDir(folder)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Snapshot
	for _, e := range entries {
		id, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || strings.HasPrefix(id, ".") {
			continue
		}
		s, err := ReadSnapshot(folder, id)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Snapshot) int { return a.Time.Compare(b.Time) })
	return all, nil
}

// ReadSnapshot reads one.
func ReadSnapshot(folder, id string) (Snapshot, error) {
	var s Snapshot
	if !regexp.MustCompile(`^[a-z]+-[0-9-]+$`).MatchString(id) {
		return s, &diag.Error{Category: diag.State, Summary: fmt.Sprintf("%.100q is no snapshot's ID", id)}
	}
	text, err := os.ReadFile(filepath.Join(folder, id+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		return s, &diag.Error{Category: diag.State, Summary: "there is no snapshot " + id,
			Hint: "holdfast engine debug snapshot lists those that there are"}
	}
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return s, diag.Stateful(err, "the snapshot %s can't be read", id)
	}
	return s, nil
}

// File is the state of a snapshot; nil if there was none.
func (s Snapshot) File() (*statefile.File, error) {
	if len(s.State) == 0 {
		return nil, nil
	}
	return statefile.Parse(s.State)
}

// Replayed is a step, with the state after it.
type Replayed struct {
	Step
	State *statefile.File
}

// Replay goes through the steps of what followed a snapshot, with the state after each.
func Replay(folder, id string) ([]Replayed, error) {
	s, err := ReadSnapshot(folder, id)
	if err != nil {
		return nil, err
	}
	state, err := s.File()
	if err != nil {
		return nil, diag.Stateful(err, "the state of the snapshot %s can't be read", id)
	}
	if state == nil {
		state = statefile.New()
	}
	text, err := os.ReadFile(filepath.Join(folder, id+".steps"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var all []Replayed
	for line := range strings.Lines(string(text)) {
		var step Step
		if json.Unmarshal([]byte(line), &step) != nil {
			break // the process died while it wrote this one
		}
		r, err := addr.Parse(step.Address)
		if err != nil {
			return nil, diag.Stateful(err, "a step of the snapshot %s can't be read", id)
		}
		state = state.Clone()
		for _, in := range state.Instances(r) {
			state.Remove(r, in.Deposed)
		}
		for _, in := range step.Instances {
			state.Set(r, step.Provider, in)
		}
		all = append(all, Replayed{step, state})
	}
	return all, nil
}
