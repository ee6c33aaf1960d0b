package changes

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// Contents is what a plan's JSON says for who looks at every change, those that do nothing too. All of it is masked
// as Redact masks it.
type Contents struct {
	FormatVersion string
	ToolVersion   string
	Counts        Counts
	Errored       bool
	Changes       []Content // in the tool's order, as Drift and Outputs are
	Drift         []Content
	Outputs       []OutputContent
	Variables     map[string]json.RawMessage
	Configuration json.RawMessage // empty where the plan has none
	Cut           bool            // whether a limit kept changes out
	plan          *Plan
}

// Content is a change of a resource. A value that is null or not there is nil.
type Content struct {
	Address, Previous, Module, Deposed string
	Mode, Type, Name, Provider, Reason string
	Actions                            []string
	ReplacePaths, Importing            json.RawMessage
	Before, After, Unknown             json.RawMessage
}

// OutputContent is a change of an output of the root module.
type OutputContent struct {
	Name    string
	Actions []string
	After   json.RawMessage
}

// LookOptions bounds what Look takes.
type LookOptions struct {
	Limits    Limits // Changes and Kept bound what is kept of changes, and their values count whole
	Variables int64  // bytes of values of variables
	// Depends is told what the resources of the prior state depend on; nil for nobody.
	Depends func(address string, on []string)
}

// Look reads what show -json says of a plan once, and keeps its changes until all that is sensitive is known. The
// error is one of Parse.
func Look(r io.Reader, options LookOptions) (*Contents, error) {
	keep := options.Limits.withDefaults()
	bounds := keep
	bounds.Kept = options.Variables
	l := &looker{parser: newParser(Options{Limits: bounds}), keep: keep, depends: options.Depends}
	l.config.to = jsontext.NewEncoder(&l.config.text, jsontext.AllowDuplicateNames(true))
	sum := sha256.New()
	if err := walk(io.TeeReader(r, sum), l.limits, l); err != nil {
		return nil, err
	}
	if err := l.end(sum); err != nil {
		return nil, err
	}
	return l.contents()
}

// Redact writes the JSON that was looked at with every sensitive value Masked, as Plan.Redact does.
func (c *Contents) Redact(w io.Writer, r io.Reader) error { return c.plan.Redact(w, r) }

// looker is a parser that keeps changes as they are until it can mask them.
type looker struct {
	*parser
	keep           Limits
	kept           int64
	cut            bool
	depends        func(address string, on []string)
	changes, drift []*exact
	outputs        []*exact
	section        string // the member of the document that is read
	depth          int
	config         struct { // unmasked
		text bytes.Buffer
		to   *jsontext.Encoder
	}
}

// takeToken follows where in the document the reader is.
func (l *looker) takeToken(token jsontext.Token) error {
	switch token.Kind() {
	case '{', '[':
		if l.depth++; l.depth == 1 {
			return nil
		}
	case '}', ']':
		if l.depth--; l.depth == 0 {
			return nil
		}
	default:
		if l.depth == 1 {
			l.section = token.String()
			return nil
		}
	}
	if l.section == "configuration" {
		return l.config.to.WriteToken(token)
	}
	return nil
}

// takeValue learns from a value what a parser does, and keeps what is looked at.
func (l *looker) takeValue(kind kind, name string, value jsontext.Value) error {
	if l.section == "configuration" {
		if err := l.config.to.WriteValue(value); err != nil {
			return err
		}
	}
	switch kind {
	case kindChange:
		x, err := l.change(&l.changes, value, false)
		if err == nil {
			l.plan.Counts.count(x)
		}
		return err
	case kindDrift:
		l.plan.Counts.Drift++
		_, err := l.change(&l.drift, value, true)
		return err
	case kindOutputChange:
		return l.output(name, value)
	case kindVariable, kindMisplaced:
		if isNull := string(value) == "null"; !isNull && (kind == kindMisplaced || value[0] != '{') {
			return invalid("a value has another kind than in a plan")
		}
	case kindResource:
		if l.section == "prior_state" && l.depends != nil {
			l.dependencies(value)
		}
	}
	return l.parser.takeValue(kind, name, value)
}

// change keeps a change, unless it is beyond the limits.
func (l *looker) change(list *[]*exact, value []byte, drift bool) (*exact, error) {
	keeps := len(*list) < l.keep.Changes && l.kept+int64(len(value)) <= l.keep.Kept
	if keeps {
		l.kept += int64(len(value))
		value = bytes.Clone(value)
	}
	x, err := l.learn(value, drift)
	if err != nil {
		return nil, err
	}
	if slices.Contains(x.actions, "") {
		return nil, invalid("an action is no text")
	}
	if l.cut = l.cut || !keeps; keeps {
		*list = append(*list, x)
	}
	return x, nil
}

func (l *looker) output(name string, value []byte) error {
	x := &exact{address: name, mode: "output"}
	if err := x.parseChange(value); err != nil {
		return err
	}
	if string(value) != "null" && value[0] != '{' || slices.Contains(x.actions, "") {
		return invalid("a value has another kind than in a plan")
	}
	x.collect(l.secrets.add)
	if x.does() {
		l.plan.Counts.Outputs++
	}
	if l.kept += x.size(); l.kept > l.keep.Kept {
		l.cut = true
		x.drop()
	}
	x.keep()
	l.outputs = append(l.outputs, x)
	return nil
}

// dependencies tells what a resource of the prior state depends on.
func (l *looker) dependencies(value []byte) {
	var address string
	var on []string
	_ = jsonscan.Children(value, func(child jsonscan.Child) error { // it came out of a decoder
		switch string(child.Name) {
		case "address":
			address = unquoted(value[child.Start:child.End])
		case "depends_on":
			on = texts(value[child.Start:child.End])
		}
		return nil
	})
	if len(on) > 0 {
		l.depends(address, on)
	}
}
