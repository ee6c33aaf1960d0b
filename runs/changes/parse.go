package changes

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"hash"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/runs/outline"
)

// parser collects what Parse learns on its way through a plan.
type parser struct {
	plan      *Plan
	limits    Limits
	secrets   *secrets
	sensitive map[string]bool   // variables, as far as is known by now
	variables map[string][]byte // values, until it is known which are sensitive
	drift     []exact
	places    map[place]bool // of the changes so far
	kept      int64
	checks    []byte
	called    []string // sensitive, by people, as far as it is looked for in encodings
	calledN   int
}

// Parse reads what show -json says of a plan. The error is a fault, PlanJSONInvalid or
// PlanJSONTooLarge, or what r returned.
func Parse(r io.Reader, options Options) (*Plan, error) {
	p := newParser(options)
	sum := sha256.New()
	if err := walk(io.TeeReader(r, sum), p.limits, p); err != nil {
		return nil, err
	}
	return p.finish(sum)
}

func newParser(options Options) *parser {
	options.Limits = options.Limits.withDefaults()
	p := &parser{plan: &Plan{}, limits: options.Limits, secrets: newSecrets(), sensitive: map[string]bool{},
		variables: map[string][]byte{}, places: map[place]bool{}}
	p.secrets.given = options.Secrets
	p.plan.hidden = hidden{secrets: p.secrets, options: options}
	for _, name := range options.Sensitive {
		p.sensitive[name] = true
	}
	return p
}

// takeToken learns nothing from a name or a bracket.
func (*parser) takeToken(jsontext.Token) error { return nil }

// takeValue learns from one value of the plan.
func (p *parser) takeValue(kind kind, name string, value jsontext.Value) error {
	switch kind {
	case kindHead:
		return p.takeHead(name, value)
	case kindChange:
		return p.takeChange(value)
	case kindDrift:
		return p.takeDrift(value)
	case kindOutputChange:
		return p.takeOutput(name, value)
	case kindVariable:
		return p.takeVariable(name, value)
	case kindDeclaration:
		return p.takeDeclaration(name, value, true)
	case kindInnerVariable:
		return p.takeDeclaration(name, value, false)
	case kindResource:
		return p.takeResource(value)
	case kindOutput:
		return p.takeOutputValue(value)
	case kindProvider:
		return p.takeProvider(value)
	}
	return nil
}

// collectAll calls add for every text and number in a value.
func collectAll(value []byte, add func(text string)) { (&marks{all: true}).collectFrom(value, add) }

func (p *parser) takeHead(name string, value []byte) error {
	switch name {
	case "format_version":
		p.plan.FormatVersion = unquoted(value)
	case "terraform_version":
		p.plan.ToolVersion = unquoted(value)
	case "errored":
		p.plan.Errored = string(value) == "true"
	case "applyable":
		p.plan.Applyable = boolean(value)
	case "complete":
		p.plan.Complete = boolean(value)
	case "checks":
		p.checks = bytes.Clone(value)
	}
	return nil
}

func boolean(value []byte) *bool {
	yes := string(value) == "true"
	return &yes
}

func (p *parser) takeChange(value []byte) error {
	x, err := p.learn(value, false)
	if err != nil {
		return err
	}
	p.plan.Counts.count(x)
	p.plan.hidden.outline.Add(outline.Change{Address: x.address, Previous: x.previous, Deposed: x.deposed,
		Actions: strings.Join(x.actions, ","), Import: x.importing != nil})
	if !x.does() {
		return nil
	}
	p.addPrint(x.print())
	p.keep(&p.plan.hidden.exact, x)
	return nil
}

// addPrint adds to what the digest is made of.
func (p *parser) addPrint(print [32]byte) {
	p.plan.hidden.prints = append(p.plan.hidden.prints, print)
}

func (p *parser) takeDrift(value []byte) error {
	x, err := p.learn(value, true)
	if err != nil {
		return err
	}
	p.plan.Counts.Drift++
	if x.mode != "data" && slices.Contains(x.actions, Delete) {
		p.plan.hidden.gone++
	}
	if p.plan.hidden.options.RefreshOnly {
		p.addPrint(x.print())
	}
	p.keep(&p.drift, x)
	return nil
}

// learn reads a change and remembers what is sensitive in it.
func (p *parser) learn(value []byte, drift bool) (*exact, error) {
	x, err := parseExact(value)
	if err != nil {
		return nil, err
	}
	x.drift = drift
	if p.places[x.place()] {
		return nil, invalid("it has two changes of one resource")
	}
	p.places[x.place()] = true
	if len(p.places) > maxEntries {
		return nil, tooLarge("the plan's JSON has more than %d changes", maxEntries)
	}
	x.collect(p.addResource)
	return x, nil
}

// keep adds a change to those that are kept, as far as the limits go.
func (p *parser) keep(list *[]exact, x *exact) {
	if len(*list) >= p.limits.Changes {
		p.plan.Cut = true
		return
	}
	if p.kept+x.size() > p.limits.Kept {
		p.plan.Cut = true
		x.drop()
	}
	p.kept += x.size()
	x.keep()
	*list = append(*list, *x)
}

func (p *parser) takeOutput(name string, value []byte) error {
	x := &exact{address: name, mode: "output"}
	if err := x.parseChange(value); err != nil {
		return err
	}
	x.collect(p.secrets.add)
	if !x.does() {
		return nil
	}
	p.plan.Counts.Outputs++
	p.addPrint(x.print())
	p.keep(&p.plan.hidden.exact, x)
	return nil
}

// addResource adds a text that is marked in a resource.
func (p *parser) addResource(text string) {
	if len(text) >= shortestWide {
		p.secrets.add(text)
	}
}

// addWide adds a text that a person has called sensitive.
func (p *parser) addWide(text string) {
	p.secrets.add(text)
	if p.calledN += len(text); p.calledN <= mostForms {
		p.called = append(p.called, strings.Clone(text))
	}
}

// takeVariable keeps the value until the configuration, which comes last, says what it is.
func (p *parser) takeVariable(name string, value []byte) error {
	if p.kept += int64(len(value)); p.kept > p.limits.Kept {
		return tooLarge("the plan's variables have more than %d bytes", p.limits.Kept)
	}
	p.variables[strings.Clone(name)] = bytes.Clone(member(value, "value"))
	return nil
}

func (p *parser) takeDeclaration(name string, value []byte, root bool) error {
	if string(member(value, "sensitive")) != "true" {
		return nil
	}
	if root {
		p.sensitive[strings.Clone(name)] = true
	}
	collectAll(member(value, "default"), p.addWide)
	return nil
}

// takeResource learns from a resource of the prior state or the planned one.
func (p *parser) takeResource(value []byte) error {
	var marked, values []byte
	err := jsonscan.Children(value, func(child jsonscan.Child) error {
		switch string(child.Name) {
		case "sensitive_values":
			marked = value[child.Start:child.End]
		case "values":
			values = value[child.Start:child.End]
		}
		return nil
	})
	parseMarks(marked).collectFrom(values, p.addResource)
	return err
}

// takeProvider learns the credentials that stand in the configuration of a provider.
func (p *parser) takeProvider(value []byte) error {
	expressions, marks, err := credentials(value)
	marks.collectFrom(expressions, p.addWide)
	return err
}

func (p *parser) takeOutputValue(value []byte) error {
	if string(member(value, "sensitive")) == "true" {
		collectAll(member(value, "value"), p.addWide)
	}
	return nil
}

// member is the text of an object's member, nil if there is none. The value came out of a
// decoder, so it has no errors.
func member(value []byte, name string) (text []byte) {
	_ = jsonscan.Children(value, func(child jsonscan.Child) error {
		if string(child.Name) == name {
			text = value[child.Start:child.End]
		}
		return nil
	})
	return text
}

// finish is called at the plan's end, when all that is sensitive is known.
func (p *parser) finish(sum hash.Hash) (*Plan, error) {
	plan := p.plan
	if err := p.end(sum); err != nil {
		return nil, err
	}
	plan.Outline = plan.hidden.outline.Sum()
	for i := range plan.hidden.exact {
		x := &plan.hidden.exact[i]
		if x.mode == "output" {
			plan.Outputs = append(plan.Outputs, p.output(x))
			continue
		}
		plan.Changes = append(plan.Changes, p.change(x))
	}
	for i := range p.drift {
		plan.Drift = append(plan.Drift, p.change(&p.drift[i]))
	}
	if plan.hidden.options.RefreshOnly {
		plan.hidden.exact = append(plan.hidden.exact, p.drift...)
	}
	slices.SortFunc(plan.Outputs, func(a, b OutputChange) int { return strings.Compare(a.Name, b.Name) })
	plan.Checks = p.checkResults()
	return plan, nil
}

// end looks at what could be told at the plan's end only: after it, all that is sensitive is known.
func (p *parser) end(sum hash.Hash) error {
	if p.secrets.full {
		return tooLarge("the plan's JSON has more than %d sensitive values", maxEntries)
	}
	if major, _, _ := strings.Cut(p.plan.FormatVersion, "."); major != "1" {
		return invalid("its format_version is %.20q, and only 1 is understood", p.plan.FormatVersion)
	}
	for name := range p.sensitive {
		collectAll(p.variables[name], p.addWide)
	}
	p.secrets.addForms(p.called)
	p.plan.hidden.source = [32]byte(sum.Sum(nil))
	p.plan.hidden.known(p.sensitive)
	return nil
}

func (p *parser) masker(x *exact) masker {
	here := newSecrets()
	x.collect(here.add)
	return masker{everywhere: p.secrets, here: here}
}

// change is the masked form of a change.
func (p *parser) change(x *exact) Change {
	m, marks := p.masker(x), x.marks()
	return Change{
		Address: m.key(x.address), PreviousAddress: m.key(x.previous), Deposed: x.deposed, Mode: x.mode, Type: x.typ,
		Name: x.name, Provider: x.provider, Actions: x.actions, ActionReason: x.reason,
		ReplacePaths: replacePaths(x.replacePaths, m),
		Importing:    importing(x.importing, m),
		Before:       json.RawMessage(m.value(x.before, marks)), After: json.RawMessage(m.value(x.after, marks)),
		AfterUnknown: json.RawMessage(x.unknown),
	}
}

func (p *parser) output(x *exact) OutputChange {
	m, marks := masker{everywhere: p.secrets}, x.marks()
	return OutputChange{Name: x.address, Actions: x.actions, Sensitive: marks != nil,
		Before: json.RawMessage(m.value(x.before, marks)), After: json.RawMessage(m.value(x.after, marks)),
		AfterUnknown: json.RawMessage(x.unknown)}
}

func replacePaths(array []byte, m masker) (list []string) {
	_ = jsonscan.Children(array, func(child jsonscan.Child) error {
		list = append(list, m.key(path(array[child.Start:child.End])))
		return nil
	})
	return list
}

func importing(object []byte, m masker) *Importing {
	if object == nil {
		return nil
	}
	i := &Importing{ID: unquoted(member(object, "id"))}
	if m.hidesText([]byte(i.ID)) {
		i.ID = "(sensitive)"
	}
	if identity := member(object, "identity"); identity != nil {
		i.Identity = json.RawMessage(m.value(identity, nil))
	}
	return i
}

// checkResults reads the checks, whose messages people write.
func (p *parser) checkResults() (list []Check) {
	var results []struct {
		Address struct {
			Kind string `json:"kind"`
			Text string `json:"to_display"`
		} `json:"address"`
		Status    string `json:"status"`
		Instances []struct {
			Problems []struct {
				Message string `json:"message"`
			} `json:"problems"`
		} `json:"instances"`
	}
	if len(p.checks) == 0 || json.Unmarshal(p.checks, &results) != nil {
		return nil
	}
	for _, result := range results {
		check := Check{Address: result.Address.Text, Kind: result.Address.Kind, Status: result.Status}
		for _, instance := range result.Instances {
			for _, problem := range instance.Problems {
				if p.secrets.in([]byte(problem.Message)) {
					problem.Message = "(sensitive)"
				}
				check.Problems = append(check.Problems, problem.Message)
			}
		}
		list = append(list, check)
	}
	return list
}
