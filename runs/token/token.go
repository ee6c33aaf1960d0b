// Package token makes and reads the tokens of runs: what an executor, and the tool that it
// has started, show as a password or as Bearer. A token names one run, one epoch and one
// state, and is good for a time; whether that epoch may still write is decided by the state's
// fence, not by the token.
package token

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// A token is "hfr_" and, in base64url without padding, one byte for the format, the claims as
// JSON, and the HMAC-SHA256 of the two. Nothing of it is secret but the HMAC: whoever has the
// token may read what it is for. Nothing of it is parsed before the HMAC is found to be right.
const (
	format    = 1
	macLength = sha256.Size
	maxLength = 4 << 10 // far above any: a state's name has 255 characters, a run's ID 26
)

// keyPurpose separates the key of these tokens from others that come from the same secret.
const keyPurpose = "holdfast run token, format 1"

// SecretLength is how many random bytes a Signer needs.
const SecretLength = 32

// Claims are what a token says.
type Claims struct {
	Run     string
	Org     uuid.UUID
	Epoch   int64
	Stage   auth.RunStage
	State   string
	Version uint64 // what a plan reads; 0 for there being no state
	// Removes and Resources are those of auth.RunGrant.
	Removes, Resources int
	Tool               bool      // it is for the run's tool, and not for its executor
	Expires            time.Time // the first moment at which the token is no longer good; whole seconds
}

// payload is Claims as a token spells them.
type payload struct {
	Run     string        `json:"run"`
	Org     uuid.UUID     `json:"org"`
	Epoch   int64         `json:"epoch"`
	Stage   auth.RunStage `json:"stage"`
	State   string        `json:"state"`
	Version uint64        `json:"version"`
	Removes int           `json:"removes,omitempty"`
	Of      int           `json:"resources,omitempty"`
	Tool    bool          `json:"tool,omitempty"`
	Expires int64         `json:"exp"` // seconds since 1970
}

// Principal returns whom the token stands for. What the organization is called and may do is
// for the caller to add.
func (c Claims) Principal() auth.Principal {
	return auth.Principal{
		Org: c.Org, KeyID: auth.RunKeyID(c.Run), Grant: auth.Grant{Expires: c.Expires},
		Run: &auth.RunGrant{ID: c.Run, Epoch: c.Epoch, Stage: c.Stage, State: c.State, Version: c.Version,
			Removes: c.Removes, Resources: c.Resources, Tool: c.Tool},
	}
}

// Signer makes tokens and knows its own. It is safe for concurrent use.
type Signer struct{ key []byte }

// NewSigner returns a signer with a secret: servers with the same one accept each other's
// tokens, and after a restart with another one no older token is good.
func NewSigner(secret [SecretLength]byte) *Signer {
	return &Signer{key: sum(secret[:], []byte(keyPurpose))}
}

// Sign returns a token. Fractions of a second of its expiry are cut off.
func (s *Signer) Sign(c Claims) string {
	said, _ := json.Marshal(payload{c.Run, c.Org, c.Epoch, c.Stage, c.State, c.Version, c.Removes, c.Resources, c.Tool,
		c.Expires.Unix()}) // texts and numbers only: never fails
	signed := append([]byte{format}, said...)
	return auth.RunTokenPrefix + base64.RawURLEncoding.EncodeToString(append(signed, sum(s.key, signed)...))
}

// Parse returns what a token says, if this signer made it. Faults: TokenRefused for what no
// signer with this secret made; KeyExpired for what one made, when its time is over.
func (s *Signer) Parse(token string, now time.Time) (Claims, error) {
	c, err := s.Read(token)
	if err == nil && !now.Before(c.Expires) {
		return Claims{}, fault.New(fault.KeyExpired, "the token of run %s was good until %s", c.Run,
			c.Expires.Format(time.RFC3339))
	}
	return c, err
}

// Read is Parse for who has a better clock than the wall's: what a token says counts as well when its
// time is over. Its fault: TokenRefused.
func (s *Signer) Read(token string) (Claims, error) {
	signed, ok := s.open(token)
	if !ok {
		return Claims{}, refused("it is none that this server has made, or was changed since")
	}
	var said payload
	if signed[0] != format || json.Unmarshal(signed[1:], &said) != nil {
		return Claims{}, refused("it has a format that this server does not know")
	}
	return Claims{said.Run, said.Org, said.Epoch, said.Stage, said.State, said.Version, said.Removes, said.Of,
		said.Tool, time.Unix(said.Expires, 0).UTC()}, nil
}

// open returns the format and the claims of a token whose HMAC is right. It takes one spelling
// of each token only.
func (s *Signer) open(token string) ([]byte, bool) {
	if len(token) > maxLength || !auth.IsRunToken(token) ||
		strings.ContainsAny(token, "\r\n") { // which a decoder passes over
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token[len(auth.RunTokenPrefix):])
	if err != nil || len(raw) <= macLength {
		return nil, false
	}
	signed, mac := raw[:len(raw)-macLength], raw[len(raw)-macLength:]
	return signed, hmac.Equal(mac, sum(s.key, signed))
}

func sum(key, text []byte) []byte {
	h := hmac.New(sha256.New, key)
	h.Write(text) // never fails
	return h.Sum(nil)
}

func refused(why string) error {
	return fault.New(fault.TokenRefused, "the run's token is not accepted: %s", why)
}

// Verifier says who has a token, by the token alone. It is a verify.RunVerifier.
type Verifier struct {
	Signer *Signer
	Now    func() time.Time
}

// VerifyRun returns whom a token stands for. Faults are those of Parse.
func (v Verifier) VerifyRun(_ context.Context, token string) (auth.Principal, error) {
	claims, err := v.Signer.Parse(token, v.Now())
	if err != nil {
		return auth.Principal{}, err
	}
	return claims.Principal(), nil
}
