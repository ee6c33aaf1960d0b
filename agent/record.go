package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/durable"
)

const recordFile = "assignment.json"

// record is what an executor must know to go on with a stage after it died. It has no secrets:
// those come again with the answer to a claim of the same key.
type record struct {
	Key       string    `json:"claim_key"`
	Run       string    `json:"run"`
	Org       string    `json:"org"`
	Workspace string    `json:"workspace"`
	Kind      string    `json:"kind"`
	Stage     string    `json:"stage"`
	Attempt   int       `json:"attempt"`
	Epoch     int64     `json:"epoch"`
	Slot      int       `json:"slot"`
	Began     time.Time `json:"began"`

	Phase      string    `json:"phase"` // that goes on; those before it were reported
	PhaseBegan time.Time `json:"phase_began"`
	// Interrupted is when the phase's command was to be sent its interrupt.
	Interrupted time.Time `json:"interrupted,omitzero"`
	TimedOut    bool      `json:"timed_out,omitempty"`
	// TooLarge says that the folder has more than it may.
	TooLarge bool `json:"too_large,omitempty"`
	// Notes are what the executor itself has to say in the log, by phase.
	Notes map[string]string `json:"notes,omitempty"`
	Tool  *api.Tool         `json:"tool,omitempty"`
	// Directory is where in the configuration the tool works.
	Directory string `json:"directory,omitempty"`
	// Inputs is the digest of the variables that the stage began with.
	Inputs string `json:"inputs,omitempty"`
	// Lock is the digest of the lock file behind the plan's init, before any code of the configuration
	// ran; noLock for none, empty for not known.
	Lock string `json:"lock,omitempty"`
	// Initialized says that there is what the plan's init has made, and none is to be run.
	Initialized bool `json:"initialized,omitempty"`
	// Over says that nothing is left to do but to remove the folder.
	Over bool `json:"over,omitempty"`
}

func newRecord(a api.Assignment, key string, now time.Time) *record {
	return &record{
		Key: key, Run: a.Run, Org: a.Org, Workspace: a.Workspace, Kind: a.Kind, Stage: a.Stage, Attempt: a.Attempt,
		Epoch: a.Epoch, Directory: a.Directory,
		Began: now, Notes: map[string]string{}, Inputs: a.Inputs,
	}
}

func readRecord(folder string) (*record, error) {
	raw, err := os.ReadFile(filepath.Join(folder, recordFile))
	if err != nil {
		return nil, err
	}
	r := record{Notes: map[string]string{}}
	if err := json.Unmarshal(raw, &r); err != nil {
		return nil, err
	}
	return &r, nil
}

// assignment is as much of it as was recorded.
func (r *record) assignment() api.Assignment {
	return api.Assignment{Run: r.Run, Org: r.Org, Workspace: r.Workspace, Kind: r.Kind, Stage: r.Stage, Attempt: r.Attempt,
		Epoch: r.Epoch, Directory: r.Directory}
}

// save is durable: what follows it builds on its being there.
func (r *record) save(folder string) error {
	raw, err := json.Marshal(r)
	if err != nil {
		return err
	}
	return durable.Write(filepath.Join(folder, recordFile), string(raw))
}

// matches reports whether an assignment is the one that was recorded.
func (r *record) matches(a api.Assignment) bool {
	return r.Run == a.Run && r.Stage == a.Stage && r.Attempt == a.Attempt && r.Epoch == a.Epoch
}
