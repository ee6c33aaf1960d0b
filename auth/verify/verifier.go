package verify

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// Config sets up a Verifier. Zero values mean the defaults.
type Config struct {
	Logger *slog.Logger     // slog.Default()
	Now    func() time.Time // time.Now

	// Remember is how long a verified key is good without another bcrypt (5 minutes), and
	// RememberKeys how many are remembered (10,000).
	Remember     time.Duration
	RememberKeys int

	// FailuresPerMinute is how many wrong credentials one address may send in a minute, and
	// at once (10). For one organization it is ten times as many.
	FailuresPerMinute int

	// Tokens checks those JSON Web Tokens that come in the place of a key. With nil they
	// are wrong keys.
	Tokens TokenVerifier

	// Checks is how many bcrypts run at once. By default that is half of GOMAXPROCS, at
	// least one: whatever strangers send, the other half serves those whose key is known.
	Checks int
}

// Verifier checks credentials against the keyring in force. It is safe for concurrent use.
type Verifier struct {
	log      *slog.Logger
	now      func() time.Time
	current  atomic.Pointer[inForce]
	issued   atomic.Uint64 // generations given out
	seal     sealer
	verified *verified
	refused  refused
	failures *failures
	tokens   TokenVerifier // may be nil
	flights  *flights[flightKey, match]
	gate     *gate
	compare  func(hash, key string) bool
}

// inForce is a keyring with a number that no other has.
type inForce struct {
	*keyring.Keyring
	generation uint64
}

// New returns a verifier without organizations: it refuses everybody until Use.
func New(c Config) (*Verifier, error) {
	c = c.withDefaults()
	verified, err := newVerified(c.RememberKeys, c.Remember, c.Now)
	if err != nil {
		return nil, err
	}
	refused, err := newRefused(c.RememberKeys, c.FailuresPerMinute)
	if err != nil {
		return nil, err
	}
	failures, err := newFailures(c.FailuresPerMinute, c.Now)
	if err != nil {
		return nil, err
	}
	v := &Verifier{
		log:      c.Logger,
		seal:     newSealer(),
		now:      c.Now,
		verified: verified,
		refused:  refused,
		failures: failures,
		tokens:   c.Tokens,
		flights:  newFlights[flightKey, match](),
		// With a check of 50 ms, 256 are some 13 seconds of work for one core.
		gate:    newGate(c.Checks, crowd{place: 64, org: 256, client: 256, total: 1024}),
		compare: bcryptMatches,
	}
	v.Use(keyring.New())
	return v, nil
}

func (c Config) withDefaults() Config {
	if c.Logger == nil {
		c.Logger = slog.Default()
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Remember <= 0 {
		c.Remember = 5 * time.Minute
	}
	if c.RememberKeys <= 0 {
		c.RememberKeys = 10_000
	}
	if c.FailuresPerMinute <= 0 {
		c.FailuresPerMinute = 10
	}
	if c.Checks <= 0 {
		c.Checks = max(1, runtime.GOMAXPROCS(0)/2)
	}
	return c
}

func bcryptMatches(hash, key string) bool {
	return bcrypt.CompareHashAndPassword([]byte(hash), []byte(key)) == nil
}

// Use puts a keyring in force. When it returns, nothing that was verified before counts
// any more, and neither does a check that is still running: a key that r lacks is refused.
func (v *Verifier) Use(r *keyring.Keyring) {
	v.current.Store(&inForce{r, v.issued.Add(1)})
}

// Keyring returns what is in force.
func (v *Verifier) Keyring() *keyring.Keyring { return v.current.Load().Keyring }

// Verify returns who is calling. A refusal is a *fault.Error:
//
//   - CredentialsWrong, after the same work for a wrong key as for an unknown organization;
//   - TooManyFailures, before any such work, because of what came before;
//   - KeyExpired or AddressRefused, which only those learn who have the key;
//   - TokenRefused or IssuerUnavailable, for a token;
//   - Busy when too many checks are waiting or ctx ended meanwhile.
//
// It is logged with the organization and the client; the request ID is in ctx (package
// logctx).
func (v *Verifier) Verify(ctx context.Context, cred auth.Credentials, client auth.Client) (auth.Principal, error) {
	if v.tokens != nil && auth.IsToken(cred.Key) {
		return v.verifyToken(ctx, cred, client)
	}
	m, err := v.match(ctx, cred, client.Address)
	if err == nil {
		err = usable(m.key.Grant, m.key.From, v.now(), client.Address)
	}
	if err != nil {
		return auth.Principal{}, v.refuse(ctx, err, cred.Org, client)
	}
	return principalOf(m, cred.Org, client), nil
}

// principalOf returns whom a key stands for.
func principalOf(m match, org uuid.UUID, client auth.Client) auth.Principal {
	return auth.Principal{
		Org:     org,
		OrgName: m.orgName,
		KeyID:   m.key.ID,
		KeyName: m.key.Name,
		Grant:   m.key.Grant,
		Limits:  m.limits,
		Address: client.Address,
		Request: client.Request,
	}
}
