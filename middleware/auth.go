package middleware

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/spans"
)

// Verifier checks credentials. *verify.Verifier is one.
type Verifier interface {
	Verify(ctx context.Context, credentials auth.Credentials, client auth.Client) (auth.Principal, error)
}

// The headers of credentials, as net/http spells them: another spelling it would turn into
// this one for each request.
const (
	orgHeader    = "X-Org-Id"
	apiKeyHeader = "X-Api-Key"
	// GitLab's clients send these, for a key of a person's and of a job's.
	privateToken = "Private-Token"
	jobToken     = "Job-Token"
)

// keyHeaders are the headers that have a key alone.
func keyHeaders() [3]string { return [...]string{apiKeyHeader, privateToken, jobToken} }

// CertificateVerifier is a Verifier that also knows for whom client certificates stand.
// *verify.Verifier is one.
type CertificateVerifier interface {
	VerifyCertificate(ctx context.Context, shown auth.Certificate, client auth.Client) (auth.Principal, error)
}

// Reverifier is a Verifier that can tell what became of a caller while its request arrived.
// *verify.Verifier is one.
type Reverifier interface {
	Edition() uint64
	VerifyAgain(ctx context.Context, cred auth.Credentials, before auth.Principal, edition uint64) (auth.Principal, error)
	VerifyCertificateAgain(ctx context.Context, shown auth.Certificate, before auth.Principal) (auth.Principal, error)
}

// Credentials reads a request's credentials.
type Credentials func(*http.Request) (auth.Credentials, error)

// Authenticate lets a request pass only with verified credentials or, if it carries none,
// with a client certificate that stands for somebody. Principal then returns who that is.
func Authenticate(verifier Verifier, credentials Credentials) gin.HandlerFunc {
	return authenticate(nil, verifier, credentials)
}

// authenticate takes nil for no sessions.
func authenticate(sessions *Sessions, verifier Verifier, credentials Credentials) gin.HandlerFunc {
	return func(c *gin.Context) {
		_, end := spans.Start(c.Request.Context(), "authenticate")
		principal, again, err := login(c, sessions, verifier, credentials)
		end(err)
		if err != nil {
			Fail(c, err)
			return
		}
		if err := recognize(c, principal, again); err != nil {
			Fail(c, err)
			return
		}
		c.Next()
	}
}

// recognize has the request go on as the principal's.
func recognize(c *gin.Context, principal auth.Principal, again reverify) error {
	r := infoOf(c)
	if err := r.enter(principal.Org); err != nil {
		return err
	}
	r.principal, r.again = principal, again
	r.trace(true)
	seatOf(r).recognize(principal.Org)
	r.lines.Add(slog.String("org", principal.Org.String()))
	return nil
}

// Refuser is a Verifier that counts wrong secrets of agents as it does wrong keys, and knows the organizations that
// somebody gets in for. *verify.Verifier is one.
type Refuser interface {
	InForce(org uuid.UUID) bool
	RefuseSecret(ctx context.Context, err error, org uuid.UUID, client auth.Client) error
}

// Identify is Authenticate for those who are no keys of an organization, such as agents: who
// says whom a request's Bearer secret stands for, beside an error whose secret it should be.
func Identify(verifier Verifier,
	who func(ctx context.Context, c *gin.Context, secret string) (auth.Principal, error)) gin.HandlerFunc {
	return func(c *gin.Context) {
		ctx := c.Request.Context()
		secret, err := BearerSecret(c.Request)
		if err != nil {
			Fail(c, err)
			return
		}
		client := auth.Client{Address: clientOf(c), Request: RequestIDOf(ctx)}
		principal, err := who(ctx, c, secret)
		if refuser, ok := verifier.(Refuser); ok {
			if err == nil && !refuser.InForce(principal.Org) {
				err = fault.New(fault.CredentialsWrong, "the organization was removed")
			}
			if err != nil {
				err = refuser.RefuseSecret(ctx, err, principal.Org, client)
			}
		}
		principal.Address, principal.Request = client.Address, client.Request
		if err == nil {
			err = recognize(c, principal, nil)
		}
		if err != nil {
			Fail(c, err)
			return
		}
		c.Next()
	}
}

// BearerSecret returns what a request shows as Bearer.
func BearerSecret(r *http.Request) (string, error) {
	scheme, secret, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if secret = strings.TrimSpace(secret); !ok || secret == "" || !strings.EqualFold(scheme, "Bearer") {
		return "", fault.New(fault.CredentialsNeeded,
			"no credentials; send the pool's token, or the agent's secret, as Bearer")
	}
	return secret, nil
}

// StillGood refuses a caller whose credentials were taken back, or ended, since its request
// began: for answers that take long.
func StillGood(c *gin.Context) error { return verifyAgain(c) }

// reverify returns what the caller of before may do by now; nil for a verifier that has no
// way to tell.
type reverify func(ctx context.Context, before auth.Principal) (auth.Principal, error)

func login(c *gin.Context, sessions *Sessions, verifier Verifier,
	credentials Credentials) (auth.Principal, reverify, error) {
	ctx := c.Request.Context()
	client := auth.Client{Address: clientOf(c), Request: RequestIDOf(ctx)}
	if sessions.carries(c.Request) && carriesNone(c.Request) {
		return sessions.verify(c, client)
	}
	certificates, ok := verifier.(CertificateVerifier)
	if shown := Certificate(c.Request); ok && len(shown.SANs) > 0 && carriesNone(c.Request) {
		return loginByCertificate(ctx, certificates, shown, client)
	}
	given, err := credentials(c.Request)
	if err != nil {
		return auth.Principal{}, nil, err
	}
	return loginByKey(ctx, verifier, given, client)
}

func loginByCertificate(ctx context.Context, verifier CertificateVerifier, shown auth.Certificate,
	client auth.Client) (auth.Principal, reverify, error) {
	principal, err := verifier.VerifyCertificate(ctx, shown, client)
	later, ok := verifier.(Reverifier)
	if !ok {
		return principal, nil, err
	}
	return principal, func(ctx context.Context, before auth.Principal) (auth.Principal, error) {
		return later.VerifyCertificateAgain(ctx, shown, before)
	}, err
}

func loginByKey(ctx context.Context, verifier Verifier, given auth.Credentials,
	client auth.Client) (auth.Principal, reverify, error) {
	later, ok := verifier.(Reverifier)
	if !ok {
		principal, err := verifier.Verify(ctx, given, client)
		return principal, nil, err
	}
	edition := later.Edition() // asked first: Verify may go by a newer one
	principal, err := verifier.Verify(ctx, given, client)
	return principal, func(ctx context.Context, before auth.Principal) (auth.Principal, error) {
		return later.VerifyAgain(ctx, given, before, edition)
	}, err
}

// verifyAgain refuses a caller whose credentials were taken back, or ended, while its body
// arrived. Principal then returns what they are good for now.
func verifyAgain(c *gin.Context) error {
	r := infoOf(c)
	if r.again == nil {
		return nil
	}
	principal, err := r.again(c.Request.Context(), r.principal)
	if err == nil {
		r.principal = principal
	}
	return err
}

// carriesNone reports whether there is nothing in a request that could have been meant as
// credentials. Who sends some that are no good is not let in as somebody else.
func carriesNone(r *http.Request) bool {
	for _, header := range keyHeaders() {
		if len(r.Header.Values(header)) > 0 {
			return false
		}
	}
	return len(r.Header.Values("Authorization")) == 0
}

// Principal returns the verified caller; the zero Principal, which may nothing, where
// Authenticate did not run.
func Principal(c *gin.Context) auth.Principal {
	if r := infoIn(c.Request.Context()); r != nil {
		return r.principal
	}
	return auth.Principal{}
}

// NativeCredentials reads X-API-Key with X-Org-ID, HTTP Basic with the organization's UUID as user
// name, Private-Token or Job-Token as X-API-Key, or a Bearer key, in this order. A key that carries its
// organization needs no other word for it, and goes with any user name that is not a UUID. A token
// may stand in the place of each key; as Bearer it goes with X-Org-ID, or with none. So may
// the token of a run, with any user name: one that is an organization must be the run's.
func NativeCredentials(r *http.Request) (auth.Credentials, error) {
	if key := r.Header.Get(apiKeyHeader); key != "" {
		return withOrg(r.Header.Get(orgHeader), key)
	}
	if user, key, ok := r.BasicAuth(); ok {
		given, err := withOrg(user, key)
		if err == nil && given.Org == uuid.Nil {
			given.Org, _ = auth.OrgOfKey(key)
		}
		return given, err
	}
	if key := cmp.Or(r.Header.Get(privateToken), r.Header.Get(jobToken)); key != "" {
		return withOrg(r.Header.Get(orgHeader), key)
	}
	return bearer(r)
}

// KeyCredentials is NativeCredentials for the partition spelling, whose clients send any
// Basic user name, UUIDs among them: the key alone says which organization it is, when it carries
// one. A token's is that of the rule which it is for, unless the user name is an organization.
func KeyCredentials(r *http.Request) (auth.Credentials, error) {
	if user, key, ok := r.BasicAuth(); ok && r.Header.Get(apiKeyHeader) == "" {
		if org, carries := auth.OrgOfKey(key); carries {
			return auth.Credentials{Org: org, Key: key}, nil
		}
		if org, named := orgID(user); auth.IsToken(key) && !named {
			return auth.Credentials{Org: org, Key: key}, nil
		}
	}
	return NativeCredentials(r)
}

// CredentialsOf returns the credentials of a key that goes with an organization's UUID, or with none
// where it carries one.
func CredentialsOf(org, key string) (auth.Credentials, error) { return withOrg(org, key) }

// uuidLength is that of a UUID's usual form, the only one that is accepted.
const uuidLength = 36

// withOrg takes the organization from the key when there is no other word for it, and leaves it
// nil when that is not a UUID: the verifier then refuses it at the same cost as any other wrong
// one. With a token, nil would leave the choice to the rules, so what was meant for one
// organization could pass for another.
func withOrg(org, key string) (auth.Credentials, error) {
	id, named := orgID(org)
	switch {
	case named:
		return auth.Credentials{Org: id, Key: key}, nil
	case org == "":
		id, _ = auth.OrgOfKey(key)
	case auth.IsToken(key): // a run's token names its organization itself
		return auth.Credentials{},
			fault.New(fault.CredentialsWrong, "the user name, or X-Org-ID, is not an organization's UUID")
	}
	return auth.Credentials{Org: id, Key: key, Name: org}, nil
}

// orgID returns the organization that a text names in the usual form.
func orgID(text string) (uuid.UUID, bool) {
	id, err := uuid.Parse(text)
	if err != nil || len(text) != uuidLength {
		return uuid.Nil, false
	}
	return id, id != uuid.Nil
}

func bearer(r *http.Request) (auth.Credentials, error) {
	scheme, key, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return auth.Credentials{}, fault.New(fault.CredentialsNeeded,
			"no credentials; send HTTP Basic with a key as password (TF_HTTP_USERNAME, which may be anything with a key of "+
				"`holdfast key add`, and TF_HTTP_PASSWORD), X-Org-ID with X-API-Key, or a Bearer key or token")
	}
	key = strings.TrimSpace(key)
	if auth.IsToken(key) || auth.IsRunToken(key) {
		return withOrg(r.Header.Get(orgHeader), key)
	}
	org, _ := auth.OrgOfKey(key)
	return auth.Credentials{Org: org, Key: key}, nil
}
