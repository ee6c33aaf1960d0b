package show

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/facts"
)

// maxRows is how many rows a table in Markdown has: comments may have so many bytes only.
const maxRows = 50

// Markdown writes an insight as a comment for a pull request.
func Markdown(w io.Writer, all api.Insight) error {
	return MarkdownAs(w, all, Manner{Heading: "## Insight", Folds: true})
}

// Manner is how an insight is written in Markdown.
type Manner struct {
	Heading string // a line; empty for none
	Folds   bool   // what is long is folded, where it is shown by somebody who knows HTML
}

// MarkdownAs is Markdown in a manner of one's own.
func MarkdownAs(w io.Writer, all api.Insight, manner Manner) error {
	b := &block{w: bufio.NewWriter(w)}
	if manner.Heading != "" {
		b.line("%s\n", manner.Heading)
	}
	b.line("%s", all.Summary)
	b.tableOf(all.Findings)
	if n := min(len(all.Facts.Changes), maxRows); n > 0 {
		b.folded(manner, "Changes", func() {
			for _, c := range gravestFirst(all.Facts.Changes)[:n] {
				b.line("- %s %s%s", c.Kind, Code(c.Address), becauseOf(c))
			}
			b.unlisted(total(all.Facts) - n)
		})
	}
	if n := min(len(all.Costs.Estimated), maxRows); n > 0 {
		title := fmt.Sprintf("Cost: %s per month (%s)", all.Costs.TotalMonthly, all.Costs.DeltaMonthly)
		b.folded(manner, title, func() {
			for _, c := range all.Costs.Estimated[:n] {
				b.line("- %s: %s per month (%s), %s", Code(c.Resource), c.MonthlyCost, c.Delta, Plain(c.Source))
			}
			b.unlisted(len(all.Costs.Estimated) - n)
		})
	}
	if all.Model != nil {
		title := "What the model " + Plain(all.Model.Model) + " says, which is no fact"
		b.folded(manner, title, func() { b.modelList(all.Model) })
	}
	if all.Cut {
		b.line("\nThere is more than is shown here.")
	}
	return b.w.Flush()
}

// total is how many changes there are, of which those that are listed may be some.
func total(f api.InsightFacts) int { return max(f.Total, len(f.Changes)) }

// gravestFirst are changes in the order in which somebody has to see them.
func gravestFirst(all []api.InsightChange) []api.InsightChange {
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b api.InsightChange) int {
		return cmp.Compare(facts.Gravity(a.Kind), facts.Gravity(b.Kind))
	})
	return all
}

// tableOf lists the findings that somebody has to look at.
func (b *block) tableOf(all []api.InsightFinding) {
	issues := 0
	for _, f := range all {
		if f.Waived != nil || f.Standing {
			continue
		}
		if issues++; issues > maxRows {
			continue
		}
		if issues == 1 {
			b.line("\n| Severity | Rule | Resource | Finding | Recommendation |\n|---|---|---|---|---|")
		}
		b.line("| %s | %s | %s | %s | %s |", f.Severity, ruleLink(f), Code(f.Resource), Plain(f.Description),
			Plain(f.Recommendation))
	}
	if issues > maxRows {
		b.line("\nAnd %d more.", issues-maxRows)
	}
}

// unlisted says how many there are that a list does not show.
func (b *block) unlisted(n int) {
	if n > 0 {
		b.line("- and %d more", n)
	}
}

// folded writes a part under a title.
func (b *block) folded(manner Manner, title string, part func()) {
	if !manner.Folds {
		b.line("\n**%s**\n", title)
		part()
		return
	}
	b.line("\n<details><summary>%s</summary>\n", title)
	part()
	b.line("\n</details>")
}

func ruleLink(f api.InsightFinding) string {
	if strings.HasPrefix(f.Link, "https://") && !strings.ContainsAny(f.Link, " ()<>|`\\\"@\n") {
		return fmt.Sprintf("[%s](%s)", Plain(ruleName(f)), f.Link)
	}
	return Plain(ruleName(f))
}

func becauseOf(c api.InsightChange) string {
	if len(c.Because) == 0 {
		return ""
	}
	return " because of " + Code(strings.Join(c.Because, ","))
}
