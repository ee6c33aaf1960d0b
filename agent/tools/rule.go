package tools

import (
	"fmt"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
)

// Rule is one thing that limits which version of a tool may run a configuration.
type Rule struct {
	Source string `json:"source"` // such as "main.tf:3", ".opentofu-version" or "the workspace"
	Text   string `json:"text"`   // the constraint as it is written there
	// Excluded has the versions at hand, newer than the chosen one, that it ruled out.
	Excluded []string `json:"excluded,omitempty"`

	fits func(*version.Version) bool
}

// maxConstraint is how long a constraint may be.
const maxConstraint = 256

// constraintRule is a rule in the language of required_version, such as "~> 1.10, != 1.10.3".
func constraintRule(source, text string) (Rule, error) {
	if len(text) > maxConstraint {
		return Rule{}, fault.New(fault.ToolConstraintInvalid, "%s: a version constraint may have %d characters", source,
			maxConstraint)
	}
	constraints, err := version.NewConstraint(text)
	if err != nil {
		return Rule{}, fault.New(fault.ToolConstraintInvalid,
			"%s: %q is no version constraint: one is written like `1.12.6`, `>= 1.10, < 2.0` or `~> 1.12`", source, text)
	}
	return Rule{Source: source, Text: text, fits: constraints.Check}, nil
}

// releasesOnly keeps versions that are meant for trying out from being chosen by accident.
func releasesOnly(rules []Rule) []Rule {
	for _, rule := range rules {
		if strings.Contains(rule.Text, "-") && rule.namesPrerelease() {
			return rules
		}
	}
	return append(rules, Rule{Source: "the rule for prereleases", Text: "only where one is asked for by its name",
		fits: func(v *version.Version) bool { return v.Prerelease() == "" }})
}

func (r Rule) namesPrerelease() bool {
	constraints, err := version.NewConstraint(r.Text)
	if err != nil {
		return false
	}
	for _, one := range constraints {
		if one.Prerelease() {
			return true
		}
	}
	return false
}

// choose returns the newest version that fits all rules, and notes in the rules what they
// excluded until then. The candidates come newest first.
func choose(candidates []*version.Version, rules []Rule) (*version.Version, bool) {
	for _, v := range candidates {
		fits := true
		for i := range rules {
			if !rules[i].fits(v) {
				rules[i].Excluded = append(rules[i].Excluded, v.String())
				fits = false
			}
		}
		if fits {
			return v, true
		}
	}
	return nil, false
}

// explain says in words what the rules ask for and what each left.
func explain(rules []Rule) string {
	var all []string
	for _, rule := range rules {
		text := fmt.Sprintf("%s asks for %q", rule.Source, rule.Text)
		if len(rule.Excluded) > 0 {
			text += ", which excludes " + listed(rule.Excluded)
		}
		all = append(all, text)
	}
	return strings.Join(all, "; ")
}

// maxListed is how many versions a message has.
const maxListed = 10

func listed(versions []string) string {
	if more := len(versions) - maxListed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(versions[:maxListed], ", "), more)
	}
	return strings.Join(versions, ", ")
}
