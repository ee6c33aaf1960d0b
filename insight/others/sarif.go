package others

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/rules"
)

const (
	maxBytes   = 32 << 20
	maxResults = 5000
	maxText    = 500 // bytes of one text
)

// The shapes of SARIF 2.1.0, as far as they are read.
type (
	sarifLog struct {
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct {
		Tool struct {
			Driver struct {
				Name  string      `json:"name"`
				Rules []sarifRule `json:"rules"`
			} `json:"driver"`
		} `json:"tool"`
		Results     []sarifResult `json:"results"`
		Invocations []struct {
			Successful *bool `json:"executionSuccessful"`
		} `json:"invocations"`
	}
	sarifRule struct {
		ID      string    `json:"id"`
		Short   sarifText `json:"shortDescription"`
		Help    sarifText `json:"help"`
		HelpURI string    `json:"helpUri"`
		Default struct {
			Level string `json:"level"`
		} `json:"defaultConfiguration"`
		Properties struct {
			Severity any `json:"security-severity"` // a number, as text by the format's own word
		} `json:"properties"`
	}
	sarifText struct {
		Text string `json:"text"`
	}
	sarifResult struct {
		Rule         string    `json:"ruleId"`
		Kind         string    `json:"kind"`
		Level        string    `json:"level"`
		Message      sarifText `json:"message"`
		Suppressions []any     `json:"suppressions"`
		State        string    `json:"baselineState"`
		Locations    []struct {
			Physical struct {
				Artifact struct {
					URI string `json:"uri"`
				} `json:"artifactLocation"`
				Region struct {
					Line int `json:"startLine"`
				} `json:"region"`
			} `json:"physicalLocation"`
			Logical []struct {
				Name string `json:"fullyQualifiedName"`
			} `json:"logicalLocations"`
		} `json:"locations"`
	}
)

// SARIF is what scanners have found.
type SARIF struct {
	Findings []api.InsightFinding
	// Broken are the scanners that say themselves that they have not looked at all of it.
	Broken []api.InsightBroken
	// Cut says that there are more results than are read.
	Cut bool
}

// ReadSARIF reads a log of SARIF 2.1.0, of any programs. Results that are suppressed, absent by now or no failures are
// left out.
func ReadSARIF(r io.Reader) (found SARIF, err error) {
	var log sarifLog
	if err := readJSON(r, &log); err != nil {
		return found, fmt.Errorf("SARIF: %w", err)
	}
	if !strings.HasPrefix(log.Version, "2.") || log.Runs == nil {
		return found, errors.New("SARIF: it is no log of version 2")
	}
	for _, run := range log.Runs {
		tool := cut(run.Tool.Driver.Name)
		if tool == "" {
			return found, errors.New("SARIF: a run doesn't say which program it is of")
		}
		known := map[string]sarifRule{}
		for _, rule := range run.Tool.Driver.Rules {
			known[rule.ID] = rule
		}
		for _, call := range run.Invocations {
			if call.Successful != nil && !*call.Successful {
				found.Broken = append(found.Broken, api.InsightBroken{Rule: tool, Reason: "it says that it has failed"})
				break
			}
		}
		for _, result := range run.Results {
			if !result.counts() {
				continue
			}
			if len(found.Findings) == maxResults {
				found.Cut = true
				break
			}
			found.Findings = append(found.Findings, result.finding(tool, known[result.Rule]))
		}
	}
	return found, nil
}

// counts reports whether a result is of something that is at fault now.
func (r sarifResult) counts() bool {
	return len(r.Suppressions) == 0 && r.State != "absent" && (r.Kind == "" || r.Kind == "fail")
}

func (r sarifResult) finding(tool string, rule sarifRule) api.InsightFinding {
	title, message := cut(rule.Short.Text), cut(r.Message.Text)
	if title == "" {
		title = cut(r.Rule)
	}
	if message == "" {
		message = title
	}
	return api.InsightFinding{
		Rule: cut(r.Rule), Severity: r.severity(rule), Kind: "scan", Resource: r.resource(), Title: title,
		Description: message, Recommendation: cut(rule.Help.Text), Link: link(rule.HelpURI), Tool: tool,
	}
}

// severity is by the rule's number, as scanners of security give it, or else by the level. Where neither says how grave
// it is, the result is a warning, as the format has it.
func (r sarifResult) severity(rule sarifRule) string {
	if score, err := strconv.ParseFloat(fmt.Sprint(rule.Properties.Severity), 64); err == nil && score > 0 && score <= 10 {
		switch {
		case score >= 9:
			return rules.Critical
		case score >= 7:
			return rules.High
		case score >= 4:
			return rules.Medium
		}
		return rules.Low
	}
	level := r.Level
	if level == "" {
		level = rule.Default.Level
	}
	switch level {
	case "error":
		return rules.High
	case "note", "none":
		return rules.Low
	}
	return rules.Medium
}

// resource is what the result is about: an address where the program knows one, or else a place in a file.
func (r sarifResult) resource() string {
	for _, at := range r.Locations {
		for _, logical := range at.Logical {
			if logical.Name != "" {
				return cut(logical.Name)
			}
		}
		if uri := cut(at.Physical.Artifact.URI); uri != "" {
			if line := at.Physical.Region.Line; line > 0 {
				return uri + ":" + strconv.Itoa(line)
			}
			return uri
		}
	}
	return ""
}

// link is an address that may be shown as one.
func link(text string) string {
	if !strings.HasPrefix(text, "https://") || len(text) > maxText || strings.ContainsAny(text, " \t\r\n<>\"'`()[]") {
		return ""
	}
	return text
}

// readJSON reads one JSON document that is not too large.
func readJSON(r io.Reader, to any) error {
	raw, err := io.ReadAll(io.LimitReader(r, maxBytes+1))
	if err != nil {
		return err
	}
	if len(raw) > maxBytes {
		return fmt.Errorf("it has more than %d MiB", maxBytes>>20)
	}
	if err := json.Unmarshal(raw, to); err != nil {
		return errors.New("it is no JSON of this form")
	}
	return nil
}

// cut bounds a text, at the end of a rune.
func cut(text string) string {
	text = strings.ToValidUTF8(strings.Join(strings.Fields(text), " "), "\uFFFD")
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "…"
}
