package insight

import (
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/show"
)

// maxWords is how many words a summary has at most.
const maxWords = 199

// named is how many things of a kind a summary names.
const named = 3

// summary says in Markdown what matters most of an insight.
func summary(all api.Insight) string {
	w := &words{}
	c := all.Facts.Counts
	if !c.Any {
		w.line("**Nothing changes.**")
	} else {
		w.line("**%s**", show.Counts(c))
	}
	w.things("Can't be undone", len(all.Facts.Irreversible), func(i int) string {
		return show.Code(all.Facts.Irreversible[i].Resource) + ": " + show.Plain(all.Facts.Irreversible[i].Reason)
	})
	w.things("Security", len(all.Security.Issues), func(i int) string {
		issue := all.Security.Issues[i]
		return fmt.Sprintf("%s, %s: %s", issue.Severity, show.Code(issue.Resource), show.Plain(issue.Description))
	})
	w.things("Rules that could not be asked", len(all.Broken), func(i int) string {
		return show.Code(all.Broken[i].Rule) + ": " + show.Plain(all.Broken[i].Reason)
	})
	if far := farthest(all.Facts.Changes); far != nil {
		w.line("- Most depends on %s (%d).", show.Code(far.Address), far.Dependents)
	}
	if n := len(all.Facts.Drift); n > 0 {
		w.line("- Changed outside before this plan: %d.", n)
	}
	if len(all.Costs.Estimated) > 0 {
		w.line("- Cost: %s per month (%s).", all.Costs.TotalMonthly, all.Costs.DeltaMonthly)
	}
	if n := len(all.Costs.Unpriced); n > 0 {
		w.line("- Without a known price: %d.", n)
	}
	if len(all.Reasons) > 0 {
		w.line("Needs approval or attention: %s.", strings.Join(all.Reasons, "; "))
	}
	return strings.TrimRight(w.text.String(), "\n")
}

// farthest is the change of existing things on which the most depends; nil where nothing does.
func farthest(changes []api.InsightChange) (far *api.InsightChange) {
	for i, c := range changes {
		if (c.Kind == "delete" || c.Kind == "replace" || c.Kind == "update") && c.Dependents > 0 &&
			(far == nil || c.Dependents > far.Dependents) {
			far = &changes[i]
		}
	}
	return far
}

// words is a text that is not longer than it may be.
type words struct {
	text strings.Builder
	n    int
}

// line adds a line, unless it is too long by now.
func (w *words) line(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	n := len(strings.Fields(text))
	if w.n+n > maxWords {
		return
	}
	w.n += n
	w.text.WriteString(text + "\n")
}

// things names the first few of a list.
func (w *words) things(title string, n int, name func(i int) string) {
	for i := range min(n, named) {
		w.line("- %s: %s", title, name(i))
	}
	if n > named {
		w.line("- %s: and %d more", title, n-named)
	}
}
