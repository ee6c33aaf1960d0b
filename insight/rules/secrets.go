package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/insight/facts"
)

// Secrets finds credentials in attributes, variables and outputs that nobody has marked sensitive.
// It goes by their looks, and tells where they are, never what.
type Secrets struct{ patterns []pattern }

// pattern is what credentials of one kind look like.
type pattern struct {
	rule   Rule
	hints  []string // texts of which one is in every such credential
	looks  *regexp.Regexp
	within []string // the attributes that are looked at; none for all
}

// NewSecrets returns what finds credentials of the usual kinds.
func NewSecrets() *Secrets {
	s := &Secrets{}
	add := func(number int, severity, what, looks string, hints ...string) *pattern {
		s.patterns = append(s.patterns, pattern{looks: regexp.MustCompile(looks), hints: hints, rule: Rule{
			ID: fmt.Sprintf("HF-SEC-%03d", number), Severity: severity, Kind: "credentials",
			Title:          what + " stands in a plain value",
			Recommendation: "Revoke it, read it from a store of secrets, and mark the value sensitive.",
			Link:           "https://opentofu.org/docs/language/values/variables/#suppressing-values-in-cli-output",
		}})
		return &s.patterns[len(s.patterns)-1]
	}
	add(1, Critical, "An access key of AWS", `\b(AKIA|ASIA)[A-Z0-9]{16}\b`, "AKIA", "ASIA")
	add(2, Critical, "A private key", `-----BEGIN [A-Z ]*PRIVATE KEY-----`, "PRIVATE KEY-----")
	add(3, Critical, "A token of GitHub", `\b(gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50})`, "gh", "github_pat_")
	add(4, High, "A token of Slack", `\bxox[abeprs]-[A-Za-z0-9-]{10,}`, "xox")
	add(5, High, "An API key of Google", `\bAIza[0-9A-Za-z_-]{35}`, "AIza")
	add(6, Medium, "A signed token", `\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}`, "eyJ")
	add(7, High, "A password in an address", `\b[a-z][a-z0-9+.-]*://[^/\s:@"]+:[^/\s:@"$]{4,}@`, "://")
	add(8, High, "A token of GitLab", `\bglpat-[A-Za-z0-9_-]{20}`, "glpat-")
	add(9, Critical, "A live key of Stripe", `\b[sr]k_live_[A-Za-z0-9]{16,}`, "k_live_")
	add(10, Medium, "A password in a script", `(?i)(password|passwd|secret_?key|api_?key|token)\s*[=:]\s*["']?[^\s"'$<{(]{8,}`,
		"=", ":").within = []string{"user_data", "custom_data", "metadata_startup_script", "startup_script", "user-data",
		"startup-script"}
	return s
}

// Rules are what is looked for.
func (s *Secrets) Rules() []Rule {
	list := make([]Rule, len(s.patterns))
	for i, p := range s.patterns {
		list[i] = p.rule
	}
	return list
}

// Find looks through a plan.
func (s *Secrets) Find(p *facts.Plan) (list []Finding) {
	for _, change := range p.Changes {
		if change.Stays() {
			list = s.in(list, change.Address, change.After)
		}
	}
	for _, output := range p.Outputs {
		list = s.in(list, "output."+output.Name, output.After)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Variables)) {
		list = s.in(list, "var."+name, p.Variables[name])
	}
	return list
}

// in adds what it finds in one value. Most have no hint of anything, and are not taken apart.
func (s *Secrets) in(list []Finding, resource string, raw json.RawMessage) []Finding {
	var value any
	for _, p := range s.patterns {
		if !p.hinted(raw) {
			continue
		}
		if value == nil && json.Unmarshal(raw, &value) != nil {
			return list
		}
		if path, found := p.find("", value); found {
			where := "it"
			if path != "" {
				where = path
			}
			list = append(list, Finding{Rule: p.rule, Severity: p.rule.Severity, Resource: resource,
				Recommendation: p.rule.Recommendation,
				Message:        where + " looks like " + strings.ToLower(p.rule.Title[:1]) + what(p.rule.Title[1:])})
		}
	}
	return list
}

func what(title string) string { return strings.TrimSuffix(title, " stands in a plain value") }

func (p pattern) hinted(raw []byte) bool {
	has := func(text string) bool { return bytes.Contains(raw, []byte(text)) }
	return slices.ContainsFunc(p.hints, has) && (p.within == nil || slices.ContainsFunc(p.within, has))
}

// find returns where in a value the first such credential is.
func (p pattern) find(path string, value any) (string, bool) {
	switch value := value.(type) {
	case string:
		return path, p.looksAt(path) && p.looks.MatchString(value)
	case []any:
		for i, element := range value {
			if found, ok := p.find(fmt.Sprintf("%s[%d]", path, i), element); ok {
				return found, true
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			inner := name
			if path != "" {
				inner = path + "." + name
			}
			if found, ok := p.find(inner, value[name]); ok {
				return found, true
			}
		}
	}
	return "", false
}

func (p pattern) looksAt(path string) bool {
	last := path[strings.LastIndexByte(path, '.')+1:]
	return p.within == nil || slices.Contains(p.within, last)
}
