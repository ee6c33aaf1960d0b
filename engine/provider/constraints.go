package provider

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
)

// constraint is one constraint on a provider's version.
type constraint struct {
	operator, version string
}

// Constraints joins constraints on a provider's version in the form that lock files have, which the clients
// insist on: each once, in order, with all three numbers. What can't be read stays as it is.
func Constraints(texts ...string) string {
	var all []constraint
	for _, text := range texts {
		for _, part := range strings.Split(text, ",") {
			if strings.TrimSpace(part) == "" {
				continue
			}
			c, ok := parseConstraint(part)
			if !ok {
				return strings.Join(texts, ", ")
			}
			all = append(all, c)
		}
	}
	slices.SortFunc(all, compareConstraints)
	var parts []string
	for _, c := range slices.Compact(all) {
		parts = append(parts, strings.TrimSpace(c.operator+" "+c.version))
	}
	return strings.Join(parts, ", ")
}

func parseConstraint(text string) (constraint, bool) {
	found := regexp.MustCompile(`^\s*([=!<>~]*)\s*v?([0-9]+(?:\.[0-9]+){0,2})([-+].*?)?\s*$`).FindStringSubmatch(text)
	if found == nil {
		return constraint{}, false
	}
	c := constraint{found[1], found[2]}
	wanted := 2
	if c.operator == "~>" && strings.Count(c.version, ".") < 2 {
		wanted = 1 // ~> 1.2 allows other versions than ~> 1.2.0 does
	}
	for strings.Count(c.version, ".") < wanted {
		c.version += ".0"
	}
	if c.operator == "=" {
		c.operator = ""
	}
	c.version += found[3]
	return c, true
}

// compareConstraints orders by version, and then by operator.
func compareConstraints(a, b constraint) int {
	order := []string{">", ">=", "", "~>", "<=", "<", "!="}
	byOperator := cmp.Compare(slices.Index(order, a.operator), slices.Index(order, b.operator))
	va, errA := version.NewVersion(a.version)
	vb, errB := version.NewVersion(b.version)
	if errA != nil || errB != nil {
		return cmp.Or(strings.Compare(a.version, b.version), byOperator)
	}
	return cmp.Or(va.Compare(vb), byOperator, cmp.Compare(len(b.version), len(a.version)))
}
