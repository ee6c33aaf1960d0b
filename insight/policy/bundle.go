package policy

import (
	"regexp"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

// Ref addresses a bundle. No operation of a Store ever looks at, or changes, one of another
// organization than Ref.Org.
type Ref struct {
	Org       uuid.UUID
	Workspace string // that it is for; empty for all of the organization's
	Name      string
}

// Enforcement is what becomes of a plan in which deny or violation of a bundle has something.
type Enforcement string

// The enforcements, the strictest last.
const (
	// Advise lists findings, like those of built-in rules: the workspace's gates say what holds a plan.
	Advise Enforcement = "advise"
	// Hold has the plan wait for somebody who may approve, whatever the workspace's gates say.
	Hold Enforcement = "hold"
	// Refuse has the run fail.
	Refuse Enforcement = "refuse"
)

// Enforcements returns all of them, the strictest last.
func Enforcements() []Enforcement { return []Enforcement{Advise, Hold, Refuse} }

// Bundle is one version of a bundle, without its files. Its JSON is how stores keep it.
type Bundle struct {
	Ref       `json:"-"`
	Version   int64       `json:"-"` // from 1; the store's
	Digest    string      `json:"digest"`
	Enforce   Enforcement `json:"enforce"`
	Message   string      `json:"message,omitempty"`
	Files     int         `json:"files"`
	Bytes     int64       `json:"bytes"`
	Rules     int         `json:"rules"`
	Tests     int         `json:"tests"`
	CreatedAt time.Time   `json:"created_at"`
	CreatedBy audit.Actor `json:"created_by"`
	// Wide says that whoever pushed it may change what holds for all workspaces: the waivers of a workspace's own
	// bundle count for the organization's bundles then.
	Wide bool `json:"wide,omitempty"`
}

// File is one of a bundle's.
type File struct {
	Path    string `json:"path"`
	Content string `json:"content"`
}

// The most that there may be.
const (
	MaxFiles    = 100
	MaxBytes    = 256 << 10 // of a bundle's files together
	MaxBundles  = 100       // of an organization, those of its workspaces too
	MaxVersions = 30        // that are kept of a bundle
	maxPath     = 200
	maxMessage  = 1000
)

// CheckName refuses what can't be the name of a bundle.
func CheckName(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(name) {
		return fault.New(fault.PolicyInvalid, "a bundle's name is 1 to 64 letters, digits and . _ -, and begins with none of these")
	}
	return nil
}

// ParseEnforcement reads an enforcement; empty is Advise.
func ParseEnforcement(text string) (Enforcement, error) {
	if text == "" {
		return Advise, nil
	}
	if !slices.Contains(Enforcements(), Enforcement(text)) {
		return "", fault.New(fault.PolicyInvalid, "enforce is advise, hold or refuse")
	}
	return Enforcement(text), nil
}
