package handlers

import (
	"context"
	"net/http"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

// sessions begins and ends what browsers are signed in with.
type sessions struct {
	*middleware.Sessions
	who     whoami
	issuer  *Issuer // nil for none
	hasPage bool
	now     func() time.Time
}

// routeSessions routes what is about sessions. Those who have a key may look at theirs with it, too,
// and end them.
func (d Deps) routeSessions(router gin.IRouter, known gin.HandlerFunc, guard *middleware.Guard, who whoami) {
	s := sessions{d.Sessions, who, d.Issuer, d.Page != nil, d.Now}
	s.routeIssuer(router, guard)
	router.GET("/api/v1/session/ways", serve(s.ways))
	router.POST("/api/v1/session", middleware.SignIn(d.Sessions, readSignIn), guard.Requests(), middleware.Admit(0), serve(s.begin))

	group := router.Group("/api/v1", known, guard.States(nil), middleware.Admit(0))
	group.GET("/session", serve(s.show))
	group.DELETE("/session", serve(s.end))
	group.GET("/sessions", serve(s.list))
	group.DELETE("/sessions", serve(s.endAll))
	group.DELETE("/sessions/:session", serve(s.endOf))
}

// readSignIn reads the body of whom nobody knows yet.
func readSignIn(body []byte) (auth.Credentials, error) {
	said, err := decodeObject[api.SignIn](body, fault.ParameterInvalid)
	if err != nil {
		return auth.Credentials{}, err
	}
	if said.Key == "" {
		return auth.Credentials{}, fault.New(fault.CredentialsNeeded, "the body has no key")
	}
	return middleware.CredentialsOf(said.Org, said.Key)
}

func (s sessions) begin(ctx context.Context, r *request) (answer, error) {
	begun, err := s.beginFor(ctx, r)
	if err != nil {
		return nil, err
	}
	return told{status: http.StatusCreated, body: s.signedIn(ctx, r, &begun)}, nil
}

// beginFor begins a session of a caller who has just proved who they are.
func (s sessions) beginFor(ctx context.Context, r *request) (session.Session, error) {
	begun, token, err := s.Service.Begin(ctx, r.caller, middleware.LoginOf(r.c), session.Client{Agent: r.header.Get("User-Agent"), Token: s.Token(r.c.Request)})
	if err != nil {
		return session.Session{}, err
	}
	s.Keep(r.c, token, int(s.Service.Limits.Absolute.Seconds()))
	return begun, nil
}

func (s sessions) signedIn(ctx context.Context, r *request, own *session.Session) api.SignedIn {
	said := api.SignedIn{Identity: s.who.identity(ctx, r)}
	if own != nil {
		shown := s.sessionOf(*own, own)
		said.Session = &shown
	}
	return said
}

func (s sessions) sessionOf(one session.Session, own *session.Session) api.Session {
	return api.Session{
		ID: one.ID(), BeganAt: one.Began, SeenAt: one.Seen, IdleAt: s.Service.IdleEnd(one), EndsAt: one.Ends,
		Address: one.Address, Agent: one.Agent, Current: own != nil && own.Hash == one.Hash,
	}
}

func (s sessions) show(ctx context.Context, r *request) (answer, error) {
	return tell(s.signedIn(ctx, r, middleware.SessionOf(r.c))), nil
}

func (s sessions) list(ctx context.Context, r *request) (answer, error) {
	all, err := s.Service.List(ctx, r.caller)
	if err != nil {
		return nil, err
	}
	own := middleware.SessionOf(r.c)
	return tell(api.Sessions{Sessions: items(all, func(one session.Session) api.Session { return s.sessionOf(one, own) })}), nil
}

// end signs out. The browser forgets the token whether or not there was a session.
func (s sessions) end(ctx context.Context, r *request) (answer, error) {
	own := middleware.SessionOf(r.c)
	if own == nil {
		return nil, fault.New(fault.SessionNotFound, "there is no session to sign out: these are other credentials")
	}
	if err := s.Service.End(ctx, r.caller, *own); err != nil {
		return nil, err
	}
	s.Keep(r.c, "", -1)
	return tell(api.SignedOut{Status: success, Ended: 1}), nil
}

func (s sessions) endAll(ctx context.Context, r *request) (answer, error) {
	ended, err := s.Service.EndAll(ctx, r.caller)
	if err != nil {
		return nil, err
	}
	if middleware.SessionOf(r.c) != nil {
		s.Keep(r.c, "", -1)
	}
	return tell(api.SignedOut{Status: success, Ended: ended}), nil
}

func (s sessions) endOf(ctx context.Context, r *request) (answer, error) {
	id := r.inPath("session")
	if err := s.Service.EndOf(ctx, r.caller, id); err != nil {
		return nil, err
	}
	if own := middleware.SessionOf(r.c); own != nil && own.ID() == id {
		s.Keep(r.c, "", -1)
	}
	return tell(api.SignedOut{Status: success, Ended: 1}), nil
}
