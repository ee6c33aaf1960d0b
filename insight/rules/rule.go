package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/open-policy-agent/opa/v1/ast"
)

// The severities, the gravest first.
const (
	Critical = "critical"
	High     = "high"
	Medium   = "medium"
	Low      = "low"
)

// Severities returns the severities, the gravest first.
func Severities() []string { return []string{Critical, High, Medium, Low} }

// AtLeast reports whether a severity is as grave as another one.
func AtLeast(severity, than string) bool {
	all := Severities()
	i := slices.Index(all, severity)
	return i >= 0 && i <= slices.Index(all, than)
}

// Rule is what is known of one package of policies without asking it.
type Rule struct {
	ID             string
	Title          string
	Description    string
	Severity       string
	Kind           string   // networking, access, encryption, credentials, logging, policy
	Types          []string // of resources that it looks at; none for all
	Recommendation string
	Link           string
	Package        string // such as data.main; empty for a rule that is not Rego
}

// Finding is what a rule says of a resource.
type Finding struct {
	Rule     Rule
	Severity string
	Resource string
	Message  string
	// Recommendation is the finding's own, or the rule's.
	Recommendation string
	// Denies says that it is no warning by conftest's conventions, whatever its severity.
	Denies bool
	// Tool is the other program that has found it; empty for a rule here.
	Tool string
}

// Broken is a rule that could not be asked.
type Broken struct {
	Rule   string
	Reason string
}

// verdicts are the names of rules that have findings, by conftest's conventions.
func verdict(name string) (severity string, ok bool) {
	for prefix, severity := range map[string]string{"deny": High, "violation": High, "warn": Low} {
		if name == prefix || strings.HasPrefix(name, prefix+"_") {
			return severity, true
		}
	}
	return "", false
}

// withoutVerdict is a rule's own name, which exceptions give: empty for deny alone.
func withoutVerdict(name string) string {
	_, own, _ := strings.Cut(name, "_")
	return own
}

// describe reads a package's annotations, in which conftest's users put severities and links.
func (r *Rule) describe(a *ast.Annotations) error {
	r.Title, r.Description = a.Title, strings.Join(strings.Fields(a.Description), " ")
	if len(a.RelatedResources) > 0 {
		r.Link = a.RelatedResources[0].Ref.String()
	}
	text := func(name string) string {
		value, _ := a.Custom[name].(string)
		return strings.TrimSpace(value)
	}
	if id := text("id"); id != "" {
		r.ID = id
	}
	if severity := strings.ToLower(text("severity")); severity != "" {
		if !slices.Contains(Severities(), severity) {
			return fmt.Errorf("%s: the severity %q is none of %s", r.ID, severity, strings.Join(Severities(), ", "))
		}
		r.Severity = severity
	}
	if kind := text("kind"); kind != "" {
		r.Kind = kind
	}
	r.Recommendation = text("recommendation")
	types, _ := a.Custom["types"].([]any)
	for _, value := range types {
		name, isText := value.(string)
		if !isText {
			return fmt.Errorf("%s: its types are not all texts", r.ID)
		}
		r.Types = append(r.Types, name)
	}
	return nil
}
