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
func (d Deps) routeSessions(at section, known gin.HandlerFunc, guard *middleware.Guard, who whoami) {
	s := sessions{d.Sessions, who, d.Issuer, d.Page != nil || d.PageFolder != nil, d.Now}
	open := at
	open.by = anybody
	s.routeIssuer(open, guard)
	open.route("GET", "/api/v1/session/ways",
		op("signInWays", "How people may sign in").gives(api.SignInWays{}).anyOther(), s.ways)
	open.raw("POST", "/api/v1/session", signInOperation(), middleware.SignIn(d.Sessions, readSignIn), guard.Requests(),
		middleware.Admit(0),
		signInOperation().serve(s.begin))

	group := at.under("/api/v1", known, guard.States(nil), middleware.Admit(0))
	group.route("GET", "/session", op("showSession", "Who is signed in, and until when").gives(api.SignedIn{}), s.show)
	group.route("DELETE", "/session", op("signOut", "Sign out").gives(api.SignedOut{}).fails(fault.SessionNotFound), s.end)
	group.route("GET", "/sessions", op("listSessions", "Where the caller is signed in").gives(api.Sessions{}), s.list)
	group.route("DELETE", "/sessions", op("signOutEverywhere", "Sign out everywhere").gives(api.SignedOut{}), s.endAll)
	group.route("DELETE", "/sessions/:session",
		op("endSession", "Sign out in one place").gives(api.SignedOut{}).fails(fault.SessionNotFound), s.endOf)
}

func signInOperation() operation {
	return op("signIn", "Sign in with a key").takes(api.SignIn{}).givesAs(http.StatusCreated, api.SignedIn{}).
		fails(fault.ParameterInvalid, fault.BodyUnreadable, fault.BodyTooSlow, fault.BodyTooLarge, fault.DigestMismatch,
			fault.GzipDamaged, fault.MediaUnsupported).
		fails(signInFaults()...)
}

// signInFaults are why somebody is not signed in.
func signInFaults() []fault.Code {
	return []fault.Code{fault.CredentialsNeeded, fault.CredentialsWrong, fault.KeyExpired, fault.CredentialsRevoked,
		fault.TokenRefused, fault.AddressRefused,
		fault.CrossOrigin, fault.TooManyFailures, fault.RateLimited, fault.Overloaded, fault.Interrupted, fault.Busy,
		fault.StoreUnavailable, fault.StoreFull, fault.IssuerUnavailable}
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
	begun, err := s.beginFor(ctx, r, session.Place{})
	if err != nil {
		return nil, err
	}
	return told{status: http.StatusCreated, body: s.signedIn(ctx, r, &begun)}, nil
}

// beginFor begins a session of a caller who has just proved who they are. It takes the place of the one that
// the browser shows, or else of the one that it had.
func (s sessions) beginFor(ctx context.Context, r *request, had session.Place) (session.Session, error) {
	if shown := s.had(r.c); shown != (session.Place{}) {
		had = shown
	}
	begun, token, err := s.Service.Begin(ctx, r.caller, middleware.LoginOf(r.c),
		session.Client{Agent: r.header.Get("User-Agent"), Had: had})
	if err != nil {
		return session.Session{}, err
	}
	s.Keep(r.c, token, int(s.Service.Limits.Absolute.Seconds()))
	return begun, nil
}

// had is the session that a browser shows.
func (s sessions) had(c *gin.Context) session.Place {
	return s.Service.Signer.PlaceOf(s.Token(c.Request))
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
	if err := r.err(); err != nil {
		return nil, err
	}
	return tell(s.signedIn(ctx, r, middleware.SessionOf(r.c))), nil
}

func (s sessions) list(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	all, err := s.Service.List(ctx, r.caller)
	if err != nil {
		return nil, err
	}
	own := middleware.SessionOf(r.c)
	return tell(api.Sessions{Sessions: items(all,
		func(one session.Session) api.Session { return s.sessionOf(one, own) })}), nil
}

// end signs out. The browser forgets the token whether or not there was a session.
func (s sessions) end(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
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
	if err := r.err(); err != nil {
		return nil, err
	}
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
	if err := r.err(); err != nil {
		return nil, err
	}
	id := r.inPath("session")
	if !session.IsID(id) {
		return nil, fault.New(fault.ParameterInvalid, "a session's ID has 16 hexadecimal digits")
	}
	if err := s.Service.EndOf(ctx, r.caller, id); err != nil {
		return nil, err
	}
	if own := middleware.SessionOf(r.c); own != nil && own.ID() == id {
		s.Keep(r.c, "", -1)
	}
	return tell(api.SignedOut{Status: success, Ended: 1}), nil
}
