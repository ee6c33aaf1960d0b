package verify

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/fault"
)

// runTokens are the tokens of runs that are good.
type runTokens map[string]auth.Principal

func (r runTokens) VerifyRun(_ context.Context, token string) (auth.Principal, error) {
	p, ok := r[token]
	if !ok {
		return auth.Principal{}, fault.New(fault.TokenRefused, "none of ours")
	}
	return p, nil
}

func runPrincipal() auth.Principal {
	return auth.Principal{
		Org: orgA, KeyID: "run.r", Grant: auth.Grant{Expires: time.Unix(5000, 0)},
		Run: &auth.RunGrant{ID: "r", Epoch: 2, Stage: auth.RunApply, State: "prod/a"},
	}
}

const acmeLimits = "[11111111-2222-3333-4444-555555555555]\nname = Acme\nrate_limit = 7\nstate_rate_limit = 9\n"

// A run calls as its organization: with its name and its limits, which nobody made for the
// run alone.
func TestRunBecomesPrincipal(t *testing.T) {
	b := newBench(t, Config{Runs: runTokens{"hfr_good": runPrincipal()}})
	b.Use(parse(t, acmeLimits))
	told := 0
	b.Tell(func(auth.Principal) { told++ })
	want := runPrincipal()
	want.OrgName, want.Limits, want.Address, want.Request = "Acme", auth.Limits{Requests: 7, States: 9}, "192.0.2.1", "r1"
	for _, cred := range []auth.Credentials{{Key: "hfr_good"}, {Org: orgA, Key: "hfr_good"}} {
		got, err := b.Verify(t.Context(), cred, auth.Client{Address: "192.0.2.1", Request: "r1"})
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%v, principal (-want +got):\n%s", err, diff)
		}
	}
	if n := b.compared.Load(); n != 0 || told != 0 {
		t.Errorf("%d comparisons for a run's token, %d uses remembered", n, told)
	}
}

func TestRunsThatAreRefused(t *testing.T) {
	ended, foreign, none := runPrincipal(), runPrincipal(), runPrincipal()
	ended.Expires, foreign.Org, none.Run = time.Unix(1, 0), orgB, nil
	b := newBench(t, Config{Runs: runTokens{"hfr_good": runPrincipal(), "hfr_ended": ended, "hfr_foreign": foreign,
		"hfr_none": none}})
	b.Use(parse(t, acmeLimits))
	b.now.Store(100)
	for name, test := range map[string]struct {
		cred auth.Credentials
		want fault.Code
	}{
		"unknown":                            {auth.Credentials{Key: "hfr_secret"}, fault.TokenRefused},
		"over":                               {auth.Credentials{Key: "hfr_ended"}, fault.KeyExpired},
		"of another organization than named": {auth.Credentials{Org: orgB, Key: "hfr_good"}, fault.TokenRefused},
		"of an organization that is gone":    {auth.Credentials{Key: "hfr_foreign"}, fault.TokenRefused},
		"of no run":                          {auth.Credentials{Key: "hfr_none"}, fault.TokenRefused},
	} {
		if _, err := b.Verify(t.Context(), test.cred, auth.Client{Address: name}); !fault.Is(err, test.want) {
			t.Errorf("%s: %v, want %s", name, err, test.want)
		}
	}
	if log := b.log.String(); strings.Contains(log, "hfr_secret") || !strings.Contains(log, "credentials refused") {
		t.Errorf("the log shows the token, or nothing: %s", log)
	}
}

// Tokens that are no good count as wrong keys do, and good ones pass all the same.
func TestRefusedRunsAreFailures(t *testing.T) {
	b := newBench(t, Config{Runs: runTokens{"hfr_good": runPrincipal()}})
	b.Use(parse(t, acmeLimits))
	for n := range 20 {
		want := string(fault.TokenRefused)
		if n >= 10 {
			want = tooMany
		}
		if got := b.from("192.0.2.1", orgA, "hfr_bad"); got != want {
			t.Errorf("token %d: %s, want %s", n, got, want)
		}
	}
	if got := b.from("192.0.2.1", orgA, "hfr_good"); got != in {
		t.Errorf("a good token from there: %s", got)
	}
}

// Where there are no runs, their tokens are keys that nobody has.
func TestNoRuns(t *testing.T) {
	b := newBench(t, Config{})
	b.Use(parse(t, acmeLimits))
	if _, err := b.Verify(t.Context(), auth.Credentials{Org: orgA, Key: "hfr_good"}, auth.Client{}); !fault.Is(err,
		fault.CredentialsWrong) {
		t.Errorf("%v", err)
	}
}

// A run whose organization was taken out while its body arrived is refused.
func TestRunAgain(t *testing.T) {
	b := newBench(t, Config{Runs: runTokens{"hfr_good": runPrincipal()}})
	b.Use(parse(t, acmeLimits))
	cred := auth.Credentials{Key: "hfr_good"}
	edition := b.Edition()
	p, err := b.Verify(t.Context(), cred, auth.Client{Address: "192.0.2.1"})
	if err != nil {
		t.Fatal(err)
	}
	b.Use(parse(t, strings.Replace(acmeLimits, "9", "11", 1)))
	if now, err := b.VerifyAgain(t.Context(), cred, p, edition); err != nil || now.Limits.States != 11 || now.Run == nil ||
		now.Address != "192.0.2.1" {
		t.Errorf("%+v, %v", now, err)
	}
	b.Use(keyring.New())
	if _, err := b.VerifyAgain(t.Context(), cred, p, edition); !fault.Is(err, fault.CredentialsRevoked) {
		t.Errorf("%v, want %s", err, fault.CredentialsRevoked)
	}
}
