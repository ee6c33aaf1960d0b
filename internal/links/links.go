// Package links knows the addresses of what people look at in a browser. Whatever leaves the server with a link, such
// as a notice, a comment or an answer, takes it from here.
package links

import (
	"encoding/json"
	"net/url"
	"strconv"
	"strings"
)

// Page is what all addresses of the page begin with.
const Page = "/ui/"

// Site is the address at which people reach the server: [server] public_url. Where it is empty nobody knows, and no
// page has an address.
type Site string

// Join returns the address of a path of the server; the path where the site is not known.
func (s Site) Join(path string) string { return strings.TrimSuffix(string(s), "/") + path }

// Run is the page of a run.
func (s Site) Run(id string) string { return s.page("runs/"+url.PathEscape(id), nil) }

// State is the page of a state.
func (s Site) State(name string) string { return s.state(name, nil) }

// Candidates is where people decide on writes of a state that were held.
func (s Site) Candidates(state string) string {
	return s.state(state, url.Values{"tab": {"candidates"}})
}

// Version is what a version of a state has changed.
func (s Site) Version(state string, version uint64) string {
	return s.state(state, url.Values{"tab": {"versions"}, "version": {strconv.FormatUint(version, 10)}})
}

// Audit is the audit log of a state, or of an action where the state is empty.
func (s Site) Audit(state, action string) string {
	if state != "" {
		return s.page("audit", url.Values{"state": {text(state)}})
	}
	return s.page("audit", url.Values{"action": {text(action)}})
}

// Webhook is where a git server sends what happens to a repository; its path where the site is not known.
func (s Site) Webhook(provider, id string) string { return s.Join("/webhooks/" + provider + "/" + id) }

func (s Site) state(name string, query url.Values) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = url.PathEscape(part)
	}
	return s.page("states/"+strings.Join(parts, "/"), query)
}

// text is a text as the page reads it from a query: it takes what is JSON, such as 42, for a number.
func text(value string) string {
	if json.Valid([]byte(value)) {
		return strconv.Quote(value)
	}
	return value
}

func (s Site) page(path string, query url.Values) string {
	if s == "" {
		return ""
	}
	address := s.Join(Page + path)
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	return address
}
