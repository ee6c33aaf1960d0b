package verify

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
)

// TestWrongSecretsOfAgentsCount: they are limited at an address, logged, counted and on record as wrong keys are, and
// keep nobody with a key out.
func TestWrongSecretsOfAgentsCount(t *testing.T) {
	b := newBench(t, Config{FailuresPerMinute: 3})
	b.Use(ring(t, map[uuid.UUID][]int{orgA: {1}}))
	noted := map[fault.Code]int{}
	b.TellFailed(func(who auth.Principal, told fault.Code) {
		if who.Org == orgA && who.Address == "192.0.2.1" {
			noted[told]++
		}
	})
	refuse := func(org uuid.UUID) fault.Code {
		return fault.From(b.RefuseSecret(context.Background(), fault.New(fault.CredentialsWrong, "no such agent"), org,
			auth.Client{Address: "192.0.2.1"})).Code
	}
	for i := range 40 {
		want := fault.CredentialsWrong
		if i >= 3*agentFactor {
			want = fault.TooManyFailures
		}
		if got := refuse([]uuid.UUID{orgA, uuid.Nil}[i%2]); got != want {
			t.Errorf("secret %d: %s, want %s", i, got, want)
		}
	}
	if noted[fault.CredentialsWrong] != 15 || noted[fault.TooManyFailures] != 5 {
		t.Errorf("on record are %v", noted)
	}
	if n := b.Refusals()[fault.CredentialsWrong]; n != 30 {
		t.Errorf("%d are counted", n)
	}
	if n := strings.Count(b.log.String(), "credentials refused"); n < 30 {
		t.Errorf("%d are logged", n)
	}
	if _, err := b.try(orgA, "k1"); err != nil {
		t.Errorf("a key from the same address: %v", err)
	}
	if got := b.guess("192.0.2.1", orgA, 5); got != 3 {
		t.Errorf("%d wrong keys were looked at, as there were wrong secrets", got)
	}
	if !b.InForce(orgA) || b.InForce(orgB) {
		t.Error("other organizations are in force than the keyring has")
	}
	away := errors.New("the database is away")
	if err := b.RefuseSecret(context.Background(), away, orgA, auth.Client{}); err != away {
		t.Errorf("another error became %v", err)
	}
}
