package document

import (
	"bytes"
	stdcmp "cmp"
	"encoding/json"
	"math/big"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// two draws a state, one that grew out of it, and their bodies.
func two(t *rapid.T) (bodyA, bodyB []byte) {
	w := &world{t: t}
	a := w.first()
	b := w.second(a)
	return w.write(a), w.write(b)
}

func mustParse(t *rapid.T, body []byte) *Document {
	d, err := Parse(body)
	if err != nil {
		t.Fatalf("%v\n%s", err, body)
	}
	return d
}

// meaning reads a value with encoding/json: an opinion that shares no code with the diff.
func meaning(t *rapid.T, raw []byte) any {
	if raw == nil {
		return "absent"
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return exact(v)
}

func exact(v any) any {
	switch v := v.(type) {
	case json.Number:
		r, _ := new(big.Rat).SetString(v.String())
		return "number " + r.String()
	case []any:
		for i := range v {
			v[i] = exact(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = exact(v[name])
		}
	}
	return v
}

func documentMeaning(t *rapid.T, d *Document) any {
	all := map[string]any{"head": []any{d.TerraformVersion, d.Lineage, d.Serial}}
	for _, o := range d.Outputs {
		all["output "+o.Name] = []any{meaning(t, o.Value), meaning(t, o.Type), o.Sensitive, o.Deprecated}
	}
	for _, i := range d.Instances {
		parts := []any{i.Module, i.Mode, i.Type, i.Name, i.Key.String(), meaning(t, i.Attributes)}
		for f := range numFields {
			parts = append(parts, meaning(t, i.Field(f)))
		}
		all[i.Place.String()] = parts
	}
	return all
}

func TestApplyUndoesDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodyA, bodyB := two(t)
		a, b := mustParse(t, bodyA), mustParse(t, bodyB)
		got, err := Apply(a, Compare(a, b, Options{Reveal: true}))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(documentMeaning(t, b), documentMeaning(t, got)); diff != "" {
			t.Fatalf("apply(diff(a, b), a) is not b:\n%s", diff)
		}
	})
}

// A Diff that went over the wire as JSON works as well.
func TestDiffSurvivesJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodyA, bodyB := two(t)
		a, b := mustParse(t, bodyA), mustParse(t, bodyB)
		wire, err := json.Marshal(Compare(a, b, Options{Reveal: true}))
		if err != nil {
			t.Fatal(err)
		}
		var d Diff
		if err := json.Unmarshal(wire, &d); err != nil {
			t.Fatal(err)
		}
		got, err := Apply(a, &d)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(documentMeaning(t, b), documentMeaning(t, got)); diff != "" {
			t.Fatal(diff)
		}
	})
}

func TestDiffOfTheSameIsEmpty(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := &world{t: t}
		state := w.first()
		compact, _ := json.Marshal(state)
		indented, _ := json.MarshalIndent(state, "", "\t")
		for _, reveal := range []bool{true, false} {
			d := Compare(mustParse(t, compact), mustParse(t, indented), Options{Reveal: reveal})
			if !d.Empty() || len(d.Resources) > 0 || len(d.Outputs) > 0 {
				t.Fatalf("%+v", d)
			}
		}
	})
}

func TestStreamsAreTheDiff(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		bodyA, bodyB := two(rt)
		a, b := mustParse(rt, bodyA), mustParse(rt, bodyB)
		checkStreams(t, a, b, Options{})
		checkStreams(t, a, b, Options{Reveal: true})
	})
}

// inverse turns a Diff around.
func inverse(d *Diff) *Diff {
	out := *d
	out.Summary.Added, out.Summary.Removed = d.Summary.Removed, d.Summary.Added
	out.TerraformVersion, out.Lineage, out.Serial = d.TerraformVersion.turned(), d.Lineage.turned(), d.Serial.turned()
	if d.Providers != nil {
		out.Providers = &ProviderChange{Added: d.Providers.Removed, Removed: d.Providers.Added}
	}
	actions := map[Action]Action{Added: Removed, Removed: Added, Changed: Changed, Moved: Moved}
	out.Resources = []ResourceChange{}
	for _, c := range d.Resources {
		c.Action = actions[c.Action]
		if c.Previous != nil {
			place := c.Place
			c.Place, c.Previous = *c.Previous, &place
		}
		c.Fields, c.Attributes = slices.Clone(c.Fields), slices.Clone(c.Attributes)
		for i := range c.Fields {
			c.Fields[i].Change = *c.Fields[i].turned()
		}
		c.Attributes = turnedAll(c.Attributes)
		out.Resources = append(out.Resources, c)
	}
	slices.SortFunc(out.Resources, func(a, b ResourceChange) int { return a.compare(b.Place) })
	out.Outputs = []OutputChange{}
	for _, c := range d.Outputs {
		out.Outputs = append(out.Outputs, OutputChange{actions[c.Action], c.Name, c.After, c.Before, turnedAll(c.Changes)})
	}
	return &out
}

func (c *Change) turned() *Change {
	if c == nil {
		return nil
	}
	return &Change{Before: c.After, After: c.Before}
}

// turnedAll turns changes around, and has their paths count elements in the list before.
func turnedAll(changes []AttributeChange) []AttributeChange {
	var out []AttributeChange
	for _, c := range changes {
		path := slices.Clone(c.Path)
		for depth, step := range path {
			if ends := depth == len(path)-1; step.Indexed && !(ends && (c.Before == nil || c.After == nil)) {
				path[depth].Index = placeBefore(changes, c.Path[:depth], step.Index)
			}
		}
		c.Path, c.Change, c.Inside = path, *c.turned(), turnedAll(c.Inside)
		out = append(out, c)
	}
	return out
}

// placeBefore says where in the list before an element was, by its place in the list after.
func placeBefore(changes []AttributeChange, list Path, after int) int {
	gone, came := map[int]bool{}, map[int]bool{}
	for _, c := range changes {
		if len(c.Path) == len(list)+1 && slices.Equal(c.Path[:len(list)], list) {
			index := c.Path[len(list)].Index
			gone[index] = gone[index] || c.After == nil
			came[index] = came[index] || c.Before == nil
		}
	}
	rank := 0 // among those that stayed
	for i := range after {
		if !came[i] {
			rank++
		}
	}
	for before := 0; ; before++ {
		if gone[before] {
			continue
		}
		if rank == 0 {
			return before
		}
		rank--
	}
}

// inPathOrder sorts changes so that two lists of the same ones are equal.
func inPathOrder(d *Diff) *Diff {
	for i := range d.Resources {
		sortChanges(d.Resources[i].Attributes)
	}
	for i := range d.Outputs {
		sortChanges(d.Outputs[i].Changes)
	}
	return d
}

func sortChanges(all []AttributeChange) {
	for i := range all {
		sortChanges(all[i].Inside)
	}
	slices.SortFunc(all, func(a, b AttributeChange) int {
		return stdcmp.Or(strings.Compare(a.Path.String(), b.Path.String()), len(a.Before)-len(b.Before),
			len(a.After)-len(b.After))
	})
}

func TestDiffBackwardsIsTheInverse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodyA, bodyB := two(t)
		a, b := mustParse(t, bodyA), mustParse(t, bodyB)
		for _, options := range []Options{{Reveal: true}, {}} {
			forth, back := Compare(a, b, options), Compare(b, a, options)
			if want := inPathOrder(inverse(forth)); !reflect.DeepEqual(want,
				inPathOrder(back)) { // cmp takes long to say that nothing differs
				if diff := cmp.Diff(want, back, cmp.AllowUnexported(Key{})); diff != "" {
					t.Fatalf("%+v: %s", options, diff)
				}
			}
		}
	})
}

// Masking shows no secret, and hides no change.
func TestMaskedDiffShowsNoSecret(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodyA, bodyB := two(t)
		a, b := mustParse(t, bodyA), mustParse(t, bodyB)
		masked, open := Compare(a, b, Options{}), Compare(a, b, Options{Reveal: true})
		if masked.Summary != open.Summary {
			t.Fatalf("masked %+v, revealed %+v", masked.Summary, open.Summary)
		}
		wire, _ := json.Marshal(masked)
		var text strings.Builder
		if err := masked.WriteText(&text, nil); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(wire)+text.String(), secret) {
			t.Fatalf("%s\n%s\nof\n%s\n%s", wire, &text, bodyA, bodyB)
		}
		if _, err := Apply(a, masked); err == nil {
			t.Fatal("a masked diff was applied")
		}
	})
}

func TestRenderedTextIsPrintable(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		bodyA, bodyB := two(t)
		var text strings.Builder
		if err := Compare(mustParse(t, bodyA), mustParse(t, bodyB), Options{Reveal: true}).WriteText(&text, nil); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsFunc(strings.ReplaceAll(text.String(), "\n", ""), hidden) {
			t.Fatalf("%q", text.String())
		}
	})
}
