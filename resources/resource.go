package resources

import (
	"time"

	"github.com/holdfast/holdfast/state"
)

// Source is where a resource is known from.
type Source string

// The sources.
const (
	FromState  Source = "state"
	FromUpload Source = "upload"
)

// Place is where a resource stands. No two of an organization stand at the same.
type Place struct {
	Source Source
	State  state.Name // empty for an upload
	// Address is the client's, with the deposed key if there is one; an upload's is
	// provider/category/type/name.
	Address string
}

// Resource is one object as a state's newest version has it, or as it was uploaded last.
type Resource struct {
	Place
	Type     string // as the client or the uploader spells it
	Provider string // the last part of its source, such as aws; an upload's as it came
	Category string // of an upload
	Mode     string // managed or data; empty for an upload
	Module   string // empty for the root module
	Name     string // without module and key
	Key      string // JSON of the instance key; empty for none
	Deposed  string // empty for the current object

	Version uint64    // the state's; 0 for an upload
	At      time.Time // when that was written, or recorded

	// Attributes are those at the top level that are strings, numbers or booleans; Tags
	// the members of tags or labels. Nothing sensitive is in either, and nothing above
	// the limits of this package.
	Attributes, Tags []Pair

	// Traits is what tells it from other objects.
	Traits Traits
}

// Pair is an attribute or a tag. A value that is no string is as JSON has it.
type Pair struct{ Name, Value string }

// The limits of what the index keeps of one resource. What lies above is left out of the
// index; it stays in the state.
const (
	maxAddress    = 4 << 10
	maxName       = 255
	maxValue      = 1 << 10
	maxAttributes = 16 << 10 // of all names and values together
)

// pairs collects what is within the limits.
type pairs struct {
	list []Pair
	size int
}

func (p *pairs) add(name, value string) {
	size := len(name) + len(value)
	if name == "" || len(name) > maxName || len(value) > maxValue || p.size+size > maxAttributes {
		return
	}
	p.size += size
	p.list = append(p.list, Pair{name, value})
}

// Text is what the full-text search looks through: addresses, IDs, names and tags.
func (r Resource) Text() []string {
	texts := []string{r.Address}
	for _, a := range r.Attributes {
		switch a.Name {
		case "id", "arn", "self_link", "name":
			texts = append(texts, a.Value)
		}
	}
	for _, tag := range r.Tags {
		texts = append(texts, tag.Name, tag.Value)
	}
	return texts
}
