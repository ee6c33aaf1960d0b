package insight

import (
	"fmt"

	"github.com/holdfast/holdfast/insight/rules"
)

// Why people have to look at a plan, as an insight says it, and a gate that holds the plan for it.

// findingsText is for so many findings of a severity, or a graver one.
func findingsText(n int, least string) string {
	if least == rules.High {
		least = "high or critical"
	}
	return countedAs(n, "finding", "findings") + " of " + least + " severity"
}

// brokenText is for so many rules.
func brokenText(n int) string {
	return countedAs(n, "rule that could not be asked", "rules that could not be asked")
}

// undoneText is for so many changes.
func undoneText(n int) string {
	return countedAs(n, "change that can't be undone", "changes that can't be undone")
}

func countedAs(n int, one, more string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, more)
}
