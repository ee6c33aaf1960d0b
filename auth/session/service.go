package session

import (
	"context"
	"log/slog"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// Verifier checks what sessions begin with, and what they go on by. *verify.Verifier is one.
type Verifier interface {
	// SignIn returns who shows a key or a token, and what has to hold still for a session of theirs.
	SignIn(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, auth.Login, error)
	// SignInBy is SignIn for somebody whom an issuer has signed in; match finds the rule that lets
	// them in.
	SignInBy(ctx context.Context, org uuid.UUID, match func(*keyring.Keyring) (keyring.Token, error),
		client auth.Client) (auth.Principal, auth.Login, error)
	// VerifyLogin returns what somebody may do now who signed in so; fault.CredentialsRevoked when
	// what they signed in with counts no more, and KeyExpired or AddressRefused as for a key.
	VerifyLogin(ctx context.Context, login auth.Login, client auth.Client) (auth.Principal, error)
}

// Limits are of each session, but for PerHolder.
type Limits struct {
	Idle      time.Duration // for how long it goes on without a request
	Absolute  time.Duration // for how long it goes on at most
	PerHolder int           // how many one holder may have
}

// Deps is what a Service stands on.
type Deps struct {
	Store    Store
	Verifier Verifier
	Signer   *Signer
	Audit    audit.Recorder
	Limits   Limits
	Now      func() time.Time
	Log      *slog.Logger
}

// Service begins and ends sessions. It is safe for concurrent use.
type Service struct{ Deps }

// NewService returns a service.
func NewService(d Deps) *Service { return &Service{d} }

// Client is the browser that somebody signs in with.
type Client struct {
	Agent string
	// Had is the session that the browser had until now, which ends; the zero Place for none. The
	// new session has another token: nobody can put one into a browser that somebody then signs in with.
	Had Place
}

// Prove returns who has the credentials, and what Begin needs to have a session of theirs. Faults are
// those of verify.Verifier.Verify, and TokenRefused for tokens, which are for programs.
func (s *Service) Prove(ctx context.Context, cred auth.Credentials,
	client auth.Client) (auth.Principal, auth.Login, error) {
	if auth.IsRunToken(cred.Key) || auth.IsToken(cred.Key) {
		return auth.Principal{}, auth.Login{},
			fault.New(fault.TokenRefused,
				"a token is no way to sign in here: show an organization's key, or sign in with the issuer")
	}
	return s.Verifier.SignIn(ctx, cred, client)
}

// ProveBy is Prove for somebody whom an issuer has signed in.
func (s *Service) ProveBy(ctx context.Context, org uuid.UUID,
	match func(*keyring.Keyring) (keyring.Token, error), client auth.Client) (auth.Principal, auth.Login, error) {
	return s.Verifier.SignInBy(ctx, org, match, client)
}

// Begin begins a session of a caller who has proved who they are, and returns its token, which is
// kept nowhere.
func (s *Service) Begin(ctx context.Context, p auth.Principal, login auth.Login,
	client Client) (begun Session, token string, err error) {
	now := s.now()
	token = s.Signer.newToken(login.Org)
	begun = Session{
		Hash: hashOf(token), Login: login, Began: now, Seen: now, Ends: now.Add(s.Limits.Absolute),
		Address: p.Address, Agent: cut(client.Agent),
	}
	// On record first: a session that begins is never without.
	if err := s.record(ctx, p, audit.SessionBegin, begun.ID()); err != nil {
		return Session{}, "", err
	}
	gone, err := s.Store.Add(ctx, begun, s.Limits.PerHolder)
	if err != nil {
		return Session{}, "", err
	}
	for _, old := range gone {
		s.note(ctx, p, audit.SessionEnd, old.ID()+": made room for a newer one")
	}
	s.replace(ctx, client.Had)
	return begun, token, nil
}

// replace ends what the browser had.
func (s *Service) replace(ctx context.Context, had Place) {
	if had == (Place{}) {
		return
	}
	if _, err := s.Store.Remove(ctx, had.Org, had.Hash); err != nil {
		s.Log.WarnContext(ctx, "a session that another one took the place of could not be ended; it ends by itself", "error",
			err)
	}
}

// Verify is Look for a request, which keeps the session from ending for want of use.
func (s *Service) Verify(ctx context.Context, token string, client auth.Client) (Session, auth.Principal, error) {
	found, p, err := s.Look(ctx, token, client)
	if err == nil {
		s.touch(ctx, found, s.now())
	}
	return found, p, err
}

// Look returns the session of a token, and whoever has it as they are now. Its fault is SessionOver
// when there is none, or none any more, and those of VerifyLogin but for CredentialsRevoked.
func (s *Service) Look(ctx context.Context, token string, client auth.Client) (Session, auth.Principal, error) {
	org, h, ok := s.Signer.read(token)
	if !ok {
		return Session{}, auth.Principal{}, over()
	}
	found, ok, err := s.Store.Session(ctx, org, h)
	if err != nil {
		return Session{}, auth.Principal{}, err
	}
	now := s.now()
	if !ok || s.isOver(found, now) {
		return Session{}, auth.Principal{}, over()
	}
	p, err := s.Verifier.VerifyLogin(ctx, found.Login, client)
	if err != nil {
		return Session{}, auth.Principal{}, s.ended(ctx, found, client, err)
	}
	p.Expires, p.BySession = endOf(found, p), true
	return found, p, nil
}

// ended removes a session whose login counts no more: who has it would be told the same for ever.
func (s *Service) ended(ctx context.Context, gone Session, client auth.Client, err error) error {
	if !fault.Is(err, fault.CredentialsRevoked) && !fault.Is(err, fault.KeyExpired) {
		return err
	}
	removed, failed := s.Store.Remove(ctx, gone.Login.Org, gone.Hash)
	if failed != nil {
		s.Log.WarnContext(ctx, "a session whose key or rule counts no more was refused, but not removed", "error", failed)
	} else if removed {
		s.note(ctx, principalOf(gone, client), audit.SessionEnd, gone.ID()+": "+string(fault.From(err).Code))
	}
	return fault.Wrap(err, fault.SessionOver,
		"the session is over: the key or the rule that it began with counts no more; sign in again")
}

func principalOf(s Session, client auth.Client) auth.Principal {
	return auth.Principal{Org: s.Login.Org, KeyID: s.Login.KeyID, Subject: s.Login.Subject, Address: client.Address,
		Request: client.Request}
}

func over() error {
	return fault.New(fault.SessionOver, "there is no such session, or it is over; sign in again")
}

func (s *Service) isOver(one Session, now time.Time) bool {
	return !now.Before(one.Ends) || !now.Before(one.Seen.Add(s.Limits.Idle))
}

// endOf is when the session ends at the latest, or what it began with if that comes first.
func endOf(one Session, p auth.Principal) time.Time {
	if !p.Expires.IsZero() && p.Expires.Before(one.Ends) {
		return p.Expires
	}
	return one.Ends
}

// IdleEnd is when the session ends if nothing comes any more.
func (s *Service) IdleEnd(one Session) time.Time {
	if end := one.Seen.Add(s.Limits.Idle); end.Before(one.Ends) {
		return end
	}
	return one.Ends
}

// touch writes down that a session is in use, now and then. A store that takes nothing keeps nobody
// out.
func (s *Service) touch(ctx context.Context, one Session, now time.Time) {
	if now.Sub(one.Seen) < min(time.Minute, s.Limits.Idle/10) {
		return
	}
	if err := s.Store.Touch(ctx, one.Login.Org, one.Hash, now); err != nil && ctx.Err() == nil {
		s.Log.WarnContext(ctx, "a session is in use, which could not be written down", "error", err)
	}
}

// List returns the sessions of a caller, however it has come in this time.
func (s *Service) List(ctx context.Context, p auth.Principal) ([]Session, error) {
	all, err := s.Store.Sessions(ctx, holderOf(p))
	if err != nil {
		return nil, err
	}
	going, now := all[:0], s.now()
	for _, one := range all {
		if !s.isOver(one, now) {
			going = append(going, one)
		}
	}
	return going, nil
}

func holderOf(p auth.Principal) Holder { return Holder{p.Org, p.KeyID, p.Subject} }

// End signs a session out. Ending one that is over already is no error.
func (s *Service) End(ctx context.Context, p auth.Principal, one Session) error {
	removed, err := s.Store.Remove(ctx, one.Login.Org, one.Hash)
	if err != nil || !removed {
		return err
	}
	s.note(ctx, p, audit.SessionEnd, one.ID())
	return nil
}

// EndOf signs out one of a caller's sessions, by its ID. Its fault is SessionNotFound.
func (s *Service) EndOf(ctx context.Context, p auth.Principal, id string) error {
	all, err := s.Store.Sessions(ctx, holderOf(p))
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.ID() == id {
			return s.End(ctx, p, one)
		}
	}
	return fault.New(fault.SessionNotFound, "you have no session %.40q", id)
}

// EndAll signs out all sessions of a caller, and returns how many.
func (s *Service) EndAll(ctx context.Context, p auth.Principal) (ended int, err error) {
	ended, err = s.Store.RemoveAll(ctx, holderOf(p))
	if err == nil && ended > 0 {
		s.note(ctx, p, audit.SessionEndAll, "")
	}
	return ended, err
}

// sweepPiece is how many sessions are removed at a time.
const sweepPiece = 500

// Sweep removes what is over.
func (s *Service) Sweep(ctx context.Context) error {
	for {
		now := s.now()
		n, err := s.Store.Sweep(ctx, now, now.Add(-s.Limits.Idle), sweepPiece)
		if err != nil || n < sweepPiece {
			return err
		}
	}
}

func (s *Service) now() time.Time { return s.Now().UTC().Truncate(time.Microsecond) }

func (s *Service) record(ctx context.Context, p auth.Principal, action audit.Action, note string) error {
	return s.Audit.Record(ctx, audit.Event{At: s.now(), Org: p.Org, Actor: audit.ActorOf(p), Action: action, Note: note})
}

// note records what has happened already, and can't be undone for want of a record.
func (s *Service) note(ctx context.Context, p auth.Principal, action audit.Action, note string) {
	if err := s.record(ctx, p, action, note); err != nil {
		s.Log.ErrorContext(ctx, "the end of a session is not in the audit log", "organization", p.Org, "action", action,
			"error", err)
	}
}

// cut returns the beginning of what a browser calls itself, of printable ASCII.
func cut(agent string) string {
	agent = agent[:min(len(agent), MaxAgent)]
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, agent)
}
