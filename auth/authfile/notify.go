package authfile

import (
	"encoding/base64"
	"net/textproto"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Notify is where an organization's notices go, and how. All of it but Wants may be a secret, so
// that nothing shows it.
type Notify struct {
	URL string // empty for nowhere
	// Secret signs the notices; nil for no signature.
	Secret []byte
	// HeaderName and HeaderValue are sent with each; empty for none.
	HeaderName, HeaderValue string
	// Wants are the events that are told.
	Wants audit.Selection
}

// notifySetting takes one of the settings about notices.
func (s orgSection) notifySetting(l line) (problem string, known bool) {
	to := &s.org.Notify
	switch l.setting {
	case "notify_url":
		to.URL, problem = readNotifyURL(l.value)
	case "notify_secret":
		to.Secret, problem = readNotifySecret(l.value)
	case "notify_header":
		to.HeaderName, to.HeaderValue, problem = readNotifyHeader(l.value)
	case "notify_events":
		to.Wants, problem = readNotifyEvents(l.value)
	default:
		return "", false
	}
	return problem, true
}

// notifySettings names them, for people.
const notifySettings = "notify_url, notify_secret, notify_header, notify_events"

// checkNotify reports settings about notices that go nowhere.
func (s orgSection) checkNotify() {
	s.checkWithout("notify_url", "notify_secret", "notify_header", "notify_events")
}

// checkWithout reports settings that say nothing without another one.
func (s orgSection) checkWithout(needed string, settings ...string) {
	for _, setting := range settings {
		if line := s.p.seen[setting]; line > 0 && s.p.seen[needed] == 0 {
			s.p.faults.add(line, "%s without a %s", setting, needed)
		}
	}
}

// readNotifyURL reads where an organization's notices go. What they tell may not be read on
// the way. Such an address is a secret often enough, so nothing shows it.
func readNotifyURL(text string) (string, string) {
	u, err := url.Parse(text)
	if err != nil || u.Hostname() == "" || u.Fragment != "" {
		return "", "not an address such as https://hooks.example.com/holdfast"
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		return "", "an address that is posted to starts with https://; http:// is for this machine only"
	}
	return text, checkValue(text)
}

// The bounds of a secret, as the Standard Webhooks specification has them, in bytes.
const (
	secretPrefix = "whsec_"
	leastSecret  = 24
	mostSecret   = 64
)

func readNotifySecret(text string) ([]byte, string) {
	const problem = "not a secret: whsec_ and 24 to 64 bytes in base64; `echo whsec_$(openssl rand -base64 32)` makes one"
	encoded, ok := strings.CutPrefix(text, secretPrefix)
	secret, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || len(secret) < leastSecret || len(secret) > mostSecret {
		return nil, problem
	}
	return secret, ""
}

// readNotifyHeader reads a header of the receiver's own, such as a token.
func readNotifyHeader(text string) (name, value, problem string) {
	name, value, ok := strings.Cut(text, ":")
	name, value = textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)), strings.TrimSpace(value)
	if !ok || value == "" || !isToken(name) ||
		strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r > '~' }) {
		return "", "", "not a header, such as Authorization: Bearer and a token"
	}
	ours := []string{"Host", "User-Agent", "Connection", "Transfer-Encoding", "Te", "Trailer", "Upgrade", "Keep-Alive",
		"Expect"}
	if slices.Contains(ours, name) || strings.HasPrefix(name, "Content-") || strings.HasPrefix(name, "Webhook-") ||
		strings.HasPrefix(name, "Proxy-") {
		return "", "", "a header that a notice has already, or that is the connection's"
	}
	return name, value, checkValue(text)
}

// isToken reports whether a text can be the name of a header.
func isToken(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r > '~' || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

func readNotifyEvents(text string) (audit.Selection, string) {
	list, problem := readList(text)
	if problem != "" {
		return audit.Selection{}, problem
	}
	wants, err := audit.ParseSelection(list)
	return wants, problemOf(err)
}

// Notify returns where an organization's notices go, and what it is called; false for nowhere.
func (w *Watcher) Notify(org uuid.UUID) (to Notify, name string, some bool) {
	o, ok := w.find(org)
	if !ok || o.Notify.URL == "" {
		return Notify{}, "", false
	}
	return o.Notify, o.Name, true
}
