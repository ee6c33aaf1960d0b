//go:build e2e

package test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast/holdfast/oidc/oidctest"
)

// audience is that of the tokens that scripts use.
const audience = "holdfast"

// tokens is a script's issuer, and the key that it signs with.
type tokens struct {
	t      testing.TB
	issuer *oidctest.Issuer
	key    oidctest.Key
}

// issue starts the script's issuer, or changes what it does.
func issue(w *world, ts *testscript.TestScript, args []string) error {
	if w.tokens.issuer == nil {
		w.tokens.issuer = oidctest.New(w.tokens.t)
		ts.Setenv("ISSUER", w.tokens.issuer.URL)
		w.tokens.rotate("first")
		return nil
	}
	switch {
	case len(args) == 2 && args[0] == "rotate":
		w.tokens.issuer.Retire(w.tokens.key.ID)
		w.tokens.rotate(args[1])
	case len(args) == 1 && args[0] == "down":
		w.tokens.issuer.Instead(func(answer http.ResponseWriter,
			_ *http.Request) {
			answer.WriteHeader(http.StatusBadGateway)
		})
	default:
		return errors.New("it is started once, then goes down, or rotates its key to one of a new ID")
	}
	return nil
}

func (k *tokens) rotate(id string) { k.key = k.issuer.Add(k.t, id, jose.RS256) }

// sign sets $TOKEN to a token whose claims are changed as the arguments say.
func sign(w *world, ts *testscript.TestScript, args []string) error {
	if w.tokens.issuer == nil {
		return errors.New("there is no issuer")
	}
	claims := w.tokens.issuer.Claims(audience, time.Now())
	for _, change := range args {
		name, value, ok := strings.Cut(change, "=")
		if !ok {
			return fmt.Errorf("%s is not NAME=VALUE", change)
		}
		claims = claims.With(name, value)
	}
	ts.Setenv("TOKEN", w.tokens.key.Sign(w.tokens.t, claims))
	return nil
}
