package auth

import (
	"net/netip"
	"strings"
)

// grantSection takes the settings that say what a key, a token or a certificate is good
// for.
type grantSection struct {
	p     *parser
	grant Grant
	from  []netip.Prefix
}

func (s *grantSection) set(l line) (problem string, known bool) {
	switch l.setting {
	case "role":
		s.grant.Role, problem = readRole(l.value)
	case "states":
		patterns, err := ParsePatterns(l.value)
		if s.grant.States = patterns; err != nil {
			problem = "not a list of states: " + err.Error()
		}
	case "from":
		s.from, problem = readPrefixes(l.value)
	default:
		return "", false
	}
	return problem, true
}

// check reports what the settings lack together.
func (s *grantSection) check() {
	s.p.lacks("a role is missing: "+roleNames(), "role")
	if line := s.p.seen["states"]; line > 0 && s.grant.Role != "" && !s.grant.Role.OnStates() {
		s.p.faults.add(line, "states for a role that has no right on any state")
	}
}

func readRole(text string) (Role, string) {
	role := Role(text)
	if role.Rights() == nil {
		return "", "not a role: " + roleNames()
	}
	return role, ""
}

func roleNames() string {
	var names []string
	for _, line := range Roles() {
		names = append(names, string(line.Role))
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}
