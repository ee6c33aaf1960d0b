package show

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/holdfast/holdfast/api"
)

// maxRows is how many rows a table in Markdown has: comments may have so many bytes only.
const maxRows = 50

// Markdown writes an insight as a comment for a pull request.
func Markdown(w io.Writer, all api.Insight) error {
	b := &block{w: bufio.NewWriter(w)}
	b.line("## Insight")
	b.line("")
	b.line("%s", all.Summary)
	issues := 0
	for _, f := range all.Findings {
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
	if n := min(len(all.Facts.Changes), maxRows); n > 0 {
		b.line("\n<details><summary>Changes</summary>\n")
		for _, c := range all.Facts.Changes[:n] {
			b.line("- %s %s%s", c.Kind, Code(c.Address), becauseOf(c))
		}
		b.line("\n</details>")
	}
	if n := min(len(all.Costs.Estimated), maxRows); n > 0 {
		b.line("\n<details><summary>Cost: %s per month (%s)</summary>\n", all.Costs.TotalMonthly, all.Costs.DeltaMonthly)
		for _, c := range all.Costs.Estimated[:n] {
			b.line("- %s: %s per month (%s), %s", Code(c.Resource), c.MonthlyCost, c.Delta, Plain(c.Source))
		}
		b.line("\n</details>")
	}
	return b.w.Flush()
}

func ruleLink(f api.InsightFinding) string {
	if strings.HasPrefix(f.Link, "https://") && !strings.ContainsAny(f.Link, " ()<>|`\n") {
		return fmt.Sprintf("[%s](%s)", Plain(f.Rule), f.Link)
	}
	return Plain(f.Rule)
}

func becauseOf(c api.InsightChange) string {
	if len(c.Because) == 0 {
		return ""
	}
	return " because of " + Code(strings.Join(c.Because, ","))
}
