package server

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/pulls"
)

func TestWhoMayStill(t *testing.T) {
	org := uuid.New()
	dev, err := auth.ParsePatterns("dev/*")
	if err != nil {
		t.Fatal(err)
	}
	s := standing{func() *keyring.Keyring {
		return keyring.New(&keyring.Organization{ID: org,
			Keys: []keyring.StoredKey{
				{ID: "approver", Grant: auth.Grant{Role: auth.Approver}},
				{ID: "dev", Grant: auth.Grant{Role: auth.Approver, States: dev}},
				{ID: "demoted", Grant: auth.Grant{Role: auth.Reader}},
				{ID: "over", Grant: auth.Grant{Role: auth.Approver, Expires: time.Unix(1, 0)}},
			},
			Tokens:       []keyring.TokenRule{{Name: "people", Grant: auth.Grant{Role: auth.Approver}}},
			Certificates: []keyring.CertificateRule{{Name: "machines", Grant: auth.Grant{Role: auth.Operator}}},
		})
	}}
	for id, want := range map[string]bool{"approver": true, "dev": false, "demoted": false, "over": true, "gone": false,
		"oidc.people": true, "oidc.gone": false, "cert.machines": false, audit.Server().KeyID: true, pulls.KeyID: true} {
		if got := s.MayStill(org, api.Actor{KeyID: id}, auth.ApproveRun, "prod/network"); got != want {
			t.Errorf("%s: %t", id, got)
		}
	}
	var names []string
	for _, p := range s.callers(org) {
		names = append(names, p.KeyID)
	}
	if got := strings.Join(names, " "); got != "approver dev demoted oidc.people cert.machines" {
		t.Errorf("those are good now: %s", got)
	}
	if !s.MayStill(org, api.Actor{KeyID: "dev"}, auth.ApproveRun, "dev/network") ||
		s.MayStill(uuid.New(), api.Actor{KeyID: "approver"}, auth.ApproveRun, "dev/network") {
		t.Error("it is another workspace's, or another organization's")
	}
}
