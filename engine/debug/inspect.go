package debug

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast/holdfast/engine/statefile"
)

// Report says what a state has, and what of it can't be right. All lists are sorted.
type Report struct {
	Serial             uint64         `json:"serial"`
	Lineage            string         `json:"lineage"`
	TotalResources     int            `json:"total_resources"`
	ResourcesByType    map[string]int `json:"resources_by_type"`
	OrphanedResources  []string       `json:"orphaned_resources"`  // "a.b -> c.d": it depends on what isn't there
	DuplicateAddresses []string       `json:"duplicate_addresses"` // the same address twice
	DuplicateIDs       []string       `json:"duplicate_ids"`       // one object under two addresses
	ValidationErrors   []string       `json:"validation_errors"`
	IsValid            bool           `json:"is_valid"`
}

// Inspect looks through a state. An object counts as one resource, deposed ones too.
func Inspect(f *statefile.File) Report {
	i := inspection{report: Report{Serial: f.Serial, Lineage: f.Lineage, ResourcesByType: map[string]int{},
		OrphanedResources: []string{}, DuplicateAddresses: []string{}, DuplicateIDs: []string{},
		ValidationErrors: []string{}},
		blocks: map[string]bool{}, seen: map[string]bool{}, ids: map[string]string{}}
	for n := range f.Resources {
		if a, err := f.Resources[n].Address(); err == nil {
			i.blocks[a.Config()] = true
		}
	}
	for n := range f.Resources {
		i.resource(&f.Resources[n])
	}
	for _, list := range []*[]string{&i.report.OrphanedResources, &i.report.DuplicateAddresses, &i.report.DuplicateIDs,
		&i.report.ValidationErrors} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	i.report.IsValid = len(i.report.OrphanedResources)+len(i.report.DuplicateAddresses)+len(i.report.DuplicateIDs)+
		len(i.report.ValidationErrors) == 0
	return i.report
}

type inspection struct {
	report Report
	blocks map[string]bool   // that the state has, as dependencies name them
	seen   map[string]bool   // addresses
	ids    map[string]string // type and id to the first address that has them
}

func (i *inspection) resource(r *statefile.Resource) {
	block, err := r.Address()
	if err != nil {
		i.fault("%v", err)
		return
	}
	if len(r.Instances) == 0 {
		i.fault("%s has no instances", block)
	}
	own := func(in statefile.Instance) bool { return in.Provider != "" }
	if r.Provider == "" && !slices.ContainsFunc(r.Instances, own) {
		i.fault("%s names no provider", block)
	}
	for n := range r.Instances {
		in := &r.Instances[n]
		address := block.WithKey(in.IndexKey).String()
		if in.Deposed != "" {
			address += " (deposed " + in.Deposed + ")"
		}
		i.instance(r, address, in)
	}
}

func (i *inspection) instance(r *statefile.Resource, address string, in *statefile.Instance) {
	i.report.TotalResources++
	i.report.ResourcesByType[r.Type]++
	if i.seen[address] {
		i.report.DuplicateAddresses = append(i.report.DuplicateAddresses, address)
	}
	i.seen[address] = true
	for _, d := range in.Dependencies {
		if !i.blocks[d] {
			i.report.OrphanedResources = append(i.report.OrphanedResources, address+" -> "+d)
		}
	}
	if in.Status != "" && in.Status != statefile.Tainted {
		i.fault("%s has the status %q", address, in.Status)
	}
	if in.SchemaVersion < 0 {
		i.fault("%s has the schema version %d", address, in.SchemaVersion)
	}
	var attributes map[string]json.RawMessage
	switch err := json.Unmarshal(in.Attributes, &attributes); {
	case len(in.AttributesFlat) > 0: // of before Terraform 0.12, which its provider upgrades
		return
	case err != nil || attributes == nil:
		i.fault("%s has attributes that are no object", address)
		return
	}
	i.paths(address, in, attributes)
	if id := attributes["id"]; r.Mode == "managed" && len(id) > 2 && id[0] == '"' {
		key := r.Provider + " " + r.Type + " " + string(id)
		if first, ok := i.ids[key]; ok {
			i.report.DuplicateIDs = append(i.report.DuplicateIDs, fmt.Sprintf("%s and %s are both %s", first, address, id))
		} else {
			i.ids[key] = address
		}
	}
}

// paths wants that what is called sensitive is there.
func (i *inspection) paths(address string, in *statefile.Instance, attributes map[string]json.RawMessage) {
	if len(in.SensitiveAttributes) == 0 || bytes.Equal(in.SensitiveAttributes, []byte("null")) {
		return
	}
	var paths [][]struct {
		Type  string `json:"type"`
		Value any    `json:"value"`
	}
	if err := json.Unmarshal(in.SensitiveAttributes, &paths); err != nil {
		i.fault("%s has sensitive attributes that can't be read", address)
		return
	}
	for _, path := range paths {
		if len(path) == 0 {
			continue
		}
		if name, ok := path[0].Value.(string); ok && path[0].Type == "get_attr" && attributes[name] == nil {
			i.fault("%s calls %s sensitive, which it doesn't have", address, name)
		}
	}
}

func (i *inspection) fault(format string, args ...any) {
	i.report.ValidationErrors = append(i.report.ValidationErrors, fmt.Sprintf(format, args...))
}

// Difference says what is different between two states.
type Difference struct {
	Added     []string   `json:"added"`
	Removed   []string   `json:"removed"`
	Modified  []Modified `json:"modified"`
	Unchanged int        `json:"unchanged"`
}

// Modified is an object whose attributes differ.
type Modified struct {
	Address           string   `json:"address"`
	AttributesChanged []string `json:"attributes_changed"` // their names only: values may be secret
}

// Compare says what is different in b. Lists are in the order of addresses.
func Compare(a, b *statefile.File) Difference {
	before, after := objects(a), objects(b)
	d := Difference{Added: []string{}, Removed: []string{}, Modified: []Modified{}}
	for _, address := range slices.Sorted(maps.Keys(before)) {
		now, ok := after[address]
		if !ok {
			d.Removed = append(d.Removed, address)
			continue
		}
		if changed := changedAttributes(before[address], now); len(changed) > 0 {
			d.Modified = append(d.Modified, Modified{address, changed})
		} else {
			d.Unchanged++
		}
	}
	for _, address := range slices.Sorted(maps.Keys(after)) {
		if _, ok := before[address]; !ok {
			d.Added = append(d.Added, address)
		}
	}
	return d
}

// objects are a state's, by their addresses.
func objects(f *statefile.File) map[string]*statefile.Instance {
	all := map[string]*statefile.Instance{}
	for n := range f.Resources {
		block, err := f.Resources[n].Address()
		if err != nil {
			continue // Inspect tells
		}
		for m := range f.Resources[n].Instances {
			in := &f.Resources[n].Instances[m]
			address := block.WithKey(in.IndexKey).String()
			if in.Deposed != "" {
				address += " (deposed " + in.Deposed + ")"
			}
			all[address] = in
		}
	}
	return all
}

func changedAttributes(a, b *statefile.Instance) []string {
	var before, after map[string]json.RawMessage
	_ = json.Unmarshal(a.Attributes, &before) // none, if they can't be read: Inspect tells
	_ = json.Unmarshal(b.Attributes, &after)
	names := map[string]bool{}
	for name, value := range before {
		if !same(value, after[name]) {
			names[name] = true
		}
	}
	for name := range after {
		if _, ok := before[name]; !ok {
			names[name] = true
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// same compares two values as JSON, whatever their spaces.
func same(a, b json.RawMessage) bool {
	var x, y bytes.Buffer
	if json.Compact(&x, a) != nil || json.Compact(&y, b) != nil {
		return bytes.Equal(a, b)
	}
	return bytes.Equal(x.Bytes(), y.Bytes())
}
