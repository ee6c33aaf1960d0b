package verify

import (
	"context"
	"log/slog"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
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
	Tokens keyring.TokenVerifier

	// Runs checks the tokens of runs, which come in the place of a key. With nil they are
	// wrong keys.
	Runs RunVerifier

	// Checks is how many bcrypts run at once. By default that is half of GOMAXPROCS, at
	// least one: whatever strangers send, the other half serves those whose key is known.
	Checks int
}

// Verifier checks credentials against the keyring in force. It is safe for concurrent use.
type Verifier struct {
	log      *slog.Logger
	now      func() time.Time
	current  atomic.Pointer[inForce]
	issued   atomic.Uint64 // editions given out
	secrets  secrets
	verified *verified
	refused  refused
	refusals *refusals
	failures *failures
	tokens   keyring.TokenVerifier // may be nil
	runs     RunVerifier           // may be nil
	shared   *sharedChecks[sharedKey, match]
	queue    *queue
	compare  func(hash, key string) bool
	tell     func(auth.Principal) // of everybody who is let in
	trusts   func() error         // whether the keyring may be believed now
	failed   func(auth.Principal, fault.Code)
}

// RunVerifier checks the tokens of runs.
type RunVerifier interface {
	// VerifyRun returns whom a token stands for: a principal with an organization, a KeyID,
	// the run's grant and the time at which it ends. A refusal is a *fault.Error; one of code
	// TokenRefused counts as a failure.
	VerifyRun(ctx context.Context, token string) (auth.Principal, error)
}

// inForce is a keyring with a number that no other has.
type inForce struct {
	*keyring.Keyring
	edition uint64
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
		secrets:  newSecrets(),
		now:      c.Now,
		verified: verified,
		refused:  refused,
		refusals: newRefusals(),
		failures: failures,
		tokens:   c.Tokens,
		runs:     c.Runs,
		shared:   newSharedChecks[sharedKey, match](),
		// With a check of 50 ms, 256 are some 13 seconds of work for one core.
		queue:   newQueue(c.Checks, queueLimits{origin: 64, org: 256, client: 256, total: 1024}),
		compare: bcryptMatches,
		tell:    func(auth.Principal) {},
		trusts:  func() error { return nil },
		failed:  func(auth.Principal, fault.Code) {},
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

// Tell has noted called with every caller that Verify and VerifyCertificate let in from
// now on, except runs: nobody keeps their tokens. It must be called before either of them is.
func (v *Verifier) Tell(noted func(auth.Principal)) { v.tell = noted }

// TellFailed has noted called with every failed login at an organization that is in force: with who it was, as far
// as that is known, from where, and what they were told. It must be called before anybody is verified.
func (v *Verifier) TellFailed(noted func(auth.Principal, fault.Code)) { v.failed = noted }

// TrustWhile has nobody let in from now on, whatever they have come with, while trusted has an error, which is
// what they are told: what is in force may have been taken back elsewhere. It must be called before anybody is
// verified.
func (v *Verifier) TrustWhile(trusted func() error) { v.trusts = trusted }

// Use puts a keyring in force. When it returns, nothing that was verified before counts
// any more, and neither does a check that is still running: a key that r lacks is refused.
func (v *Verifier) Use(r *keyring.Keyring) {
	v.current.Store(&inForce{r, v.issued.Add(1)})
}

// Keyring returns what is in force.
func (v *Verifier) Keyring() *keyring.Keyring { return v.current.Load().Keyring }

// Edition returns the number of the keyring in force, which no other has.
func (v *Verifier) Edition() uint64 { return v.current.Load().edition }
