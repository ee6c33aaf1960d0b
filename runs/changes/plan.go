package changes

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/holdfast/holdfast/internal/mask"
	"github.com/holdfast/holdfast/runs/outline"
)

// Masked stands where a sensitive value stood, in Changes and in what Redact writes. It is an
// object, so that it can't be taken for a value of the text's type.
const Masked = `{"(sensitive)":true}`

// Limits bounds what Parse takes. A zero stands for the default.
type Limits struct {
	Bytes   int64 // of the whole JSON
	Value   int64 // of one change, resource or variable
	Changes int   // that are kept, of resources and drift each; the rest is only counted
	Kept    int64 // bytes of values that are kept; the changes beyond have none
}

// The limits where none are set.
const (
	DefaultBytes   = 512 << 20
	DefaultValue   = 64 << 20
	DefaultChanges = 20_000
	DefaultKept    = 128 << 20
)

func (l Limits) withDefaults() Limits {
	if l.Bytes <= 0 {
		l.Bytes = DefaultBytes
	}
	if l.Value <= 0 {
		l.Value = DefaultValue
	}
	if l.Changes <= 0 {
		l.Changes = DefaultChanges
	}
	if l.Kept <= 0 {
		l.Kept = DefaultKept
	}
	return l
}

// Options says what the JSON does not.
type Options struct {
	Limits Limits
	// Sensitive names the root module's variables that are sensitive for another reason than the
	// configuration's word.
	Sensitive []string
	// Secrets finds what is secret besides what the plan says, such as the environment's; nil for nothing.
	Secrets *mask.Masker
	// RefreshOnly is whether the plan is one that only takes over what drifted: then the drift is
	// what an apply changes, and counts for the digest.
	RefreshOnly bool
}

// Plan is what a plan would do.
type Plan struct {
	FormatVersion string
	ToolVersion   string
	Counts        Counts
	Changes       []Change // that do something; in the tool's order
	Drift         []Change // what the tool found changed outside of it
	Outputs       []OutputChange
	Checks        []Check
	Errored       bool
	// Applyable and Complete are nil where the tool does not say.
	Applyable *bool
	Complete  *bool
	// Cut is whether a limit kept changes or their values out. The counts and the digest have them.
	Cut bool

	// Outline is what the plan does to which resource, the changes of no-ops too, to be held
	// against the Outline of the plan file.
	Outline [32]byte

	hidden hidden
}

// hidden is what a Plan keeps to itself.
type hidden struct {
	secrets *secrets
	source  [32]byte // SHA-256 of the JSON, which Redact wants to see again
	exact   []exact  // of Changes, Drift of a refresh-only plan, and Outputs
	prints  [][32]byte
	outline outline.Set
	options Options
	gone    int // managed instances in the drift that are not there any more
}

// String says how much a plan changes, and nothing of what, so that no value gets into a log.
func (p Plan) String() string { return p.Counts.String() }

// GoString is String.
func (p Plan) GoString() string { return p.String() }

// Counts is what a plan would do, as the tool's own summary counts: a replacement is one to add
// and one to destroy.
type Counts struct {
	Add     int
	Change  int
	Destroy int
	Replace int
	Import  int
	Forget  int
	Move    int
	Read    int
	Drift   int
	Outputs int
}

// String is the tools' summary line.
func (c Counts) String() string {
	line := "Plan: "
	if c.Import > 0 {
		line += fmt.Sprintf("%d to import, ", c.Import)
	}
	line += fmt.Sprintf("%d to add, %d to change, %d to destroy", c.Add, c.Change, c.Destroy)
	if c.Forget > 0 {
		line += fmt.Sprintf(", %d to forget", c.Forget)
	}
	return line + "."
}

// Any reports whether an apply would do anything. Of a refresh-only plan the drift does.
func (p *Plan) Any() bool {
	c := p.Counts
	return c.Add+c.Change+c.Destroy+c.Import+c.Forget+c.Move+c.Read+c.Outputs > 0 || p.hidden.options.RefreshOnly &&
		c.Drift > 0
}

// Removes returns how many managed instances an apply takes out of the state at most, for a time at least: those that
// are destroyed, replaced or forgotten, and those that are not there any more.
func (p *Plan) Removes() int { return p.Counts.Destroy + p.Counts.Forget + p.hidden.gone }

// Change is what would happen, or did happen, to one resource instance. Sensitive values are Masked.
type Change struct {
	Address         string
	PreviousAddress string // before it was moved
	Deposed         string
	Mode            string // managed, data
	Type            string
	Name            string
	Provider        string
	Actions         []string
	ActionReason    string
	ReplacePaths    []string // what it is replaced because of, such as a.b[0]
	Importing       *Importing
	Before          json.RawMessage
	After           json.RawMessage
	AfterUnknown    json.RawMessage
}

// Importing is what an instance is imported by.
type Importing struct {
	ID       string
	Identity json.RawMessage
}

// OutputChange is what would happen to an output of the root module.
type OutputChange struct {
	Name         string
	Actions      []string
	Sensitive    bool
	Before       json.RawMessage
	After        json.RawMessage
	AfterUnknown json.RawMessage
}

// Check is what became of a check block, a condition or a validation.
type Check struct {
	Address  string
	Kind     string
	Status   string
	Problems []string
}

// The actions.
const (
	NoOp   = "no-op"
	Create = "create"
	Read   = "read"
	Update = "update"
	Delete = "delete"
	Forget = "forget"
)

// IsReplace reports whether the actions are a deletion and a creation, in whichever order.
func IsReplace(actions []string) bool {
	return len(actions) == 2 && slices.Contains(actions, Create) && slices.Contains(actions, Delete)
}

// count adds a change to the counts as the tools do: the deletion of a data source, which only
// leaves the state, is none.
func (c *Counts) count(change *exact) {
	does := func(action string) int {
		if slices.Contains(change.actions, action) {
			return 1
		}
		return 0
	}
	if change.mode == "data" && does(Delete) == 1 {
		return
	}
	c.Add += does(Create)
	c.Change += does(Update)
	c.Destroy += does(Delete)
	c.Forget += does(Forget)
	c.Read += does(Read)
	if IsReplace(change.actions) {
		c.Replace++
	}
	if change.importing != nil {
		c.Import++
	}
	if change.previous != "" {
		c.Move++
	}
}
