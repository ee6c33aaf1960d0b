package plan

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/holdfast/holdfast/internal/printable"
)

// Colours are the escape sequences of a terminal; the zero value has none.
type Colours struct{ Green, Yellow, Red, Reset string }

// Terminal are the colours of terminals.
func Terminal() Colours {
	return Colours{"\x1b[32m", "\x1b[33m", "\x1b[31m", "\x1b[0m"}
}

// Show writes a plan for people: each change with its attributes, and how many there are.
func (p *Plan) Show(w io.Writer, colours Colours) error {
	var b strings.Builder
	for _, d := range p.Drift {
		fmt.Fprintf(&b, "%s was %s outside\n", d.Address, map[Action]string{Delete: "deleted"}[d.Action]+
			map[Action]string{Update: "changed"}[d.Action])
	}
	for _, c := range p.Changes {
		if c.Action != NoOp || c.Moved != "" || c.Imported != "" {
			c.show(&b, colours)
		}
	}
	for _, o := range p.Outputs {
		if o.Action != NoOp {
			after, before := text(o.After, o.Sensitive), text(o.Before, o.Sensitive || p.Recorded.Outputs[o.Name].Sensitive)
			fmt.Fprintf(&b, "  %s output %s: %s -> %s\n", symbol(o.Action, colours), o.Name, before, after)
		}
	}
	if p.Empty() {
		b.WriteString("No changes. What there is matches the configuration.\n")
	} else {
		b.WriteString("\n" + p.Summary() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Summary says how much a plan does.
func (p *Plan) Summary() string {
	imported := ""
	if n := p.Imports(); n > 0 {
		imported = fmt.Sprintf("%d to import, ", n)
	}
	add, change, destroy := p.Count()
	return fmt.Sprintf("Plan: %s%d to add, %d to change, %d to destroy.", imported, add, change, destroy)
}

func symbol(a Action, c Colours) string {
	switch a {
	case Create:
		return c.Green + "+" + c.Reset
	case Update:
		return c.Yellow + "~" + c.Reset
	case Delete:
		return c.Red + "-" + c.Reset
	case DeleteThenCreate:
		return c.Red + "-" + c.Reset + "/" + c.Green + "+" + c.Reset
	case CreateBeforeDestroy:
		return c.Green + "+" + c.Reset + "/" + c.Red + "-" + c.Reset
	case Read:
		return "<="
	case Forget:
		return "."
	}
	return " "
}

func (c *Change) show(b *strings.Builder, colours Colours) {
	fmt.Fprintf(b, "  %s %s", symbol(c.Action, colours), c.Address)
	if c.Deposed != "" {
		fmt.Fprintf(b, " (deposed %s)", c.Deposed)
	}
	if c.Reason != "" {
		fmt.Fprintf(b, " (%s)", c.Reason)
	}
	if c.Moved != "" {
		fmt.Fprintf(b, " (moved from %s)", c.Moved)
	}
	if c.Imported != "" {
		fmt.Fprintf(b, " (imported as %q)", c.Imported)
	}
	b.WriteString("\n")
	if c.Action == Delete || c.Action == Forget || c.Action == NoOp {
		return
	}
	before, after := attributes(c.Before), attributes(c.After)
	hidden := attributesOf(slices.Concat(c.Sensitive, c.Schema.SensitivePaths(c.After)))
	hiddenBefore := attributesOf(slices.Concat(c.PriorSensitive, c.Schema.SensitivePaths(c.Before)))
	forced := attributesOf(c.RequiresReplace)
	for _, name := range slices.Sorted(maps.Keys(after)) {
		old, had := before[name]
		now := after[name]
		if had && old.RawEquals(now) || !had && now.IsKnown() && now.IsNull() {
			continue
		}
		line := text(now, hidden[name])
		if had {
			line = text(old, hidden[name] || hiddenBefore[name]) + " -> " + line
		}
		if forced[name] {
			line += " (replaces)"
		}
		fmt.Fprintf(b, "      %s: %s\n", name, line)
	}
}

// attributesOf are the attributes that paths lead into.
func attributesOf(paths []cty.Path) map[string]bool {
	all := map[string]bool{}
	for _, path := range paths {
		if len(path) == 0 {
			continue
		}
		if step, ok := path[0].(cty.GetAttrStep); ok {
			all[step.Name] = true
		}
	}
	return all
}

func attributes(v cty.Value) map[string]cty.Value {
	if v == cty.NilVal || v.IsNull() || !v.IsKnown() {
		return nil
	}
	return v.AsValueMap()
}

// text is a value for people.
func text(v cty.Value, sensitive bool) string {
	switch {
	case sensitive:
		return "(sensitive value)"
	case v == cty.NilVal || v.IsKnown() && v.IsNull():
		return "null"
	case !v.IsWhollyKnown():
		return "(known after apply)"
	}
	b, err := ctyjson.Marshal(v, v.Type())
	if err != nil {
		return "(a value)"
	}
	return printable.Text(string(b)) // JSON leaves some characters that terminals act on as they are
}
