package auth

import "net/netip"

// CertificateRule is an [<org>.cert.<name>] section: which client certificates stand for
// the organization, and what they are good for.
type CertificateRule struct {
	Name string   // unique among the organization's certificate rules
	SANs []string // in the form that ReadSAN returns; any one of them is enough
	Grant
	From []netip.Prefix // where they may be used from; empty for anywhere
}

// ID is the KeyID of a Principal whose certificate the rule let in.
func (r CertificateRule) ID() string { return certificateKind + "." + r.Name }

// certificateSection is that of a CertificateRule.
type certificateSection struct {
	grantSection
	org  *Organization
	rule CertificateRule
}

func (*certificateSection) about() sectionKind {
	return sectionKind{has: "a cert section has san, role, states, expires and from", repeats: "san"}
}

func (s *certificateSection) set(l line) (problem string, known bool) {
	if l.setting == "san" {
		return s.names(l.value), true
	}
	return s.grantSection.set(l)
}

// names takes subject alternative names. One that stood for two rules would leave open
// which of them counts.
func (s *certificateSection) names(value string) string {
	list, problem := readList(value)
	for _, text := range list {
		san, err := ReadSAN(text)
		if err != nil {
			return "not a subject alternative name: " + err.Error()
		}
		if problem := first(s.p.sans, san, "subject alternative name", s.p.number()); problem != "" {
			return problem
		}
		s.rule.SANs = append(s.rule.SANs, san)
	}
	return problem
}

func (s *certificateSection) end(at span) {
	s.p.lacks("a cert section needs a san: the name that is in the certificate", "san")
	s.check()
	s.rule.Grant, s.rule.From = s.grant, s.from
	s.org.Certificates, s.org.last = append(s.org.Certificates, s.rule), at.last
}
