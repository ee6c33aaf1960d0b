package authfile

import (
	"fmt"
	"net/netip"
	"strings"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// section takes the settings of one section of the file.
type section interface {
	about() sectionKind
	// set takes a setting, or says what is wrong with it.
	set(l line) (problem string, known bool)
	// end is told where the section stood; what it lacks is reported there.
	end(s span)
}

// sectionKind is what all sections of one kind have in common.
type sectionKind struct {
	has     string   // its settings, for people
	repeats []string // the settings that may stand there more than once
}

// begin ends the section before, and starts another one in the line that is being read.
func (p *parser) begin(s section) {
	p.end()
	at := p.number() - 1
	p.current, p.span = s, span{at, at}
	clear(p.seen)
}

func (p *parser) end() {
	if p.current != nil {
		p.current.end(p.span)
	}
	p.current = nil
}

// lacks reports what is missing in the current section.
func (p *parser) lacks(problem string, settings ...string) {
	for _, setting := range settings {
		if p.seen[setting] > 0 {
			return
		}
	}
	p.faults.add(p.span.first+1, "%s", problem)
}

// refusedSection is one whose name is wrong: its hashes are still checked.
type refusedSection struct{ p *parser }

func (refusedSection) about() sectionKind { return sectionKind{repeats: []string{keySetting}} }

func (s refusedSection) set(l line) (string, bool) {
	if l.setting == keySetting {
		_, problem := s.p.hash(l)
		return problem, true
	}
	return "", true
}

func (refusedSection) end(span) {}

// orgSection is an organization's own.
type orgSection struct {
	p   *parser
	org *Organization
}

func (orgSection) about() sectionKind {
	return sectionKind{
		has: "an organization has name, apikey, alias, rate_limit, state_rate_limit, quota, " + notifySettings +
			", " + decisionSettings + ", runs_local, audit_days, upload_retention, " + accessSetting + ", " + policySettings,
		repeats: []string{keySetting, aliasSetting},
	}
}

func (s orgSection) set(l line) (problem string, known bool) {
	switch l.setting {
	case "name":
		s.org.Name = l.value
		if err := CheckName(l.value); err != nil {
			problem = "not a name: " + err.Error()
		}
	case keySetting:
		problem = s.key(l)
	case aliasSetting:
		problem = s.aliases(l.value)
	case "rate_limit":
		s.org.Limits.Requests, problem = readLimit(l.value)
	case "state_rate_limit":
		s.org.Limits.States, problem = readLimit(l.value)
	case "quota":
		s.org.Limits.Quota, problem = readQuota(l.value)
	case "runs_local":
		s.org.RunsLocal, problem = readYesNo(l.value)
	case "audit_days":
		var n int
		n, problem = readCount(l.value, maxDays)
		s.org.AuditKept = days(n)
	case "upload_retention":
		s.org.UploadsKept, problem = readUploadRetention(l.value)
	case accessSetting:
		s.org.Exposure, problem = readAccess(s.org.Exposure, nil, l.value)
		s.org.access = auth.StateAccess(l.value)
	default:
		if problem, known = s.notifySetting(l); known {
			return problem, true
		}
		if problem, known = s.decisionSetting(l); known {
			return problem, true
		}
		return s.policy(l)
	}
	return problem, true
}

// policy takes what the organization says about all of its states.
func (s orgSection) policy(l line) (problem string, known bool) {
	apply, problem, known := policySetting(l)
	if known {
		s.org.policies = append(s.org.policies, policyRule{apply: apply})
		s.org.said = append(s.org.said, Setting{l.setting, l.value})
	}
	return problem, known
}

// key takes one of the organization's own keys, which may do everything.
func (s orgSection) key(l line) string {
	key, problem := s.p.hash(l)
	if problem == "" {
		at := s.p.number() - 1
		key.Grant = auth.Grant{Role: auth.Owner}
		s.p.doc.keys[key.Hash] = keyLines{span{at, at}, at}
		s.org.Keys = append(s.org.Keys, key)
	}
	return problem
}

func (s orgSection) end(at span) {
	s.checkNotify()
	s.checkDecision()
	s.org.span, s.org.last = at, at.last
}

// keySection is that of a key that can do less.
type keySection struct {
	grantSection
	org  *Organization
	key  keyring.StoredKey
	hash int // index of its line
}

func (*keySection) about() sectionKind {
	return sectionKind{has: "a key's section has apikey, role, states, expires and from"}
}

func (s *keySection) set(l line) (problem string, known bool) {
	if l.setting == keySetting {
		name := s.key.Name
		s.key, problem = s.p.hash(l)
		s.key.Name, s.hash = name, s.p.number()-1
		return problem, true
	}
	return s.grantSection.set(l)
}

func (s *keySection) end(at span) {
	s.p.lacks("a key's section needs an apikey: the hash of one key", keySetting)
	s.check()
	s.key.Grant, s.key.From = s.grant, s.from
	s.p.doc.keys[s.key.Hash] = keyLines{at, s.hash}
	s.org.Keys, s.org.last = append(s.org.Keys, s.key), at.last
}

// maxEntries bounds a list.
const maxEntries = 100

// readList splits a setting's value at its commas. An empty entry is a mistake.
func readList(value string) (list []string, problem string) {
	list = strings.Split(value, ",")
	for i, entry := range list {
		if list[i] = strings.TrimSpace(entry); list[i] == "" {
			return nil, "an empty entry; write them with one comma between each two"
		}
	}
	if len(list) > maxEntries {
		return nil, "more than 100 entries"
	}
	return list, ""
}

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
