package resourceindex

import (
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// flat lists names and values in turn.
func flat(pairs []resources.Pair) []string {
	list := make([]string, 0, 2*len(pairs))
	for _, p := range pairs {
		list = append(list, p.Name, p.Value)
	}
	return list
}

func unflat(text string) ([]resources.Pair, error) {
	var list []string
	if err := json.Unmarshal([]byte(text), &list); err != nil {
		return nil, err
	}
	pairs := make([]resources.Pair, 0, len(list)/2)
	for i := 0; i+1 < len(list); i += 2 {
		pairs = append(pairs, resources.Pair{Name: list[i], Value: list[i+1]})
	}
	return pairs, nil
}

const resourceColumns = `r.source, r.state, r.address, r.type, r.provider, r.category, r.mode, r.module, r.name, r.key,
	r.deposed, r.version, r.at, r.attributes, r.tags`

type scan func(dest ...any) error

// scanResource reads resourceColumns; further columns follow.
func scanResource(scan scan, more ...any) (r resources.Resource, err error) {
	var source, version, at int64
	var attributes, tags string
	dest := []any{&source, &r.State, &r.Address, &r.Type, &r.Provider, &r.Category, &r.Mode, &r.Module, &r.Name, &r.Key,
		&r.Deposed, &version, &at, &attributes, &tags}
	if err := scan(append(dest, more...)...); err != nil {
		return r, err
	}
	r.Source, r.Version, r.At = sourceOf(source), uint64(version), time.UnixMicro(at).UTC()
	if r.Attributes, err = unflat(attributes); err != nil {
		return r, err
	}
	r.Tags, err = unflat(tags)
	return r, err
}

func sourceOf(n int64) resources.Source {
	if n == uploadSource {
		return resources.FromUpload
	}
	return resources.FromState
}

func numberOf(s resources.Source) int {
	if s == resources.FromUpload {
		return uploadSource
	}
	return stateSource
}

func scanHolding(scan scan, before ...any) (h resources.Holding, err error) {
	var version, at int64
	var digest []byte
	var unread string
	if err := scan(append(before, &version, &digest, &at, &unread)...); err != nil {
		return h, err
	}
	h.Version, h.At, h.Unread = uint64(version), time.UnixMicro(at).UTC(), fault.Code(unread)
	copy(h.Digest[:], digest)
	return h, nil
}

func scanHeld(scan scan) (held resources.Held, err error) {
	var org, name string
	if held.Holding, err = scanHolding(scan, &org, &name); err != nil {
		return held, err
	}
	held.Ref.Name = state.Name(name)
	held.Ref.Org, err = uuid.Parse(org)
	return held, err
}

// scanCovered reads resourceColumns and the others.
func scanCovered(scan scan) (c resources.Covered, err error) {
	var others string
	if c.Resource, err = scanResource(scan, &others); err != nil {
		return c, err
	}
	var list [][3]any
	if err := json.Unmarshal([]byte(others), &list); err != nil {
		return c, err
	}
	for _, one := range list {
		source, _ := one[0].(float64)
		name, _ := one[1].(string)
		address, _ := one[2].(string)
		c.Others = append(c.Others,
			resources.Place{Source: sourceOf(int64(source)), State: state.Name(name), Address: address})
	}
	return c, nil
}

// filled puts the condition of what a caller may see into another one.
func filled(condition, visible string) string {
	return strings.ReplaceAll(condition, "VISIBLE", visible)
}

// micros is a time as the database keeps it, rounded up; the zero time is before all.
func micros(t time.Time) int64 {
	if t.IsZero() {
		return math.MinInt64
	}
	return t.Add(time.Microsecond - 1).UnixMicro()
}
