package authfile

import "github.com/google/uuid"

// Decision is the service outside that an organization has asked about its plans. URL and Secret are not to be
// shown.
type Decision struct {
	URL string // empty for none
	// Secret signs the questions; nil for no signature.
	Secret []byte
	// FailOpen has plans applied where nobody answers.
	FailOpen bool
}

// decisionSettings names them, for people.
const decisionSettings = "decision_url, decision_secret, decision_fail"

// decisionSetting takes one of the settings about who is asked.
func (s orgSection) decisionSetting(l line) (problem string, known bool) {
	to := &s.org.Decision
	switch l.setting {
	case "decision_url":
		to.URL, problem = readNotifyURL(l.value)
	case "decision_secret":
		to.Secret, problem = readNotifySecret(l.value)
	case "decision_fail":
		to.FailOpen = l.value == "open"
		if l.value != "open" && l.value != "closed" {
			problem = "neither open nor closed"
		}
	default:
		return "", false
	}
	return problem, true
}

// checkDecision reports settings about a service that there is none of.
func (s orgSection) checkDecision() {
	s.checkWithout("decision_url", "decision_secret", "decision_fail")
}

// Decision returns who is asked about an organization's plans, and what it is called; false for nobody.
func (w *Watcher) Decision(org uuid.UUID) (to Decision, name string, some bool) {
	o, ok := w.find(org)
	if !ok || o.Decision.URL == "" {
		return Decision{}, "", false
	}
	return o.Decision, o.Name, true
}
