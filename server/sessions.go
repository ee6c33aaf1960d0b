package server

import (
	"context"
	"crypto/rand"
	"errors"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth/session"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/links"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/oidc"
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
	if p.issuer, err = openIssuer(p.settings); err != nil {
		return err
	}
	p.sessions = &middleware.Sessions{Service: service, TrustedProxies: p.settings.Server.TrustedProxies,
		PublicURL: p.settings.Server.PublicURL}
	p.closers = append(p.closers, sweepRegularly(ctx, service.Sweep, p.log))
	return nil
}

// openIssuer sets up who signs people in beside keys; nil for nobody.
func openIssuer(settings configs.Settings) (*handlers.Issuer, error) {
	page := settings.Page
	switch {
	case page.OIDCIssuer == "":
		return nil, nil
	case page.OIDCClientID == "":
		return nil, errors.New("[page] oidc_issuer is set, but oidc_client_id (HOLDFAST_PAGE_OIDC_CLIENT_ID) is not: what " +
			"the issuer calls this server")
	case settings.Server.PublicURL == "":
		return nil, errors.New("[page] oidc_issuer is set, but [server] public_url (HOLDFAST_PUBLIC_URL) is not: where the " +
			"issuer sends people back to")
	}
	return &handlers.Issuer{Name: page.OIDCName, SignIn: oidc.NewSignIn(oidc.SignInConfig{
		Issuer: page.OIDCIssuer, ClientID: page.OIDCClientID, ClientSecret: page.OIDCClientSecret.Reveal(),
		RedirectURL: links.Site(settings.Server.PublicURL).Join(handlers.CallbackPath),
		Scopes:      strings.Fields(page.OIDCScopes),
	})}, nil
}
