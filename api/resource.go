package api

import (
	"encoding/json"
	"time"
)

// Extent says what an answer about resources is of.
type Extent struct {
	Sources    []string      `json:"sources" enum:"Source"` // state and upload, as far as the caller may see them
	Limited    bool          `json:"limited,omitempty"`     // only some of the states
	Complete   bool          `json:"complete"`              // nothing was written that is not in the answer
	Unread     []UnreadState `json:"unread"`                // states that are not in the answer
	UnreadMore bool          `json:"unread_more,omitempty"` // there are others than are in unread
}

// UnreadState is a state that can't be looked into.
type UnreadState struct {
	State   string    `json:"state"`
	Version uint64    `json:"version"`
	Code    ErrorCode `json:"code"` // why
}

// Resources is a page of what a search found.
type Resources struct {
	Resources []Resource `json:"resources"`
	Next      *string    `json:"next"` // the next page's cursor; null at the end
	Extent
}

// Covered is a page of the resources of one status.
type Covered struct {
	Resources []CoveredResource `json:"resources"`
	Next      *string           `json:"next"` // the next page's cursor; null at the end
	Extent
}

// Counts is how many resources there are, by source and status. Every status that a source can
// have is there, also for none.
type Counts struct {
	Counts map[string]map[string]int64 `json:"counts"`
	Extent
}

// Place is where a resource stands. No two of an organization stand at the same.
type Place struct {
	Source  string `json:"source" enum:"Source"` // state or upload
	State   string `json:"state,omitempty"`      // absent for an upload
	Address string `json:"address"`
}

// String is how it is named to people.
func (p Place) String() string {
	if p.State == "" {
		return p.Address
	}
	return p.State + ": " + p.Address
}

// Resource is one object as a state's newest version has it, or as it was uploaded last.
type Resource struct {
	Place
	Type       string            `json:"type"`
	Provider   string            `json:"provider"`
	Category   string            `json:"category,omitempty"`                 // of an upload
	Mode       string            `json:"mode,omitempty" enum:"ResourceMode"` // managed or data; absent for an upload
	Module     string            `json:"module,omitempty"`                   // absent for the root module
	Name       string            `json:"name"`
	Key        json.RawMessage   `json:"index_key,omitempty" schema:"number|string"` // a number or a string; absent without one
	Deposed    string            `json:"deposed,omitempty"`                          // key of a deposed object
	Version    uint64            `json:"version,omitempty"`                          // the state's; absent for an upload
	At         time.Time         `json:"at"`                                         // when that was written, or recorded
	Attributes map[string]string `json:"attributes"`                                 // of the top level, nothing sensitive
	Tags       map[string]string `json:"tags"`
}

// CoveredResource is a resource with what is the same object.
type CoveredResource struct {
	Resource
	Same []Place `json:"same"`
}

// History is a page of the versions in which a resource changed, the newest first.
type History struct {
	Address string          `json:"address"` // as it was asked for
	History []Step          `json:"history"`
	Unread  []UnreadVersion `json:"unread"` // versions that can't be looked into
	Next    *string         `json:"next"`   // the next page's cursor; null at the end
}

// Step is a version in which a resource changed.
type Step struct {
	Version Version          `json:"version"`
	Against uint64           `json:"against"` // the version that it is compared with; 0 for none
	Changes []ResourceChange `json:"changes"`
}

// UnreadVersion is a version that can't be looked into.
type UnreadVersion struct {
	Version uint64    `json:"version"`
	Code    ErrorCode `json:"code"` // why
}
