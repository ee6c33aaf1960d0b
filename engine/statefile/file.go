// Package statefile reads and writes states in version 4 of Terraform's format, and keeps them: in a file
// with a lock beside it, or behind HTTP.
package statefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/engine/addr"
)

// FormatVersion is the version of the format.
const FormatVersion = 4

// ToolVersion is what a new state calls the tool that wrote it: the newest Terraform whose format it has.
const ToolVersion = "1.5.7"

// File is a state. Its members stand in the order that Terraform writes them in, so that what is read and
// written again stays the same bytes.
type File struct {
	Version          int               `json:"version"`
	TerraformVersion string            `json:"terraform_version"`
	Serial           uint64            `json:"serial"`
	Lineage          string            `json:"lineage"`
	Outputs          map[string]Output `json:"outputs"`
	Resources        []Resource        `json:"resources"`
	CheckResults     json.RawMessage   `json:"check_results"`

	places  map[string]int // where Set has found resources
	unknown string         // what Parse said of a member that isn't here
}

// Output is a root module's output.
type Output struct {
	Value      json.RawMessage `json:"value"`
	Type       json.RawMessage `json:"type"`
	Sensitive  bool            `json:"sensitive,omitempty"`
	Deprecated string          `json:"deprecated,omitempty"`
}

// Resource is what one block has made in one instance of its module.
type Resource struct {
	Module    string     `json:"module,omitempty"`
	Mode      string     `json:"mode"`
	Type      string     `json:"type"`
	Name      string     `json:"name"`
	Each      string     `json:"each,omitempty"`
	Provider  string     `json:"provider,omitempty"`
	Instances []Instance `json:"instances"`
}

// Instance is one object. A deposed one was replaced and waits to be deleted.
type Instance struct {
	IndexKey            any               `json:"index_key,omitempty"`
	Status              string            `json:"status,omitempty"`
	Deposed             string            `json:"deposed,omitempty"`
	Provider            string            `json:"provider,omitempty"` // its own, in place of its resource's
	SchemaVersion       int64             `json:"schema_version"`
	Attributes          json.RawMessage   `json:"attributes,omitempty"`
	AttributesFlat      map[string]string `json:"attributes_flat,omitempty"`
	SensitiveAttributes json.RawMessage   `json:"sensitive_attributes,omitempty"`
	IdentityVersion     *int64            `json:"identity_schema_version,omitempty"`
	Identity            json.RawMessage   `json:"identity,omitempty"`
	Private             []byte            `json:"private,omitempty"`
	Dependencies        []string          `json:"dependencies,omitempty"`
	CreateBeforeDestroy bool              `json:"create_before_destroy,omitempty"`
	SkipDestroy         bool              `json:"skip_destroy,omitempty"` // it is forgotten instead of destroyed
}

// Tainted is the status of an object that has to be replaced.
const Tainted = "tainted"

// New makes an empty state with a lineage of its own.
func New() *File {
	return &File{Version: FormatVersion, TerraformVersion: ToolVersion, Lineage: uuid.NewString(),
		Outputs: map[string]Output{}, Resources: []Resource{}}
}

// Parse reads a state. What isn't one is an error, and never an empty state.
func Parse(text []byte) (*File, error) {
	f, err := decode(text, true)
	if unknown, ok := strings.CutPrefix(fmt.Sprint(err), "json: unknown field "); ok {
		if f, err = decode(text, false); err == nil {
			f.unknown = unknown
		}
	}
	if err != nil {
		return nil, err
	}
	if f.Version != FormatVersion {
		return nil, fmt.Errorf("its format is version %d, and this reads version %d", f.Version, FormatVersion)
	}
	if f.Lineage == "" {
		return nil, fmt.Errorf("it has no lineage")
	}
	for i := range f.Resources {
		r := &f.Resources[i]
		if _, err := r.Address(); err != nil {
			return nil, err
		}
		for j := range r.Instances {
			if err := r.Instances[j].parseKey(); err != nil {
				return nil, fmt.Errorf("%s.%s: %w", r.Type, r.Name, err)
			}
		}
	}
	if f.Outputs == nil {
		f.Outputs = map[string]Output{}
	}
	return f, nil
}

// decode reads a state's JSON, which is refused when strict if it has members that states here don't have.
func decode(text []byte, strict bool) (*File, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if strict {
		d.DisallowUnknownFields()
	}
	f := &File{}
	if err := d.Decode(f); err != nil {
		if strict && strings.HasPrefix(err.Error(), "json: unknown field ") {
			return nil, err
		}
		return nil, fmt.Errorf("it isn't a state: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("something follows the state")
	}
	return f, nil
}

// Keepable fails for a state that can be looked at but not written again without a loss: it has what a newer tool has
// put into it, or an object twice, of which only one would be found.
func (f *File) Keepable() error {
	if f.unknown != "" {
		return fmt.Errorf("it has the member %s, which isn't known here and would be lost", f.unknown)
	}
	seen := map[string]bool{}
	for i := range f.Resources {
		r := &f.Resources[i]
		name := r.sortKey()
		if seen[name] {
			return fmt.Errorf("it has %s twice", r.name())
		}
		seen[name] = true
		for j := range r.Instances {
			in := &r.Instances[j]
			key := name + "\x00" + addr.KeyString(in.IndexKey) + "\x00" + in.Deposed
			if seen[key] {
				return fmt.Errorf("it has %s%s twice", r.name(), addr.KeyString(in.IndexKey))
			}
			seen[key] = true
		}
	}
	return nil
}

func (r *Resource) name() string {
	a, err := r.Address()
	if err != nil {
		return r.Type + "." + r.Name
	}
	return a.String()
}

func (i *Instance) parseKey() error {
	switch k := i.IndexKey.(type) {
	case nil, string:
		return nil
	case json.Number:
		n, err := k.Int64()
		if err != nil || n < 0 {
			return fmt.Errorf("the index %s is no whole number", k)
		}
		i.IndexKey = int(n)
		return nil
	}
	return fmt.Errorf("the index %v is neither a number nor a string", i.IndexKey)
}

// Bytes is the state as Terraform would write it.
func (f *File) Bytes() ([]byte, error) {
	f.sort()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetIndent("", "  ")
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func (f *File) sort() {
	slices.SortStableFunc(f.Resources, func(a, b Resource) int { return strings.Compare(a.sortKey(), b.sortKey()) })
	for i := range f.Resources {
		slices.SortStableFunc(f.Resources[i].Instances, func(a, b Instance) int {
			if c := addr.CompareKeys(a.IndexKey, b.IndexKey); c != 0 {
				return c
			}
			return strings.Compare(a.Deposed, b.Deposed)
		})
	}
}

func (r *Resource) sortKey() string {
	return strings.Join([]string{r.Module, r.Mode, r.Type, r.Name}, "\x00")
}

// Address is the address of the block.
func (r *Resource) Address() (addr.Resource, error) {
	text := r.Type + "." + r.Name
	if r.Mode == "data" {
		text = "data." + text
	} else if r.Mode != "managed" {
		return addr.Resource{}, fmt.Errorf("%s has the mode %q", text, r.Mode)
	}
	if r.Module != "" {
		text = r.Module + "." + text
	}
	return addr.Parse(text)
}

// Find returns the record of an instance, nil if there is none.
func (f *File) Find(a addr.Resource, deposed string) (*Resource, *Instance) {
	for i := range f.Resources {
		r := &f.Resources[i]
		if !r.is(a) {
			continue
		}
		for j := range r.Instances {
			if in := &r.Instances[j]; in.IndexKey == a.Key && in.Deposed == deposed {
				return r, in
			}
		}
	}
	return nil, nil
}

// Instances are the records of one instance: its current object and those that are deposed.
func (f *File) Instances(a addr.Resource) (all []Instance) {
	for i := range f.Resources {
		if !f.Resources[i].is(a) {
			continue
		}
		for _, in := range f.Resources[i].Instances {
			if in.IndexKey == a.Key {
				all = append(all, in)
			}
		}
	}
	return all
}

func (r *Resource) is(a addr.Resource) bool {
	return r.Type == a.Type && r.Name == a.Name && (r.Mode == "data") == a.Data && r.Module == a.Module.String()
}

// place is where a resource is among all, negative if it isn't there. Where one was found before is only a guess, since
// others may have gone: who has so many that a search for each takes long mostly sets those that stay.
func (f *File) place(a addr.Resource) int {
	key := func(r *Resource) string { return r.Module + "\n" + r.Mode + "\n" + r.Type + "\n" + r.Name }
	if f.places == nil {
		f.places = make(map[string]int, len(f.Resources))
		for i := len(f.Resources) - 1; i >= 0; i-- { // the first of two with one address is the one that counts
			f.places[key(&f.Resources[i])] = i
		}
	}
	asked := key(&Resource{Module: a.Module.String(), Mode: modeOf(a), Type: a.Type, Name: a.Name})
	if i, ok := f.places[asked]; ok && i < len(f.Resources) && f.Resources[i].is(a) {
		return i
	}
	for i := range f.Resources {
		if f.Resources[i].is(a) {
			f.places[asked] = i
			return i
		}
	}
	return -1
}

func modeOf(a addr.Resource) string {
	if a.Data {
		return "data"
	}
	return "managed"
}

// Set records an instance in place of what was recorded for it.
func (f *File) Set(a addr.Resource, provider string, in Instance) {
	in.IndexKey = a.Key
	if i := f.place(a); i >= 0 {
		r := &f.Resources[i]
		r.Provider = provider
		for j := range r.Instances {
			if r.Instances[j].IndexKey == a.Key && r.Instances[j].Deposed == in.Deposed {
				r.Instances[j] = in
				return
			}
		}
		r.Instances = append(r.Instances, in)
		return
	}
	f.Resources = append(f.Resources, Resource{Module: a.Module.String(), Mode: modeOf(a), Type: a.Type, Name: a.Name,
		Provider: provider, Instances: []Instance{in}})
}

// Remove forgets an instance.
func (f *File) Remove(a addr.Resource, deposed string) {
	for i := range f.Resources {
		r := &f.Resources[i]
		if !r.is(a) {
			continue
		}
		r.Instances = slices.DeleteFunc(r.Instances, func(in Instance) bool {
			return in.IndexKey == a.Key && in.Deposed == deposed
		})
		if len(r.Instances) == 0 {
			f.Resources = slices.Delete(f.Resources, i, i+1)
		}
		return
	}
}

// Clone copies a state so that changes of one don't show in the other.
func (f *File) Clone() *File {
	c := *f
	c.places = nil
	c.Outputs = map[string]Output{}
	for k, v := range f.Outputs {
		c.Outputs[k] = v
	}
	c.Resources = slices.Clone(f.Resources)
	for i := range c.Resources {
		c.Resources[i].Instances = slices.Clone(c.Resources[i].Instances)
	}
	return &c
}
