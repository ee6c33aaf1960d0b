package handlers

import (
	"context"
	"crypto/subtle"
	"net/http"
	"net/url"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/openapi"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/oidc"
)

// Issuer signs people in beside keys.
type Issuer struct {
	Name string // for people
	*oidc.SignIn
}

// The addresses of the way to an issuer and back. The second is what the issuer has to know.
const (
	issuerPath   = "/api/v1/session/oidc"
	CallbackPath = issuerPath + "/callback"
	// signInPage is where the page asks for a key, and says why somebody is not signed in.
	signInPage = PagePath + "sign-in"
)

// routeIssuer routes the way to an issuer and back.
func (s sessions) routeIssuer(at section, guard *middleware.Guard) {
	start := startOperation()
	at.raw("GET", issuerPath, start, s.setOut(start.reads()))
	back := op("comeBack", "Where the issuer sends a browser back to").answers(http.StatusSeeOther,
		openapi.Content{Media: mediaHTML}).anyOther().
		fails(fault.SignInOff, fault.SignInStale).fails(signInFaults()...)
	at.raw("GET", CallbackPath, back, s.comeBack, guard.Requests(), middleware.Admit(0), s.arrive(back.reads()))
}

func startOperation() operation {
	return op("setOut", "Send a browser to the issuer that signs people in").
		with(textOf("org", "The organization to sign in to, where the issuer knows the person in several."),
			textOf("to", "The address of the page to go to afterwards.")).
		answers(http.StatusSeeOther, openapi.Content{Media: mediaHTML}).fails(fault.SignInOff, fault.IssuerUnavailable,
		fault.ParameterInvalid)
}

func (s sessions) ways(context.Context, *request) (answer, error) {
	var ways api.SignInWays
	if s.issuer != nil {
		ways.Issuer = &api.SignInIssuer{Name: s.issuer.Name, Start: issuerPath}
	}
	return tell(ways), nil
}

// setOut sends a browser to the issuer.
func (s sessions) setOut(read func(*gin.Context) *request) gin.HandlerFunc {
	return func(c *gin.Context) {
		address, err := s.begun(c, read(c))
		if err != nil {
			s.fail(c, err, c.Query("to"))
			return
		}
		c.Redirect(http.StatusSeeOther, address)
	}
}

func (s sessions) begun(c *gin.Context, r *request) (address string, err error) {
	if s.issuer == nil {
		return "", errNoIssuer()
	}
	var org uuid.UUID
	if text, given := r.get("org"); given && text != "" {
		org = r.organization(text)
	}
	to, given := r.get("to")
	if !given {
		to = PagePath
	}
	if !session.IsPage(to, PagePath) {
		r.invalid("to is not an address of the page")
	}
	if err := r.err(); err != nil {
		return "", err
	}
	f := session.NewFlow(org, to, s.now())
	f.Had = s.had(c)
	if address, err = s.issuer.Start(c.Request.Context(),
		oidc.Flow{State: f.State, Nonce: f.Nonce, Verifier: f.Verifier}); err != nil {
		return "", err
	}
	return address, s.KeepFlow(c, f)
}

func errNoIssuer() error {
	return fault.New(fault.SignInOff, "no issuer signs people in to this server: sign in with a key")
}

// flowKey is where comeBack leaves the flow for arrive.
const flowKey = "flow"

// comeBack finds out whom the issuer has signed in.
func (s sessions) comeBack(c *gin.Context) {
	f, err := s.provedBy(c)
	if err != nil {
		s.fail(c, err, f.To)
		return
	}
	c.Set(flowKey, f)
	c.Next()
}

func (s sessions) provedBy(c *gin.Context) (session.Flow, error) {
	if s.issuer == nil {
		return session.Flow{}, errNoIssuer()
	}
	f, err := s.TakeFlow(c, s.now())
	if err != nil {
		return f, err
	}
	if from := c.Query("iss"); from != "" &&
		subtle.ConstantTimeCompare([]byte(from), []byte(s.issuer.SignInConfig.Issuer)) != 1 {
		return f, fault.New(fault.TokenRefused, "the browser has come back from another issuer")
	}
	if c.Query("error") != "" || c.Query("code") == "" {
		return f, fault.New(fault.TokenRefused, "the issuer has not signed you in: %.100q", c.Query("error"))
	}
	return f, middleware.CameBack(c, s.Sessions, f, func(ring *keyring.Keyring) (keyring.Token, error) {
		who, err := s.issuer.Finish(c.Request.Context(), oidc.Flow{State: f.State, Nonce: f.Nonce, Verifier: f.Verifier},
			c.Query("code"))
		if err != nil {
			return keyring.Token{}, err
		}
		return s.issuer.Match(ring, f.Org, who)
	})
}

// arrive begins the session.
func (s sessions) arrive(read func(*gin.Context) *request) gin.HandlerFunc {
	return func(c *gin.Context) {
		f, _ := c.MustGet(flowKey).(session.Flow)
		if _, err := s.beginFor(c.Request.Context(), read(c), f.Had); err != nil {
			s.fail(c, err, f.To)
			return
		}
		c.Redirect(http.StatusSeeOther, f.To)
	}
}

// fail tells a browser on the page what went wrong, and where it was going; anything else as usual.
func (s sessions) fail(c *gin.Context, err error, to string) {
	if !s.hasPage || !wantsPage(c.Request) {
		middleware.Fail(c, err)
		return
	}
	_ = c.Error(err) // for the request's log line
	c.Abort()
	about := url.Values{"error": {string(fault.From(err).Code)},
		"request_id": {middleware.RequestIDOf(c.Request.Context())}}
	if session.IsPage(to, PagePath) {
		about.Set("to", to)
	}
	c.Redirect(http.StatusSeeOther, signInPage+"?"+about.Encode())
}
