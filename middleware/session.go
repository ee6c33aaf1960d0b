package middleware

import (
	"context"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/fault"
)

// The cookie of a session. Where the connection is encrypted its name is one that browsers take only
// over TLS, for the whole host and from nobody but it, so that no neighbour puts another one there.
const (
	cookieName   = "holdfast-session"
	securePrefix = "__Host-"
)

// Sessions reads sessions out of requests, and puts them into answers.
type Sessions struct {
	Service *session.Service
	// TrustedProxies may say that the client's own connection is encrypted.
	TrustedProxies []netip.Prefix
	// PublicURL is where browsers reach the server, if that is not what their requests say; may be
	// empty.
	PublicURL string
}

// isSecure reports whether the browser's connection is encrypted: the server's own is, or a trusted
// proxy says so of its.
func (s *Sessions) isSecure(r *http.Request) bool {
	if r.TLS != nil {
		return true
	}
	peer, ok := parseHost(r.RemoteAddr)
	return ok && isTrusted(peer, s.TrustedProxies) && strings.EqualFold(r.Header.Get("X-Forwarded-Proto"), "https")
}

func (s *Sessions) nameOf(r *http.Request, name string) string {
	if s.isSecure(r) {
		return securePrefix + name
	}
	return name
}

// Token returns the token that a browser shows; empty for none. Two are as good as none: one of them
// was put there by somebody else.
func (s *Sessions) Token(r *http.Request) string {
	cookies := r.CookiesNamed(s.nameOf(r, cookieName))
	if len(cookies) != 1 {
		return ""
	}
	return cookies[0].Value
}

// carries reports whether there is anything that could have been meant as a session.
func (s *Sessions) carries(r *http.Request) bool {
	return s != nil && len(r.CookiesNamed(s.nameOf(r, cookieName))) > 0
}

// Keep has the browser keep a token for so many seconds, and show it to this server's own pages
// only; none of their scripts can read it. Below zero it forgets the one that it has.
func (s *Sessions) Keep(c *gin.Context, token string, seconds int) {
	http.SetCookie(c.Writer, s.cookie(c.Request, cookieName, token, seconds, http.SameSiteStrictMode))
}

func (s *Sessions) cookie(r *http.Request, name, value string, seconds int, site http.SameSite) *http.Cookie {
	return &http.Cookie{
		Name: s.nameOf(r, name), Value: value, Path: "/", MaxAge: seconds,
		HttpOnly: true, Secure: s.isSecure(r), SameSite: site,
	}
}

// verify returns who the session of a request is, and how they are looked at again.
func (s *Sessions) verify(c *gin.Context, client auth.Client) (auth.Principal, reverify, error) {
	if err := s.CheckOrigin(c.Request); err != nil {
		return auth.Principal{}, nil, err
	}
	token := s.Token(c.Request)
	found, p, err := s.Service.Verify(c.Request.Context(), token, client)
	if err != nil {
		return auth.Principal{}, nil, err
	}
	if shown := c.GetHeader(signedInHeader); shown != "" && !isShown(shown, p) {
		return auth.Principal{}, nil, fault.New(fault.SignedInAsOther,
			"this browser is signed in as another one by now than the page shows; nothing was done: load the page anew")
	}
	infoOf(c).session = &found
	return p, func(ctx context.Context, before auth.Principal) (auth.Principal, error) {
		// A stream that goes on is no use of the session.
		_, now, err := s.Service.Look(ctx, token, auth.Client{Address: before.Address, Request: before.Request})
		return now, err
	}, nil
}

// signedInHeader is where a page names whom it shows: a cookie is one for all tabs of a browser, and
// another tab may have signed in as somebody else.
const signedInHeader = "Holdfast-Signed-In"

func isShown(shown string, p auth.Principal) bool {
	parts := strings.Split(shown, "/")
	for i, part := range parts {
		text, err := url.PathUnescape(part)
		if err != nil {
			return false
		}
		parts[i] = text
	}
	return slices.Equal(parts, []string{p.Org.String(), p.KeyID, p.Subject})
}

// SessionOf returns the session by which a caller has come in; nil for those with a key.
func SessionOf(c *gin.Context) *session.Session { return infoOf(c).session }

// CheckOrigin refuses what another site's page has a browser send, to which the browser adds the
// cookie. What changes nothing is let in unless the browser says that it is for another site: what
// that would read it isn't shown. Its fault is CrossOrigin.
func (s *Sessions) CheckOrigin(r *http.Request) error {
	site, origin := r.Header.Get("Sec-Fetch-Site"), r.Header.Get("Origin")
	reads := r.Method == http.MethodGet || r.Method == http.MethodHead
	switch {
	case site != "" && site != "same-origin" && (site != "none" || !reads): // none: somebody has typed the address
		return crossOrigin()
	case origin != "" && !s.isOwn(r, origin):
		return crossOrigin()
	case !reads && site == "" && origin == "":
		return crossOrigin()
	}
	return nil
}

func crossOrigin() error {
	return fault.New(fault.CrossOrigin,
		"a session's cookie counts for what this server's own pages send only, and this is from elsewhere; nothing was done")
}

// isOwn reports whether an origin is where the browser has the server's pages from.
func (s *Sessions) isOwn(r *http.Request, origin string) bool {
	scheme := "http://"
	if s.isSecure(r) {
		scheme = "https://"
	}
	return strings.EqualFold(origin, scheme+r.Host) || s.PublicURL != "" &&
		strings.EqualFold(origin, originOf(s.PublicURL))
}

func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// AuthenticateToo is Authenticate that lets in whoever has a session, too, where a request carries no
// other credentials.
func AuthenticateToo(sessions *Sessions, verifier Verifier, credentials Credentials) gin.HandlerFunc {
	return authenticate(sessions, verifier, credentials)
}
