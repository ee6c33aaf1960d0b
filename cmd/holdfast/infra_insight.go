package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

// plannedChange is what a plan does to one resource.
type plannedChange struct {
	address string
	actions []string
	keys    []string // the attributes that an update changes, where they are known
}

// previewed is what people see of a plan.
type previewed struct {
	counts  api.ProjectCounts
	changes []plannedChange
	cut     bool // there are more changes
	insight *api.ProjectInsight
}

// previewOf is what a run's plan would do, and what is known of it.
func previewOf(run api.ProjectRun) previewed {
	p := previewed{insight: run.AISummary}
	if run.PlanJSON != nil {
		p.cut = run.PlanJSON.Cut
		for _, c := range run.PlanJSON.ResourceChanges {
			p.changes = append(p.changes, plannedChange{address: c.Address, actions: c.Change.Actions,
				keys: changedKeys(c.Change)})
		}
	}
	if run.Counts != nil {
		p.counts = *run.Counts
	}
	return p
}

// changedKeys are the attributes that differ, where a change shows its values.
func changedKeys(c api.ProjectChangeValues) (keys []string) {
	var before, after, unknown map[string]json.RawMessage
	if json.Unmarshal(c.Before, &before) != nil || json.Unmarshal(c.After, &after) != nil {
		return nil
	}
	_ = json.Unmarshal(c.AfterUnknown, &unknown) // true alone means all of it, and names nothing
	for key := range before {
		if _, still := after[key]; !still {
			keys = append(keys, key)
		}
	}
	for key, value := range after {
		if !bytes.Equal(value, before[key]) {
			keys = append(keys, key)
		}
	}
	for key, value := range unknown {
		if string(value) != "false" && string(value) != "{}" && string(value) != "[]" {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

const (
	insightHead = "─── AI Insights ──────────────────────────\n"
	insightFoot = "──────────────────────────────────────────\n"
	// costGap stands between the longest resource with a cost and the widest cost.
	costGap = 5
)

// insightText is what is known of a plan. What changes is always known; it stands between rules
// where there is more than that.
func insightText(p previewed, paint painter) string {
	text := changesText(p, paint)
	if p.insight == nil {
		return text
	}
	for _, part := range []string{costText(p.insight.Costs), issuesText(p.insight.Security.Issues, paint)} {
		if part != "" {
			text += "\n" + part
		}
	}
	return insightHead + text + insightFoot
}

// questionText is what is known of a plan that somebody is asked about: what is not safe in it
// comes last.
func questionText(p previewed, paint painter) string {
	text := changesText(p, paint)
	if p.insight == nil {
		return text
	}
	for _, part := range []string{costText(p.insight.Costs), gateText(p.insight.Security.Issues, paint)} {
		if part != "" {
			text += "\n" + part
		}
	}
	return text
}

// changesText counts what a plan changes, and lists it: first what is added, then what is changed.
func changesText(p previewed, paint painter) string {
	var text strings.Builder
	fmt.Fprintf(&text, "Changes: +%d added, ~%d changed, -%d destroyed\n", p.counts.Added, p.counts.Changed,
		p.counts.Destroyed)
	for _, wanted := range []string{"+", "~", "-/+", "+/-", "-"} {
		for _, c := range p.changes {
			mark, colour := markOf(c.actions)
			if mark != wanted {
				continue
			}
			note := ""
			if mark == "~" && len(c.keys) > 0 {
				note = " (" + strings.Join(c.keys, ", ") + " changed)"
			}
			fmt.Fprintf(&text, "  %s %s\n", paint(colour, mark), printable.Text(c.address+note))
		}
	}
	if p.cut {
		text.WriteString("  … and more, which is not kept\n")
	}
	return text.String()
}

// costText is what a plan's resources cost, empty where nobody knows.
func costText(costs api.ProjectCosts) string {
	if costs.TotalMonthly == "" {
		return ""
	}
	var lines [][3]string
	for _, c := range costs.Estimated {
		lines = append(lines, [3]string{printable.Text(c.Resource), money(c.MonthlyCost) + "/mo", c.Source})
	}
	for _, c := range costs.AIEstimated {
		lines = append(lines, [3]string{printable.Text(c.Resource), money(c.MonthlyCost) + "/mo",
			"AI estimate, " + c.Confidence + " confidence"})
	}
	text := "Estimated Cost: " + money(costs.TotalMonthly) + "/mo"
	if costs.DeltaMonthly != "" {
		text += " (" + signed(money(costs.DeltaMonthly)) + ")"
	}
	names, sums := 0, 0
	for _, line := range lines {
		names, sums = max(names, shownWidth(line[0])), max(sums, shownWidth(line[1]))
	}
	text += "\n"
	for _, line := range lines {
		text += "  " + pad(line[0], names+costGap) + strings.Repeat(" ", sums-shownWidth(line[1])) + line[1] +
			"  (" + printable.Text(line[2]) + ")\n"
	}
	return text
}

// money is an amount as it is shown, whether or not it came with its currency and period.
func money(amount string) string {
	amount = strings.TrimSuffix(strings.TrimSpace(printable.Text(amount)), "/mo")
	sign := ""
	if amount != "" && (amount[0] == '+' || amount[0] == '-') {
		sign, amount = amount[:1], amount[1:]
	}
	if amount != "" && amount[0] >= '0' && amount[0] <= '9' {
		amount = "$" + amount
	}
	return sign + amount
}

// signed says of a difference that it is more, unless it says that it is less.
func signed(amount string) string {
	if strings.HasPrefix(amount, "+") || strings.HasPrefix(amount, "-") {
		return amount
	}
	return "+" + amount
}

// issuesText lists what is not safe in a plan, and what to do about it.
func issuesText(issues []api.ProjectIssue, paint painter) string {
	if len(issues) == 0 {
		return ""
	}
	text := paint(yellow, warning+"Security Issues:") + "\n"
	for _, issue := range issues {
		text += issueLine(issue, paint)
		if issue.Recommendation != "" {
			text += strings.Repeat(" ", 2+shownWidth(severityOf(issue))+1) + "Recommendation: " +
				printable.Text(issue.Recommendation) + "\n"
		}
	}
	return text
}

// gateText lists what is not safe in a plan for whom is asked whether to apply it.
func gateText(issues []api.ProjectIssue, paint painter) string {
	if len(issues) == 0 {
		return ""
	}
	text := paint(yellow, warning+"Security issues detected in latest plan:") + "\n"
	for _, issue := range issues {
		text += issueLine(issue, paint)
	}
	return text
}

func issueLine(issue api.ProjectIssue, paint painter) string {
	return "  " + paint(colourOf(issue.Severity), severityOf(issue)) + " " +
		printable.Text(issue.Resource+" — "+issue.Description) + "\n"
}

func severityOf(issue api.ProjectIssue) string {
	return "[" + strings.ToUpper(printable.Text(issue.Severity)) + "]"
}

// colourOf is the colour of a severity.
func colourOf(severity string) string {
	switch strings.ToLower(severity) {
	case "critical", "high":
		return red
	case "medium":
		return yellow
	}
	return bold
}
