package model

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/holdfast/holdfast/api"
)

const (
	maxWords    = 199
	maxSummary  = 4000 // bytes
	maxText     = 300  // bytes of another text
	maxCosts    = 50
	maxFindings = 20
	mostMonthly = 1e7 // dollars that are believed of one resource
)

// answer is what the model is to say.
type answer struct {
	Summary string `json:"summary"`
	Costs   []struct {
		Resource   string   `json:"resource"`
		Monthly    *float64 `json:"monthly_cost"`
		Confidence string   `json:"confidence"`
	} `json:"costs"`
	Findings []struct {
		Resource       string `json:"resource"`
		Severity       string `json:"severity"`
		Title          string `json:"title"`
		Recommendation string `json:"recommendation"`
	} `json:"findings"`
}

// read takes from a model's answer what it may say: costs of resources that have no price, and findings of resources
// that change.
func read(text string, all api.Insight) (*api.InsightModel, error) {
	text = strings.TrimSpace(text)
	if inner, fenced := strings.CutPrefix(text, "```json"); fenced {
		text = strings.TrimSuffix(strings.TrimSpace(inner), "```")
	}
	var said answer
	if json.Unmarshal([]byte(text), &said) != nil {
		return nil, errors.New("the model's answer was no JSON")
	}
	made := &api.InsightModel{Summary: summary(said.Summary), Costs: []api.InsightAICost{},
		Findings: []api.InsightIssue{}}
	if made.Summary == "" {
		return nil, errors.New("the model's answer has no summary, or one that is too long")
	}
	for _, c := range said.Costs {
		known := slices.Contains(all.Costs.Unpriced, c.Resource) && !slices.ContainsFunc(made.Costs,
			func(o api.InsightAICost) bool { return o.Resource == c.Resource })
		if known && c.Monthly != nil && *c.Monthly >= 0 && *c.Monthly <= mostMonthly && isConfidence(c.Confidence) &&
			len(made.Costs) < maxCosts {
			made.Costs = append(made.Costs, api.InsightAICost{Resource: c.Resource,
				MonthlyCost: fmt.Sprintf("$%.2f", *c.Monthly), Confidence: c.Confidence})
		}
	}
	for _, f := range said.Findings {
		title := line(f.Title)
		if !isChanged(all, f.Resource) || !isSeverity(f.Severity) || title == "" || len(made.Findings) == maxFindings {
			continue
		}
		made.Findings = append(made.Findings, api.InsightIssue{Severity: f.Severity, Resource: f.Resource, Description: title,
			Recommendation: line(f.Recommendation)})
	}
	return made, nil
}

func isConfidence(text string) bool { return slices.Contains([]string{"low", "medium", "high"}, text) }

func isSeverity(text string) bool {
	return slices.Contains([]string{"low", "medium", "high", "critical"}, text)
}

func isChanged(all api.Insight, address string) bool {
	return slices.ContainsFunc(all.Facts.Changes, func(c api.InsightChange) bool { return c.Address == address })
}

// summary is the model's words, if they are as many as may be; empty else. They have no links, no HTML and nothing
// that does something to a terminal.
func summary(text string) string {
	if len(text) > maxSummary || len(strings.Fields(text)) > maxWords {
		return ""
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\n':
			return r
		case strings.ContainsRune("<>[]", r):
			return -1
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "")))
}

// line is a text of one line, cut where it is long.
func line(text string) string {
	text = strings.Join(strings.Fields(summary(strings.ToValidUTF8(text[:min(len(text), 2*maxText)], ""))), " ")
	if len(text) > maxText {
		text = strings.ToValidUTF8(text[:maxText], "") + "…"
	}
	return text
}
