package resources

import (
	"time"

	"github.com/holdfast/holdfast/state"
)

// Status is how a resource of a state and the uploads agree.
type Status string

// The statuses. Each resource that counts has one of the first four; of a state's, it can
// be claimed twice as well.
const (
	Managed      Status = "managed"       // in a state and uploaded
	Unmanaged    Status = "unmanaged"     // uploaded, in no state
	Missing      Status = "missing"       // in a state, not uploaded, although its like are
	Unmatched    Status = "unmatched"     // nothing says what it is to be compared with
	ClaimedTwice Status = "claimed_twice" // in two states, or at two addresses of one
)

// Statuses returns all of them.
func Statuses() []Status { return []Status{Managed, Unmanaged, Missing, ClaimedTwice, Unmatched} }

// CoverageQuery selects resources by their status.
type CoverageQuery struct {
	Status   Status // empty only for Count
	Type     string
	Provider string
	State    state.Name
	// Since leaves out what was uploaded before.
	Since time.Time
	After Place
	Limit int // above zero; not for Count
}

// Covered is a resource with the others that are the same object: of the other source if
// it is managed, other claims if it is claimed twice. There are at most MaxOthers.
type Covered struct {
	Resource
	Others []Place
}

// Claim is where else an object is known from, and since when it is so there: when the version was written, or the
// upload recorded.
type Claim struct {
	Place
	At time.Time
}

// MaxOthers is how many of the others a Covered names.
const MaxOthers = 10

// Counts says how many resources have each status, by source. Absent is none.
type Counts map[Source]map[Status]int64

// Add counts more of a status; none is left absent.
func (c Counts) Add(source Source, status Status, number int64) {
	if number == 0 {
		return
	}
	if c[source] == nil {
		c[source] = map[Status]int64{}
	}
	c[source][status] += number
}
