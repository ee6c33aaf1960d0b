package middleware

import (
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/fault"
)

// flowCookie is that of a way to an issuer and back. It can't be Strict: the browser comes back from
// another site.
const flowCookie = "holdfast-flow"

// KeepFlow has the browser keep a flow until it comes back.
func (s *Sessions) KeepFlow(c *gin.Context, f session.Flow) error {
	sealed, err := s.Service.Signer.Seal(f)
	if err != nil {
		return err
	}
	http.SetCookie(c.Writer,
		s.cookie(c.Request, flowCookie, sealed, int(session.FlowTime/time.Second), http.SameSiteLaxMode))
	return nil
}

// TakeFlow returns the flow that a browser has come back from, which it forgets. Its fault is
// SignInStale.
func (s *Sessions) TakeFlow(c *gin.Context, now time.Time) (session.Flow, error) {
	cookies := c.Request.CookiesNamed(s.nameOf(c.Request, flowCookie))
	http.SetCookie(c.Writer, s.cookie(c.Request, flowCookie, "", -1, http.SameSiteLaxMode))
	if len(cookies) == 1 {
		if f, ok := s.Service.Signer.Open(cookies[0].Value, now); ok && f.Answers(c.Query("state")) {
			return f, nil
		}
	}
	return session.Flow{}, fault.New(fault.SignInStale,
		"this sign-in took too long, was used already, or began in another browser; begin again")
}

// CameBack has a request go on as that of somebody whom an issuer has signed in for a flow.
func CameBack(c *gin.Context, sessions *Sessions, f session.Flow,
	match func(*keyring.Keyring) (keyring.Token, error)) error {
	ctx := c.Request.Context()
	p, login, err := sessions.Service.ProveBy(ctx, f.Org, match,
		auth.Client{Address: clientOf(c), Request: RequestIDOf(ctx)})
	if err != nil {
		return err
	}
	infoOf(c).login = login
	return recognize(c, p, nil)
}
