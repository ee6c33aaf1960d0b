package oidc_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/oidc/oidctest"
)

const unknownKey = "signed with a key that its issuer doesn't have"

func TestKeysRotate(t *testing.T) {
	r := newRig(t)
	r.mustPass(t, r.key.Sign(t, r.claims()))
	r.pass(5 * time.Second)
	second := r.issuer.Add(t, "second", jose.EdDSA)
	r.mustPass(t, second.Sign(t, r.claims()))
	r.issuer.Retire("first")
	r.mustPass(t, r.key.Sign(t, r.claims())) // fresh for ten minutes
	r.pass(10 * time.Minute)
	r.mustFail(t, r.key.Sign(t, r.claims()), fault.TokenRefused, unknownKey)
	r.mustPass(t, second.Sign(t, r.claims()))
	if n := r.issuer.Fetches(); n != 3 {
		t.Errorf("%d fetches, want 3", n)
	}
}

// A token that names a known key, and was signed by another, must not make us ask.
func TestMadeUpKeysDontHammerTheIssuer(t *testing.T) {
	r := newRig(t)
	stranger := oidctest.NewKey(t, "x", jose.ES256)
	flood := func() {
		for n := range 200 {
			stranger.ID = fmt.Sprint("made-up-", n)
			r.mustFail(t, stranger.Sign(t, r.claims()), fault.TokenRefused, unknownKey)
		}
	}
	flood()
	if n := r.issuer.Fetches(); n != 1 {
		t.Errorf("%d fetches, want 1", n)
	}
	r.pass(5 * time.Second)
	flood()
	r.mustPass(t, r.key.Sign(t, r.claims()))
	stranger.ID = "first"
	r.pass(5 * time.Second)
	r.mustFail(t, stranger.Sign(t, r.claims()), fault.TokenRefused, "not signed with its issuer's key")
	if n := r.issuer.Fetches(); n != 2 {
		t.Errorf("%d fetches, want 2", n)
	}
}

func TestCacheControlIsHonouredWithinBounds(t *testing.T) {
	for _, c := range []struct {
		header string
		fresh  time.Duration
	}{
		{"", 10 * time.Minute},
		{"public, max-age=120", 2 * time.Minute},
		{"MAX-AGE=\"120\"", 2 * time.Minute},
		{"max-age=1", time.Minute},
		{"max-age=86400", time.Hour},
		{"max-age=-1", 10 * time.Minute},
		{"max-age=99999999999999999999", 10 * time.Minute},
		{"no-store, max-age=3000", time.Minute},
	} {
		t.Run(c.header, func(t *testing.T) {
			r := newRig(t)
			r.issuer.SetHeader("Cache-Control", c.header)
			r.mustPass(t, r.key.Sign(t, r.claims()))
			r.pass(c.fresh - time.Second)
			r.mustPass(t, r.key.Sign(t, r.claims()))
			if n := r.issuer.Fetches(); n != 1 {
				t.Errorf("%d fetches while the keys are fresh, want 1", n)
			}
			r.pass(time.Second)
			r.mustPass(t, r.key.Sign(t, r.claims()))
			if n := r.issuer.Fetches(); n != 2 {
				t.Errorf("%d fetches, want 2", n)
			}
		})
	}
}

func TestOldKeysCountForAnHourWhileTheIssuerIsDown(t *testing.T) {
	r := newRig(t)
	r.mustPass(t, r.key.Sign(t, r.claims()))
	r.issuer.Instead(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) })
	r.pass(10*time.Minute + time.Hour - time.Second)
	r.mustPass(t, r.key.Sign(t, r.claims()))
	stranger := oidctest.NewKey(t, "new", jose.ES256)
	r.mustFail(t, stranger.Sign(t, r.claims()), fault.IssuerUnavailable, "")
	r.pass(time.Second)
	r.mustFail(t, r.key.Sign(t, r.claims()), fault.IssuerUnavailable, "")
	r.issuer.Instead(nil)
	r.pass(4 * time.Second)
	r.mustPass(t, r.key.Sign(t, r.claims()))
}

// An issuer with one key need not name it.
func TestTokenWithoutKeyID(t *testing.T) {
	r := newRig(t)
	r.issuer.Retire("first")
	only := r.issuer.Add(t, "", jose.ES256)
	r.mustPass(t, only.Sign(t, r.claims()))
	r.issuer.Add(t, "", jose.ES256)
	r.pass(time.Hour)
	r.mustFail(t, only.Sign(t, r.claims()), fault.TokenRefused, unknownKey)
}
