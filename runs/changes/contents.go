package changes

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// contents masks what was kept, now that all that is sensitive is known.
func (l *looker) contents() (*Contents, error) {
	config, err := l.configuration()
	if err != nil {
		return nil, err
	}
	p := l.plan
	c := &Contents{FormatVersion: p.FormatVersion, ToolVersion: p.ToolVersion, Counts: p.Counts, Errored: p.Errored,
		Changes: l.masked(l.changes), Drift: l.masked(l.drift), Configuration: config, Cut: l.cut, plan: p,
		Variables: map[string]json.RawMessage{}}
	m := masker{everywhere: l.secrets, plainest: true}
	for _, x := range l.outputs {
		c.Outputs = append(c.Outputs, OutputContent{x.address, x.actions, masked(m, x.after, x.marks())})
	}
	for name, value := range l.variables {
		var marked *marks
		if l.sensitive[name] {
			marked = &marks{all: true}
		}
		c.Variables[name] = masked(m, value, marked)
	}
	return c, nil
}

// masked masks changes, every second one beside the others, and lets go of each as it was.
func (l *looker) masked(list []*exact) []Content {
	made := make([]Content, len(list))
	var panics [maskers]any
	var group sync.WaitGroup
	for first := range maskers {
		group.Go(func() {
			defer func() { panics[first] = recover() }()
			for i := first; i < len(list); i += maskers {
				made[i] = l.content(list[i])
				list[i] = nil
			}
		})
	}
	group.Wait()
	for _, p := range panics {
		if p != nil {
			panic(p) // where the caller's own would be
		}
	}
	return made
}

// maskers is how many mask changes of one plan at once.
const maskers = 2

// content is a change masked. Its values are in memory of their own, which has room for all of them.
func (l *looker) content(x *exact) Content {
	marked := x.marks()
	m := masker{everywhere: l.secrets, here: x.shortSecrets(marked), plainest: true}
	values := make([]byte, 0, len(x.before)+len(x.after)+len(x.unknown)+len(x.replacePaths)+len(x.importing))
	add := func(value []byte, m masker, by *marks) json.RawMessage {
		if value == nil {
			return nil
		}
		from := len(values)
		values = m.appendMasked(values, value, by)
		return values[from:len(values):len(values)]
	}
	tools := masker{plainest: true} // what the tool makes of names in the configuration
	return Content{Address: x.address, Previous: x.previous, Module: x.module, Deposed: x.deposed, Mode: x.mode,
		Type: x.typ, Name: x.name, Provider: x.provider, Reason: x.reason, Actions: x.actions,
		ReplacePaths: add(x.replacePaths, tools, nil), Importing: add(x.importing, m, nil),
		Before: add(x.before, m, marked), After: add(x.after, m, marked), Unknown: add(x.unknown, tools, nil)}
}

// shortSecrets are the sensitive texts of a change that are too short to be hidden in the whole plan; nil for none.
func (x *exact) shortSecrets(marks *marks) (here *secrets) {
	x.collectMarked(marks, func(text string) {
		if len(text) >= shortestWide { // it is among those of the whole plan, and so is what is within its spaces
			return
		}
		if here == nil {
			here = newSecrets()
		}
		here.add(text)
	})
	return here
}

// masked is a value of memory of its own, nil for none.
func masked(m masker, value []byte, marks *marks) json.RawMessage {
	if value == nil {
		return nil
	}
	return m.appendMasked(make([]byte, 0, len(value)), value, marks)
}

// configuration is that of the plan, masked as Redact does.
func (l *looker) configuration() (json.RawMessage, error) {
	const before, behind = `{"configuration":`, `}`
	if l.config.text.Len() == 0 {
		return nil, nil
	}
	again := jsontext.AllowDuplicateNames(true)
	var out bytes.Buffer
	red := &redacter{everywhere: l.secrets, sensitive: l.sensitive, out: jsontext.NewEncoder(&out, again)}
	whole := io.MultiReader(strings.NewReader(before), &l.config.text, strings.NewReader(behind))
	limits := Limits{Bytes: int64(l.config.text.Len() + len(before) + len(behind)), Value: l.limits.Value}
	if err := walk(whole, limits, red, again); err != nil {
		return nil, err
	}
	l.config.text.Reset()
	return member(bytes.TrimSpace(out.Bytes()), "configuration"), nil
}
