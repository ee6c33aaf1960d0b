package authfile

import (
	"fmt"
	"net/netip"

	"github.com/holdfast/holdfast/auth"
)

// grantSection takes the settings that say what a key, a token or a certificate is good
// for.
type grantSection struct {
	p     *parser
	grant auth.Grant
	from  []netip.Prefix
}

func (s *grantSection) set(l line) (problem string, known bool) {
	var err error
	switch l.setting {
	case "role":
		s.grant.Role, err = auth.ParseRole(l.value)
	case "states":
		if s.grant.States, err = auth.ParsePatterns(l.value); err != nil {
			err = fmt.Errorf("not a list of states: %w", err)
		}
	case "expires":
		s.grant.Expires, err = ParseExpiry(l.value)
	case "from":
		s.from, err = ParseNetworks(l.value)
	default:
		return "", false
	}
	return problemOf(err), true
}

// check reports what the settings lack together.
func (s *grantSection) check() {
	s.p.lacks("a role is missing: "+auth.RoleNames(), "role")
	if line := s.p.seen["states"]; line > 0 && s.grant.Role != "" && !s.grant.Role.OnStates() {
		s.p.faults.add(line, "states for a role that has no right on any state")
	}
}

func problemOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
