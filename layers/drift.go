package layers

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// Changed is a resource that a check has found changed outside.
type Changed struct {
	Address, Type, Provider string
	Actions                 []string
	Before, After           json.RawMessage // sensitive values are masked
}

// Resource is a resource that has drifted, without its values.
type Resource struct {
	Address    string
	Type       string
	Provider   string   `json:",omitempty"`
	Action     string   // changed, deleted or created
	ID         string   `json:",omitempty"` // what the provider calls it
	Attributes []string `json:",omitempty"` // that differ
	// Since is the first check that has found it so, and Run that check.
	Since time.Time
	Run   string
	// Cause is the same of resources that were changed in the same way.
	Cause string
	// Expected is the ID of the expectation that it is in; Ignored says that rules leave nothing of it.
	Expected string `json:",omitempty"`
	Ignored  bool   `json:",omitempty"`
}

// counts reports whether somebody is to do something about it.
func (r Resource) counts() bool { return r.Expected == "" && !r.Ignored }

// Expectation is drift that somebody has said is as it should be, until it expires.
type Expectation struct {
	ID string
	Rule
	Owner, Reason string
	Expires       time.Time
	By            Actor
	At            time.Time
}

// mostAttributes is how many attributes of a resource are told apart.
const mostAttributes = 100

// Compare makes a report of what a check has found: what rules ignore and expectations cover is marked, and what was
// there at the check before has its time.
func Compare(found []Changed, rules []Rule, expected []Expectation, before []Resource, run string,
	now time.Time) (all []Resource) {
	known := map[string]Resource{}
	for _, r := range before {
		known[r.Address] = r
	}
	for _, c := range found {
		r := marked(c, rules, expected, now)
		r.Since, r.Run = now, run
		if was, ok := known[r.Address]; ok && was.Cause == r.Cause {
			r.Since, r.Run = was.Since, was.Run
		}
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b Resource) int { return cmp.Compare(a.Address, b.Address) })
	return fitting(all[:min(len(all), mostDrifted)])
}

// marked is a resource that was changed, with what rules ignore of it and expectations cover.
func marked(c Changed, rules []Rule, expected []Expectation, now time.Time) Resource {
	r, values := resourceOf(c)
	left := slices.DeleteFunc(slices.Clone(r.Attributes), func(attribute string) bool {
		return slices.ContainsFunc(rules, func(rule Rule) bool { return rule.covers(r.Address, attribute) })
	})
	if r.Ignored = len(left) == 0; !r.Ignored {
		r.Attributes = left
		r.Expected = coveredBy(expected, r, now)
	}
	r.Cause = causeOf(r, values)
	return r
}

// excuses reports whether a plan would do no more than undo what was changed outside and is expected or ignored.
func (l *Layer) excuses(planned []Changed, now time.Time) bool {
	return len(planned) > 0 && !slices.ContainsFunc(planned, func(c Changed) bool {
		return marked(c, l.Settings.Ignore, l.Expected, now).counts()
	})
}

// WholeResource is the attribute of a resource that was created or deleted outside.
const WholeResource = "(resource)"

func resourceOf(c Changed) (Resource, map[string]string) {
	r := Resource{Address: c.Address, Type: c.Type, Provider: c.Provider, Action: "changed"}
	before, after := flat(c.Before), flat(c.After)
	if r.ID = unquoted(before["id"]); r.ID == "" {
		r.ID = unquoted(after["id"])
	}
	switch {
	case slices.Contains(c.Actions, "delete") && !slices.Contains(c.Actions, "create"):
		r.Action, r.Attributes = "deleted", []string{WholeResource}
		return r, nil
	case slices.Contains(c.Actions, "create") && !slices.Contains(c.Actions, "delete"):
		r.Action, r.Attributes = "created", []string{WholeResource}
		return r, nil
	}
	values := map[string]string{}
	for name := range maps.Keys(before) {
		if after[name] != before[name] {
			values[name] = after[name]
		}
	}
	for name, value := range after {
		if _, was := before[name]; !was {
			values[name] = value
		}
	}
	r.Attributes = slices.Sorted(maps.Keys(values))
	if len(values) == 0 { // it differs in what is masked
		r.Attributes = []string{WholeResource}
	}
	r.Attributes = r.Attributes[:min(len(r.Attributes), mostAttributes)]
	return r, values
}

func unquoted(raw string) (text string) {
	if json.Unmarshal([]byte(raw), &text) != nil {
		return ""
	}
	return text
}

// flat has the JSON of each leaf of a value, by its path.
func flat(raw json.RawMessage) map[string]string {
	var value any
	from := json.NewDecoder(bytes.NewReader(raw))
	from.UseNumber()
	leaves := map[string]string{}
	if from.Decode(&value) == nil {
		flatten(value, "", leaves)
	}
	return leaves
}

func flatten(value any, path string, leaves map[string]string) {
	name := func(key string) string { return strings.TrimPrefix(path+"."+key, ".") }
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			flatten(inner, name(key), leaves)
		}
		if len(v) > 0 {
			return
		}
	case []any:
		for i, inner := range v {
			flatten(inner, name(fmt.Sprint(i)), leaves)
		}
		if len(v) > 0 {
			return
		}
	case nil:
		return // what is not there
	}
	text, _ := json.Marshal(value) // it came from JSON
	leaves[path] = string(text)
}

// covers reports whether the rule is about an attribute, or about one that it is in.
func (r Rule) covers(address, attribute string) bool {
	return wild(r.Address, address) && (wild(r.Attribute, attribute) || wild(r.Attribute+".*", attribute))
}

// wild reports whether a pattern, in which * is any text, matches all of a text.
func wild(pattern, text string) bool {
	parts := strings.Split(pattern, "*")
	if len(parts) == 1 {
		return pattern == text
	}
	first, last := parts[0], parts[len(parts)-1]
	if len(text) < len(first)+len(last) || !strings.HasPrefix(text, first) || !strings.HasSuffix(text, last) {
		return false
	}
	text = text[len(first) : len(text)-len(last)]
	for _, part := range parts[1 : len(parts)-1] {
		at := strings.Index(text, part)
		if at < 0 {
			return false
		}
		text = text[at+len(part):]
	}
	return true
}

// coveredBy is the expectation that all of a resource's drift is in; empty for none.
func coveredBy(expected []Expectation, r Resource, now time.Time) string {
	for _, e := range expected {
		open := slices.ContainsFunc(r.Attributes, func(attribute string) bool { return !e.covers(r.Address, attribute) })
		if !open && now.Before(e.Expires) {
			return e.ID
		}
	}
	return ""
}

// causeOf is the same for what was changed in the same way, wherever it is.
func causeOf(r Resource, values map[string]string) string {
	sum := sha256.New()
	fmt.Fprintf(sum, "%s\x00%s", r.Type, r.Action)
	for _, name := range r.Attributes {
		fmt.Fprintf(sum, "\x00%s\x00%s", name, values[name])
	}
	return hex.EncodeToString(sum.Sum(nil)[:16])
}

// DriftDigest is that of what nobody expects; empty for nothing.
func DriftDigest(all []Resource) (digest string, count int) {
	sum := sha256.New()
	for _, r := range all {
		if r.counts() {
			count++
			fmt.Fprintf(sum, "%s\x00%s\x00", r.Address, r.Cause)
		}
	}
	if count == 0 {
		return "", 0
	}
	return hex.EncodeToString(sum.Sum(nil)[:16]), count
}

// Group is drift of the same cause, of one layer or of many.
type Group struct {
	Cause      string
	Type       string
	Action     string
	Attributes []string
	Since      time.Time // of the first
	Resources  []Grouped
}

// Grouped is a resource of a group.
type Grouped struct {
	Layer string
	Resource
}

// Groups puts the drift of layers together by its cause, what is most frequent first.
func Groups(all []Layer) []Group {
	by := map[string]*Group{}
	for _, l := range all {
		for _, r := range l.Drifted {
			if !r.counts() {
				continue
			}
			g := by[r.Cause]
			if g == nil {
				g = &Group{Cause: r.Cause, Type: r.Type, Action: r.Action, Attributes: r.Attributes, Since: r.Since}
				by[r.Cause] = g
			}
			if r.Since.Before(g.Since) {
				g.Since = r.Since
			}
			g.Resources = append(g.Resources, Grouped{l.Name, r})
		}
	}
	groups := make([]Group, 0, len(by))
	for _, g := range by {
		groups = append(groups, *g)
	}
	slices.SortFunc(groups, func(a, b Group) int {
		return cmp.Or(len(b.Resources)-len(a.Resources), cmp.Compare(a.Cause, b.Cause))
	})
	return groups
}

// checked notes what a check has found, and returns it in numbers: what is new, and what is gone, people are told once.
func (l *Layer) checked(found []Resource, run string, now time.Time) CheckPoint {
	fresh, healed := without(found, l.Drifted), without(l.Drifted, found)
	l.Drifted = found
	if len(fresh) > 0 {
		l.Notices = append(l.Notices, Notice{Run: run, Text: named(fresh) + " changed outside"})
	}
	if len(healed) > 0 {
		l.Notices = append(l.Notices, Notice{Healed: true, Run: run, Text: named(healed) + " as planned again"})
	}
	_, drifted := DriftDigest(found)
	point := CheckPoint{At: now, Run: run, Drifted: drifted, Fresh: len(fresh), Healed: len(healed)}
	for _, r := range found {
		if r.Expected != "" {
			point.Expected++
		}
	}
	if len(l.Checks) == 0 || l.Checks[0].Drifted != drifted || point.Fresh+point.Healed > 0 ||
		l.Checks[0].Expected != point.Expected {
		l.Checks = append([]CheckPoint{point}, l.Checks...)
	}
	l.keep()
	return point
}

// without are the addresses that count in one report and not in the other.
func without(all, other []Resource) (left []string) {
	there := map[string]bool{}
	for _, r := range other {
		there[r.Address] = there[r.Address] || r.counts()
	}
	for _, r := range all {
		if r.counts() && !there[r.Address] {
			left = append(left, r.Address)
		}
	}
	return left
}

func named(addresses []string) string {
	const shown, most = 5, 300
	var some []string
	for _, address := range addresses[:min(len(addresses), shown)] {
		if len(address) > most {
			address = strings.ToValidUTF8(address[:most], "") + "…"
		}
		some = append(some, address)
	}
	text := strings.Join(some, ", ")
	if more := len(addresses) - shown; more > 0 {
		text += fmt.Sprintf(" and %d others", more)
	}
	return text
}
