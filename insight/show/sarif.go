package show

import (
	"encoding/json"
	"io"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

// The shapes of SARIF 2.1.0, as far as findings need them.
type (
	sarifLog struct {
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver sarifDriver `json:"driver"`
		} `json:"tool"`
		Results     []sarifResult `json:"results"`
		Invocations []sarifCall   `json:"invocations"`
	}
	sarifDriver struct {
		Name    string      `json:"name"`
		Version string      `json:"version,omitempty"`
		Rules   []sarifRule `json:"rules"`
	}
	sarifRule struct {
		ID         string    `json:"id"`
		Short      sarifText `json:"shortDescription"`
		Help       sarifText `json:"help"`
		HelpURI    string    `json:"helpUri,omitempty"`
		Properties struct {
			Severity string   `json:"security-severity"`
			Tags     []string `json:"tags"`
		} `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string             `json:"ruleId"`
		Index        int                `json:"ruleIndex"`
		Level        string             `json:"level"`
		Message      sarifText          `json:"message"`
		Locations    []sarifLocation    `json:"locations"`
		Suppressions []sarifSuppression `json:"suppressions,omitempty"`
		State        string             `json:"baselineState,omitempty"`
	}
	sarifLocation struct {
		Physical struct {
			Artifact struct {
				URI string `json:"uri"`
			} `json:"artifactLocation"`
			Region struct {
				Line int `json:"startLine"`
			} `json:"region"`
		} `json:"physicalLocation"`
		Logical []sarifLogical `json:"logicalLocations"`
	}
	sarifLogical struct {
		Name string `json:"fullyQualifiedName"`
		Kind string `json:"kind"`
	}
	sarifSuppression struct {
		Kind          string `json:"kind"`
		Justification string `json:"justification"`
	}
	sarifCall struct {
		Successful    bool          `json:"executionSuccessful"`
		Notifications []sarifNotice `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotice struct {
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
)

// SARIF writes an insight's findings as SARIF 2.1.0. file is the plan they are about, as a path.
func SARIF(w io.Writer, all api.Insight, file, version string) error {
	run := sarifRun{Results: []sarifResult{}}
	run.Tool.Driver = sarifDriver{Name: "holdfast", Version: version, Rules: []sarifRule{}}
	places := map[string]int{}
	for _, f := range all.Findings {
		if _, known := places[f.Rule]; !known {
			places[f.Rule] = len(run.Tool.Driver.Rules)
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRuleOf(f))
		}
		run.Results = append(run.Results, sarifResultOf(f, places[f.Rule], file))
	}
	call := sarifCall{Successful: len(all.Broken) == 0}
	for _, b := range all.Broken {
		call.Notifications = append(call.Notifications, sarifNotice{"error",
			sarifText{printable.Text(b.Rule + " could not be asked: " + b.Reason)}})
	}
	run.Invocations = []sarifCall{call}
	out := json.NewEncoder(w)
	out.SetIndent("", "  ")
	return out.Encode(sarifLog{"https://json.schemastore.org/sarif-2.1.0.json", "2.1.0", []sarifRun{run}})
}

func sarifRuleOf(f api.InsightFinding) sarifRule {
	rule := sarifRule{ID: f.Rule, Short: sarifText{orRule(f.Title, f.Rule)}, Help: sarifText{orRule(f.Recommendation,
		f.Rule)}, HelpURI: f.Link}
	rule.Properties.Tags = []string{"security", f.Kind}
	rule.Properties.Severity = map[string]string{"critical": "9.5", "high": "8.0", "medium": "5.0",
		"low": "2.0"}[f.Severity]
	return rule
}

func orRule(text, rule string) string {
	if text == "" {
		return rule
	}
	return text
}

func sarifResultOf(f api.InsightFinding, index int, file string) sarifResult {
	level := map[string]string{"critical": "error", "high": "error", "medium": "warning"}[f.Severity]
	if level == "" {
		level = "note"
	}
	result := sarifResult{Rule: f.Rule, Index: index, Level: level,
		Message: sarifText{printable.Text(strings.TrimPrefix(f.Resource+": "+f.Description, ": "))}}
	if f.Standing {
		result.State = "unchanged"
	}
	where := sarifLocation{Logical: []sarifLogical{{printable.Text(orNothing(f.Resource)), "resource"}}}
	where.Physical.Artifact.URI, where.Physical.Region.Line = file, 1
	result.Locations = []sarifLocation{where}
	if f.Waived != nil {
		result.Suppressions = []sarifSuppression{{"external", printable.Text(f.Waived.Owner + ": " + f.Waived.Reason +
			" (until " + f.Waived.Expires + ")")}}
	}
	return result
}
