package verify

import (
	"errors"
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
)

// TestTrustWhile: while nobody knows whether the keyring still counts, nobody is let in, by whatever way, and
// afterwards as before.
func TestTrustWhile(t *testing.T) {
	b := newBench(t, Config{})
	ring := parse(t, "["+orgA.String()+"]\n"+fakeHash(1))
	b.Use(ring)
	unknown := errors.New("nobody knows")
	var says error
	b.TrustWhile(func() error { return says })
	login := auth.Login{Org: orgA, KeyID: ring.Organizations[orgA].Keys[0].ID}
	for _, want := range []error{nil, unknown, nil} {
		says = want
		_, byKey := b.Verify(t.Context(), auth.Credentials{Org: orgA, Key: "k1"}, auth.Client{})
		_, byLogin := b.VerifyLogin(t.Context(), login, auth.Client{})
		before := auth.Principal{Org: orgA, KeyID: login.KeyID, Grant: ring.Organizations[orgA].Keys[0].Grant}
		_, again := b.VerifyAgain(t.Context(), auth.Credentials{Org: orgA, Key: "k1"}, before, b.current.Load().edition)
		_, _, bySignIn := b.SignInBy(t.Context(), orgA, func(k *keyring.Keyring) (keyring.Token, error) {
			login := keyring.TokenLogin{Org: k.Organizations[orgA], Rule: keyring.TokenRule{}}
			return keyring.Token{TokenLogin: login}, nil
		}, auth.Client{})
		for what, err := range map[string]error{"key": byKey, "session": byLogin, "again": again, "issuer": bySignIn} {
			if !errors.Is(err, want) {
				t.Errorf("with %v: %s %v", want, what, err)
			}
		}
	}
}
