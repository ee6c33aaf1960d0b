package middleware_test

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

var (
	acme   = uuid.MustParse("11111111-2222-3333-4444-55555555abcd")
	globex = uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")
)

const madeByHand = "a key that an operator made" // and that carries no organization

func basic(user, key string) string {
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+key))
}

// A nil organization is nobody's: the verifier refuses it as it does a wrong one.
func TestCredentials(t *testing.T) {
	key, token := auth.NewKey(acme), madeToken()
	type credentials = auth.Credentials
	tests := []struct {
		name      string
		headers   []string
		native    credentials
		partition credentials // the zero value: the same
	}{
		{"X-API-Key", []string{"X-Org-ID: " + acme.String(), "X-API-Key: " + key}, credentials{Org: acme, Key: key},
			credentials{}},
		{"X-API-Key, made by hand", []string{"X-Org-ID: " + acme.String(), "X-API-Key: " + madeByHand},
			credentials{Org: acme, Key: madeByHand}, credentials{}},
		{"X-API-Key of another organization", []string{"X-Org-ID: " + globex.String(), "X-API-Key: " + key},
			credentials{Org: globex, Key: key}, credentials{}},
		{"X-API-Key without X-Org-ID", []string{"X-API-Key: " + key}, credentials{Org: acme, Key: key}, credentials{}},
		{"X-API-Key, X-Org-ID no UUID", []string{"X-Org-ID: acme", "X-API-Key: " + key}, credentials{Key: key},
			credentials{}},
		{"X-API-Key, X-Org-ID of zeros", []string{"X-Org-ID: " + uuid.Nil.String(), "X-API-Key: " + key},
			credentials{Key: key}, credentials{}},
		{"Private-Token", []string{"Private-Token: " + key}, credentials{Org: acme, Key: key}, credentials{}},
		{"Private-Token, made by hand", []string{"Private-Token: " + madeByHand}, credentials{Key: madeByHand},
			credentials{}},
		{"Basic before Private-Token", []string{"Private-Token: " + key, basic(globex.String(), madeByHand)},
			credentials{Org: globex, Key: madeByHand}, credentials{}},
		{"Private-Token before Bearer", []string{"Private-Token: " + key, "Authorization: Bearer " + madeByHand},
			credentials{Org: acme, Key: key}, credentials{}},
		{"Job-Token, an organization named", []string{"X-Org-ID: " + globex.String(), "Job-Token: " + madeByHand},
			credentials{Org: globex, Key: madeByHand}, credentials{}},
		{"Job-Token, token", []string{"X-Org-ID: " + acme.String(), "Job-Token: " + token},
			credentials{Org: acme, Key: token}, credentials{}},
		{"X-API-Key before Basic",
			[]string{"X-Org-ID: " + globex.String(), "X-API-Key: " + madeByHand, basic(acme.String(), key)},
			credentials{Org: globex, Key: madeByHand}, credentials{}},
		{"X-API-Key before Bearer", []string{"X-Org-ID: acme", "X-API-Key: " + madeByHand, "Authorization: Bearer " + key},
			credentials{Key: madeByHand}, credentials{}},
		{"X-Org-ID beside Bearer", []string{"X-Org-ID: " + globex.String(), "Authorization: Bearer " + key},
			credentials{Org: acme, Key: key}, credentials{}},

		{"Basic", []string{basic(acme.String(), key)}, credentials{Org: acme, Key: key}, credentials{}},
		{"Basic in capitals", []string{basic(strings.ToUpper(acme.String()), key)}, credentials{Org: acme, Key: key},
			credentials{}},
		{"Basic, scheme in small letters", []string{strings.Replace(basic(acme.String(), key), "Basic", "basic", 1)},
			credentials{Org: acme, Key: key}, credentials{}},
		{"Basic, made by hand", []string{basic(acme.String(), madeByHand)}, credentials{Org: acme, Key: madeByHand},
			credentials{}},
		{"Basic, made by hand with a colon", []string{basic(acme.String(), "a:b")}, credentials{Org: acme, Key: "a:b"},
			credentials{}},
		{"Basic, any user name", []string{basic("terraform", key)}, credentials{Org: acme, Key: key}, credentials{}},
		{"Basic, no user name", []string{basic("", key)}, credentials{Org: acme, Key: key}, credentials{}},
		{"Basic, another organization's key", []string{basic(globex.String(), key)}, credentials{Org: globex, Key: key},
			credentials{Org: acme, Key: key}},
		{"Basic, any user name, made by hand", []string{basic("terraform", madeByHand)}, credentials{Key: madeByHand},
			credentials{}},
		{"Basic, no key", []string{basic(acme.String(), "")}, credentials{Org: acme}, credentials{}},

		{"Bearer", []string{"Authorization: Bearer " + key}, credentials{Org: acme, Key: key}, credentials{}},
		{"bearer", []string{"Authorization: bearer " + key}, credentials{Org: acme, Key: key}, credentials{}},
		{"BEARER", []string{"Authorization: BEARER " + key}, credentials{Org: acme, Key: key}, credentials{}},
		{"Bearer with more spaces", []string{"Authorization: Bearer    " + key + "  "}, credentials{Org: acme, Key: key},
			credentials{}},
		{"Bearer token", []string{"Authorization: Bearer " + token}, credentials{Key: token}, credentials{}},
		{"X-Org-ID beside a Bearer token", []string{"X-Org-ID: " + acme.String(), "Authorization: Bearer " + token},
			credentials{Org: acme, Key: token}, credentials{}},
		{"Basic, token", []string{basic(acme.String(), token)}, credentials{Org: acme, Key: token}, credentials{}},
		{"Basic, token without a user name", []string{basic("", token)}, credentials{Key: token}, credentials{}},
		{"X-API-Key, token", []string{"X-Org-ID: " + acme.String(), "X-API-Key: " + token},
			credentials{Org: acme, Key: token}, credentials{}},
		{"Bearer, made by hand", []string{"Authorization: Bearer " + madeByHand}, credentials{Key: madeByHand},
			credentials{}},
	}
	for _, test := range tests {
		if test.partition == (credentials{}) {
			test.partition = test.native
		}
		for read, want := range map[string]credentials{"native": test.native, "partition": test.partition} {
			got, err := reader(read)(request("GET", test.headers...))
			if err != nil || got.Org != want.Org || got.Key != want.Key {
				t.Errorf("%s, %s: %s %q, %v; want %s %q", test.name, read, got.Org, got.Key, err, want.Org, want.Key)
			}
		}
	}
}

func madeToken() string { return "eyJhbGciOiJFUzI1NiJ9." + strings.Repeat("x", 60) + ".c2ln" }

// A token's organization is never guessed where one was named, wrongly. Clients of the
// partition spelling send any user name, so there it names none.
func TestTokenForAnotherNameThanAnOrganizations(t *testing.T) {
	token := madeToken()
	for _, name := range []string{"acme", acme.String()[1:], "{" + acme.String() + "}", uuid.Nil.String()} {
		for _, headers := range [][]string{
			{basic(name, token)}, {"X-Org-ID: " + name, "X-API-Key: " + token},
			{"X-Org-ID: " + name, "Authorization: Bearer " + token},
		} {
			got, err := middleware.NativeCredentials(request("GET", headers...))
			if !fault.Is(err, fault.CredentialsWrong) || got != (auth.Credentials{}) {
				t.Errorf("%.14q: %s, %v; want %s", headers, got, err, fault.CredentialsWrong)
			}
		}
		got, err := middleware.KeyCredentials(request("GET", basic(name, token)))
		if err != nil || got != (auth.Credentials{Key: token}) {
			t.Errorf("partition, %s: %s, %v; want no organization", name, got, err)
		}
	}
}

func reader(spelling string) middleware.Credentials {
	if spelling == "partition" {
		return middleware.KeyCredentials
	}
	return middleware.NativeCredentials
}

// An organization has one way to be written, so that no two texts mean the same in logs,
// limits and proxies in front.
func TestOrganizationHasOneForm(t *testing.T) {
	id := acme.String()
	for _, read := range []string{"native", "partition"} {
		for _, org := range []string{
			"", "acme", "{" + id + "}", "urn:uuid:" + id, "URN:UUID:" + id, strings.ReplaceAll(id, "-", ""), id + "0", id[1:],
			id + " ", `"` + id + `"`, strings.ReplaceAll(id, "-", "_"), "x" + id[1:], id + "\x00",
		} {
			for _, headers := range [][]string{{"X-Org-ID: " + org, "X-API-Key: " + madeByHand}, {basic(org, madeByHand)}} {
				got, err := reader(read)(request("GET", headers...))
				if err != nil || got.Org != uuid.Nil || !strings.HasSuffix(got.Key, madeByHand) {
					t.Errorf("%s, %q as %.10s: %s %q, %v; want nobody's", read, org, headers, got.Org, got.Key, err)
				}
			}
		}
	}
}

func TestNoCredentials(t *testing.T) {
	key := auth.NewKey(acme)
	for _, headers := range [][]string{
		{}, {"Authorization: "}, {"Authorization: Bearer"}, {"Authorization: Basic"}, {"Authorization: " + key},
		{"Authorization: Bearer" + key}, {"Authorization: Token " + key}, {"Authorization: Basic " + key},
		{"Authorization:  Bearer " + key},
		{"X-Org-ID: " + acme.String()}, {"X-Org-ID: " + acme.String(), "X-API-Key: "}, {"Proxy-Authorization: Bearer " + key},
		{"Cookie: key=" + key},
	} {
		for _, read := range []string{"native", "partition"} {
			if got, err := reader(read)(request("GET", headers...)); !fault.Is(err, fault.CredentialsNeeded) ||
				got != (auth.Credentials{}) {
				t.Errorf("%s, %q: %s, %v; want %s", read, headers, got, err, fault.CredentialsNeeded)
			}
		}
	}
}

// verifier answers as it is told to, and notes what it was asked.
type verifier struct {
	err    error
	given  auth.Credentials
	client auth.Client
}

func (v *verifier) Verify(_ context.Context, given auth.Credentials, client auth.Client) (auth.Principal, error) {
	v.given, v.client = given, client
	return auth.Principal{Org: given.Org, Request: client.Request}, v.err
}

// Whatever keeps the verifier from saying yes, no handler runs.
func TestAuthenticateRefuses(t *testing.T) {
	busy := fault.New(fault.Busy, "too many")
	busy.RetryAfter = time.Second
	for name, c := range map[string]struct {
		err    error
		status int
		code   fault.Code
	}{
		"wrong":    {fault.New(fault.CredentialsWrong, "wrong"), 401, fault.CredentialsWrong},
		"busy":     {busy, 503, fault.Busy},
		"unknown":  {errors.New("secret cause"), 500, fault.InternalError},
		"canceled": {context.Canceled, 503, fault.Interrupted},
	} {
		got := serve(guarded(t, &verifier{err: c.err}), request("GET", basic(acme.String(), madeByHand), "X-Request-ID: r-1"))
		wantFailure(t, got, c.status,
			api.Failure{Status: "error", Code: api.ErrorCode(c.code), Message: fault.From(c.err).Message, RequestID: "r-1"})
		if after := got.Header().Get("Retry-After"); (after == "1") != (name == "busy") {
			t.Errorf("%s: Retry-After %q", name, after)
		}
	}
}

// guarded has a handler that must not run.
func guarded(t *testing.T, v middleware.Verifier) http.Handler {
	return newRouter(middleware.RequestID(), middleware.Authenticate(v, middleware.NativeCredentials),
		func(*gin.Context) { t.Error("the handler ran") })
}

func TestAuthenticateWithoutCredentials(t *testing.T) {
	v := &verifier{}
	got := serve(guarded(t, v), request("GET"))
	if got.Code != http.StatusUnauthorized || !strings.Contains(got.Body.String(), string(fault.CredentialsNeeded)) ||
		got.Header().Get("WWW-Authenticate") != `Basic realm="holdfast", charset="UTF-8"` {
		t.Errorf("%d %v %s", got.Code, got.Header(), got.Body)
	}
	if v.client != (auth.Client{}) {
		t.Error("the verifier was asked about nothing")
	}
}

func TestAuthenticatePassesThePrincipalOn(t *testing.T) {
	v := &verifier{}
	var before, after auth.Principal
	router := newRouter(middleware.RequestID(),
		func(c *gin.Context) { before = middleware.Principal(c) },
		middleware.Authenticate(v, middleware.NativeCredentials),
		func(c *gin.Context) { after = middleware.Principal(c) })
	serve(router, request("GET", basic(acme.String(), madeByHand), "X-Request-ID: r-1"))
	if before != (auth.Principal{}) || after != (auth.Principal{Org: acme, Request: "r-1"}) {
		t.Errorf("before %+v, after %+v", before, after)
	}
	if v.given.Key != madeByHand || v.client != (auth.Client{Address: "192.0.2.1", Request: "r-1"}) {
		t.Errorf("the verifier was asked about %q from %+v", v.given.Key, v.client)
	}
}
