package authfile

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
)

// The example must load, and must not hold anything that opens a door.
func TestExampleHasNoCredentials(t *testing.T) {
	d, err := Load("../../auth.cfg.example")
	must(t, err)
	for _, o := range d.Organizations() {
		if len(o.Keys) > 0 {
			t.Errorf("organization %s has a key", o.ID)
		}
	}
	if strings.Contains(d.String(), "hfk_") {
		t.Error("it has something that looks like a key")
	}
}

// What the example has in comments must load too, once it has hashes.
func TestExampleOfEverythingLoads(t *testing.T) {
	text, err := os.ReadFile("../../auth.cfg.example")
	must(t, err)
	shown := regexp.MustCompile(`(?m)^; (\[|\$2a|[a-z_.]+ *= )`).ReplaceAllString(string(text), "$1")
	for n := 1; strings.Contains(shown, "$2a$10$…"); n++ {
		shown = strings.Replace(shown, "$2a$10$…", fakeHash(n), 1)
	}
	shown = strings.NewReplacer("whsec_…", "whsec_"+strings.Repeat("QUFB", 10), "Bearer …", "Bearer x").Replace(shown)
	o := mustParse(t, shown).Organizations()[0]
	if len(o.Keys) != 4 || o.Keys[3].Name != "ci" || len(o.Tokens) != 1 || len(o.Certificates) != 1 ||
		o.Limits != (auth.Limits{Requests: 120, States: auth.Unlimited, Quota: 20 << 30}) {
		t.Errorf("the example shows %+v", o)
	}
	if to := o.Notify; to.URL == "" || len(to.Secret) != 30 || to.HeaderName != "Authorization" ||
		!to.Wants.Wants(audit.Event{Action: audit.StateWrite}) {
		t.Errorf("the example's notices go to %+v", to)
	}
}

func TestDocumentedRoles(t *testing.T) {
	page, err := os.ReadFile("../../docs/operating-keys.md")
	must(t, err)
	for _, role := range auth.Roles() {
		var rights []string
		for _, right := range role.Rights {
			rights = append(rights, "`"+string(right)+"`")
		}
		if row := fmt.Sprintf("\n| `%s` | %s | ", role.Role, strings.Join(rights, ", ")); !strings.Contains(string(page),
			row) {
			t.Errorf("docs/operating-keys.md lacks the row%s", row)
		}
	}
	if rows := strings.Count(string(page), "` | `"); rows != len(auth.Roles()) {
		t.Error("docs/operating-keys.md has a role that there is not")
	}
}
