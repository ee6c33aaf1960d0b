package gitmirror

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// Remote is where a repository is. Make it with ParseURL.
type Remote struct {
	Scheme string // https, ssh or http
	User   string // of ssh
	Host   string // in lower case, without brackets
	Port   int    // 0 for the scheme's own
	Path   string // begins with a slash
}

const (
	maxURL  = 1024
	sshPort = 22
)

// ParseURL reads an address as git knows it: https://host/path, ssh://user@host:port/path or user@host:path, and
// http://host/path where that is allowed. It refuses all that could be anything else for git, for ssh or for a
// shell, and addresses with a password or a query, which would be shown.
func ParseURL(text string, allowHTTP bool) (Remote, error) {
	switch {
	case text == "" || len(text) > maxURL:
		return Remote{}, newError(AddressInvalid, "a repository's URL has 1 to %d bytes", maxURL)
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r >= 0x7f || r == '\\' }):
		return Remote{}, newError(AddressInvalid, "the URL has a character that is not allowed in one")
	}
	if !strings.Contains(text, "://") {
		return parseShort(text)
	}
	u, err := url.Parse(text)
	if err != nil {
		return Remote{}, newError(AddressInvalid, "the URL can't be read")
	}
	if _, secret := u.User.Password(); secret {
		return Remote{}, newError(AddressInvalid, "the URL has a password, which would be seen: give it as a credential")
	}
	if u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.Contains(text, "#") {
		return Remote{}, newError(AddressInvalid, "the URL of a repository has no query and no fragment")
	}
	r := Remote{Scheme: u.Scheme, User: u.User.Username(), Host: strings.ToLower(u.Hostname()), Path: u.EscapedPath()}
	switch {
	case r.Scheme == "ssh":
	case r.Scheme == "https", r.Scheme == "http" && allowHTTP:
		if r.User != "" {
			return Remote{}, newError(AddressInvalid, "an %s URL has no user: give it with the token", r.Scheme)
		}
	default:
		return Remote{}, newError(AddressInvalid, "the protocol %.20q is not allowed: use https or ssh", r.Scheme)
	}
	if port := u.Port(); port != "" {
		if r.Port, err = strconv.Atoi(port); err != nil || r.Port < 1 || r.Port > 65535 {
			return Remote{}, newError(AddressInvalid, "the port is not one")
		}
	}
	return r, r.check()
}

// parseShort reads user@host:path, which is how git writes addresses of ssh.
func parseShort(text string) (Remote, error) {
	before, path, ok := strings.Cut(text, ":")
	user, host, named := strings.Cut(before, "@")
	if !ok || !named || strings.Contains(before, "/") {
		return Remote{}, newError(AddressInvalid, "the URL is neither https://host/path nor ssh://user@host/path")
	}
	r := Remote{Scheme: "ssh", User: user, Host: strings.ToLower(host), Path: "/" + strings.TrimPrefix(path, "/")}
	return r, r.check()
}

func (r Remote) check() error {
	if _, err := netip.ParseAddr(r.Host); err != nil && !isHostName(r.Host) {
		return newError(AddressInvalid, "the URL's host is not the name of one")
	}
	if r.Scheme == "ssh" && !isWord(r.User) {
		return newError(AddressInvalid, "an ssh URL needs a user, such as git@")
	}
	if len(r.Path) < 2 || strings.HasPrefix(r.Path, "//") || strings.HasPrefix(r.Path, "/-") {
		return newError(AddressInvalid, "the URL has no path of a repository")
	}
	for segment := range strings.SplitSeq(r.Path, "/") {
		if segment == ".." || segment == "." {
			return newError(AddressInvalid, "the URL's path has . or .. in it")
		}
	}
	if strings.ContainsFunc(strings.ReplaceAll(r.Path, "%20", ""), isNoPathRune) { // Azure DevOps has blanks in names
		return newError(AddressInvalid, "the URL's path has a character that is not allowed in one")
	}
	return nil
}

// Beside returns the address of another repository at the same server, by its path there, such as acme/infra.
func (r Remote) Beside(path string) (Remote, error) {
	if strings.HasSuffix(r.Path, ".git") {
		path = strings.TrimSuffix(path, ".git") + ".git"
	}
	r.Path = "/" + strings.TrimPrefix(path, "/")
	return r, r.check()
}

// isNoPathRune leaves out what a shell or ssh at the other side could take for more than a name.
func isNoPathRune(r rune) bool { return strings.ContainsRune("'\"`$;&|<>(){}[]*?!#^\\%", r) }

func isHostName(host string) bool {
	if host == "" || len(host) > 253 {
		return false
	}
	for label := range strings.SplitSeq(host, ".") {
		if label == "" || len(label) > 63 || label[0] == '-' || label[len(label)-1] == '-' {
			return false
		}
		if strings.ContainsFunc(label, func(r rune) bool { return !isLetterOrDigit(r) && r != '-' && r != '_' }) {
			return false
		}
	}
	return true
}

func isWord(text string) bool {
	return text != "" && len(text) <= 64 && text[0] != '-' &&
		!strings.ContainsFunc(text, func(r rune) bool { return !isLetterOrDigit(r) && !strings.ContainsRune("-_.", r) })
}

func isLetterOrDigit(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// String returns the address as git is given it. It has no secret.
func (r Remote) String() string {
	host := r.Host
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if r.Port != 0 {
		host += ":" + strconv.Itoa(r.Port)
	}
	if r.User != "" {
		host = r.User + "@" + host
	}
	return r.Scheme + "://" + host + r.Path
}

// port returns the port that is connected to.
func (r Remote) port() int {
	switch {
	case r.Port != 0:
		return r.Port
	case r.Scheme == "ssh":
		return sshPort
	case r.Scheme == "http":
		return 80
	}
	return 443
}
