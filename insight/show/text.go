package show

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/api"
)

// The block's first and last line.
const (
	firstLine = "─── Insights ─────────────────────────────"
	lastLine  = "──────────────────────────────────────────"
)

// maxLines is how many things of a kind the block lists.
const maxLines = 100

// Text writes an insight as a block for people.
func Text(w io.Writer, all api.Insight) error {
	b := &block{w: bufio.NewWriter(w)}
	b.line(firstLine)
	b.changes(all.Facts)
	b.costs(all.Costs)
	b.dangers(all.Facts.Irreversible)
	b.findings("⚠ Security Issues:", all.Findings, func(f api.InsightFinding) bool {
		return f.Waived == nil && !f.Standing
	})
	b.findings("Issues of what the plan leaves as it is:", all.Findings, func(f api.InsightFinding) bool {
		return f.Waived == nil && f.Standing
	})
	b.waived(all.Findings)
	b.broken(all.Broken)
	b.model(all.Model)
	if all.Cut {
		b.line("")
		b.line("There is more than is shown here.")
	}
	if len(all.Reasons) > 0 {
		b.line("")
		b.line("Approve with care: %s.", strings.Join(all.Reasons, "; "))
	}
	b.line(lastLine)
	return b.w.Flush()
}

// block writes lines. What goes wrong, Flush says.
type block struct{ w *bufio.Writer }

func (b *block) line(format string, args ...any) { fmt.Fprintf(b.w, format+"\n", args...) }

// rest says how many are not listed.
func (b *block) rest(n int) {
	if n > maxLines {
		b.line("  … and %d more", n-maxLines)
	}
}

func (b *block) changes(f api.InsightFacts) {
	b.line("Changes: +%d added, ~%d changed, -%d destroyed", f.Counts.Add, f.Counts.Change, f.Counts.Destroy)
	listed := f.Changes
	if total(f) > maxLines {
		listed = gravestFirst(f.Changes)[:min(len(f.Changes), maxLines)]
	}
	for _, c := range listed {
		b.line("  %s %s%s", mark(c.Kind), cut(c.Address), note(c))
	}
	b.rest(total(f))
	if len(f.Drift) == 0 {
		return
	}
	b.line("")
	b.line("Changed outside, before this plan:")
	for _, c := range f.Drift[:min(len(f.Drift), maxLines)] {
		b.line("  ≠ %s%s", cut(c.Address), note(c))
	}
	b.rest(max(len(f.Drift), f.Counts.Drift))
}

// mark is a change's sign.
func mark(kind string) string {
	signs := map[string]string{"create": "+", "update": "~", "replace": "±", "delete": "-", "move": "→", "import": "↓",
		"forget": ".", "read": "<"}
	if sign, ok := signs[kind]; ok {
		return sign
	}
	return "?"
}

// note is what else there is to say of a change.
func note(c api.InsightChange) string {
	var notes []string
	add := func(format string, args ...any) { notes = append(notes, fmt.Sprintf(format, args...)) }
	switch {
	case len(c.Because) > 0:
		add("replaced because of %s", strings.Join(c.Because, ", "))
	case c.Kind == "update" && len(c.Attributes) > 0:
		add("%s changed", strings.Join(c.Attributes, ", "))
	}
	if c.Previous != "" {
		add("was %s", c.Previous)
	}
	switch {
	case c.Kind == "create":
	case c.Dependents == 1:
		add("1 other depends on it")
	case c.Dependents > 1:
		add("%d others depend on it", c.Dependents)
	}
	if len(notes) == 0 {
		return ""
	}
	return " (" + cut(strings.Join(notes, "; ")) + ")"
}

func (b *block) costs(c api.InsightCosts) {
	if len(c.Estimated)+len(c.Unpriced) == 0 {
		return
	}
	b.line("")
	b.line("Estimated Cost: %s/mo (%s)", c.TotalMonthly, c.DeltaMonthly)
	width := 0
	listed := c.Estimated[:min(len(c.Estimated), maxLines)]
	for _, one := range listed {
		width = max(width, min(utf8.RuneCountInString(cut(one.Resource)), 60))
	}
	for _, one := range listed {
		note := ""
		if one.Note != "" {
			note = "; " + one.Note
		}
		b.line("  %-*s  %10s/mo  (%s%s)", width, cut(one.Resource), one.MonthlyCost, cut(one.Source), cut(note))
	}
	b.rest(len(c.Estimated))
	if n := len(c.Unpriced); n > 0 {
		names := make([]string, 0, 3)
		for _, name := range c.Unpriced[:min(n, 3)] {
			names = append(names, cut(name))
		}
		b.line("  No price is known of %d: %s%s", n, strings.Join(names, ", "), more(n > 3))
	}
}

func more(yes bool) string {
	if yes {
		return ", …"
	}
	return ""
}

func (b *block) dangers(list []api.InsightDanger) {
	if len(list) == 0 {
		return
	}
	b.line("")
	b.line("⚠ Cannot be undone:")
	for _, d := range list[:min(len(list), maxLines)] {
		b.line("  %s — %s", cut(d.Resource), cut(d.Reason))
	}
	b.rest(len(list))
}

func (b *block) findings(title string, all []api.InsightFinding, of func(api.InsightFinding) bool) {
	list := slices.DeleteFunc(slices.Clone(all), func(f api.InsightFinding) bool { return !of(f) })
	if len(list) == 0 {
		return
	}
	b.line("")
	b.line("%s", title)
	for _, f := range list[:min(len(list), maxLines)] {
		label := "[" + strings.ToUpper(f.Severity) + "]"
		b.line("  %s %s — %s", label, cut(orNothing(f.Resource)), cut(f.Description))
		b.line("  %*s Recommendation: %s", len(label), "", cut(recommended(f)))
	}
	b.rest(len(list))
}

// recommended is what to do about a finding, with the rule to look up.
func recommended(f api.InsightFinding) string {
	return strings.TrimSpace(strings.TrimSuffix(f.Recommendation, ".") + " (" + ruleName(f) + ")")
}

// ruleName is the rule's identifier, behind the program that has it where that is another one.
func ruleName(f api.InsightFinding) string { return strings.TrimSpace(f.Tool + " " + f.Rule) }

func orNothing(text string) string {
	if text == "" {
		return "the plan"
	}
	return text
}

func (b *block) waived(all []api.InsightFinding) {
	first := true
	for _, f := range all {
		if f.Waived == nil {
			continue
		}
		if first {
			b.line("")
			b.line("Waived:")
			first = false
		}
		b.line("  %s %s — %s until %s: %s", cut(f.Rule), cut(orNothing(f.Resource)), cut(f.Waived.Owner),
			cut(f.Waived.Expires),
			cut(f.Waived.Reason))
	}
}

func (b *block) broken(list []api.InsightBroken) {
	if len(list) == 0 {
		return
	}
	b.line("")
	b.line("⚠ Rules that could not be asked, which counts as a grave finding:")
	for _, one := range list[:min(len(list), maxLines)] {
		b.line("  %s — %s", cut(one.Rule), cut(one.Reason))
	}
	b.rest(len(list))
}
