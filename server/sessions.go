package server

import (
	"context"
	"crypto/rand"
	"time"

	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlsessions"
)

// sessionTokenKind is what the secret of sessions' tokens is derived for.
const sessionTokenKind seal.Kind = "session_token"

// openSessions makes what people are signed in to the page with. Where the server keeps no runs
// they are in memory.
func (p *parts) openSessions(ctx context.Context) (err error) {
	database, secret := p.database, [session.SecretLength]byte{}
	if database == nil {
		if database, err = sqldb.Open(ctx, sqldb.Options{Log: p.log}); err != nil {
			return err
		}
		p.closeLater("the sessions", database)
		rand.Read(secret[:]) // never fails: it ends the program instead
	} else if secret, err = p.sealer.Sum(ctx, ownOrg(), sessionTokenKind); err != nil {
		return err
	}
	settings := p.settings.Page
	service := session.NewService(session.Deps{
		Store: sqlsessions.New(database), Verifier: p.verifier, Signer: session.NewSigner(secret), Audit: p.states,
		Limits: session.Limits{Idle: settings.SessionIdle, Absolute: settings.SessionLimit, PerHolder: settings.MaxSessions},
		Now:    time.Now, Log: p.log,
	})
	p.sessions = &middleware.Sessions{Service: service, TrustedProxies: p.settings.Server.TrustedProxies, PublicURL: p.settings.Server.PublicURL}
	p.closers = append(p.closers, sweepRegularly(ctx, service.Sweep, p.log))
	return nil
}
