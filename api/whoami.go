package api

import (
	"time"

	"github.com/google/uuid"
)

// Identity is what a caller's credentials say of them.
type Identity struct {
	OrgID   uuid.UUID  `json:"org_id"`
	OrgName string     `json:"org_name"`
	KeyID   string     `json:"key_id"`
	KeyName string     `json:"key_name"`
	Subject string     `json:"subject"`           // of a token or certificate
	Run     string     `json:"run,omitempty"`     // whose token it is; absent for everybody else
	Role    string     `json:"role"`              // empty for a run
	Rights  []string   `json:"rights" null:"yes"` // null for none
	States  []string   `json:"states" null:"yes"` // patterns; null for every state
	Expires *time.Time `json:"expires"`           // null for never
	Limits  Limits     `json:"limits"`
	Quota   *Quota     `json:"quota,omitempty"` // absent where it is not known
	// Runs is what the organization has of runs, and may have; absent where that is not known, and for
	// a run.
	Runs    *RunStanding `json:"runs,omitempty"`
	Address string       `json:"address"` // where the request came from, as the server sees it
}

// Limits are in requests a minute; null for none. What is left of them now comes back in the course
// of a minute; it is absent where there is no limit. Beyond what is left for all requests to states,
// so many more may be sent that read a state, lock it or unlock it.
type Limits struct {
	// Nodes is how many share the limits, if there are several: what is left is left on the one
	// that answers, which admits its part.
	Nodes          int  `json:"nodes,omitempty"`
	Requests       *int `json:"rate_limit"`
	States         *int `json:"state_rate_limit"`
	RequestsLeft   *int `json:"rate_left,omitempty"`
	StatesLeft     *int `json:"state_rate_left,omitempty"`
	OperationsLeft *int `json:"state_rate_saved,omitempty"`
}

// Quota is what an organization has stored, and may have, in bytes.
type Quota struct {
	Used    int64  `json:"used"`
	Limit   *int64 `json:"limit"` // null for none
	States  int64  `json:"states"`
	Uploads int64  `json:"uploads"`
}

// RunStanding is what an organization has of runs, and may have. Its bytes are apart from those of
// Quota: what logs take is never in the way of a state.
type RunStanding struct {
	Files          Share  `json:"files"`                    // bytes of logs and files: above the limit no run begins
	Configurations *Share `json:"configurations,omitempty"` // bytes; absent for who may see some states only
	Recorded       Share  `json:"recorded"`                 // runs; above the limit the oldest go
	Waiting        Share  `json:"waiting"`                  // runs
	Working        Share  `json:"working"`                  // runs
}

// Share is what there is of something, and may be.
type Share struct {
	Used  int64 `json:"used"`
	Limit int64 `json:"limit"`
}
