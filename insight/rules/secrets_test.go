package rules_test

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/insight/facts"
	"github.com/holdfast/holdfast/insight/insighttest"
	"github.com/holdfast/holdfast/insight/rules"
)

// TestSecrets: each kind of credential is found in a plain value, none where it is sensitive or
// only looks alike, and no finding has it.
func TestSecrets(t *testing.T) {
	secrets := rules.NewSecrets()
	tests := map[string]struct{ secret, harmless string }{
		"HF-SEC-001": {"AKIA" + "ABCDEFGHIJKLMNOP", "AKIA in a text"},
		"HF-SEC-002": {"-----BEGIN RSA " + "PRIVATE KEY-----\nMIIE", "-----BEGIN PUBLIC KEY-----"},
		"HF-SEC-003": {"ghp_" + strings.Repeat("a1", 18), "high"},
		"HF-SEC-004": {"xoxb-" + "1234567890-abc", "xoxb"},
		"HF-SEC-005": {"AIza" + strings.Repeat("b", 35), "AIza"},
		"HF-SEC-006": {"eyJhbGciOiJIUzI1.eyJzdWIiOiIxMjM0.c2lnbmF0dXJl", "eyJ"},
		"HF-SEC-007": {"postgres://app:hunter22@db/app", "https://example.com/a@b"},
		"HF-SEC-008": {"glpat-" + strings.Repeat("c", 20), "glpat-"},
		"HF-SEC-009": {"sk_live_" + strings.Repeat("d", 20), "sk_test_abc"},
		"HF-SEC-010": {"export DB_PASSWORD=correcthorse", "export DB_PASSWORD=$(fetch)"},
	}
	for _, rule := range secrets.Rules() {
		test, ok := tests[rule.ID]
		if !ok {
			t.Errorf("%s has no example", rule.ID)
			continue
		}
		find := func(value string, marks any) (list []rules.Finding) {
			plan, err := facts.ReadBytes(insighttest.JSON(insighttest.Resource{Address: "t.x",
				After: map[string]any{"user_data": value}, Sensitive: marks}), facts.Limits{})
			if err != nil {
				t.Fatal(err)
			}
			return secrets.Find(plan)
		}
		found := find("x "+test.secret, nil)
		if len(found) != 1 || found[0].Rule.ID != rule.ID || found[0].Resource != "t.x" ||
			!strings.HasPrefix(found[0].Message, "user_data ") || strings.Contains(found[0].Message, test.secret) {
			t.Errorf("%s: found %+v", rule.ID, found)
		}
		if found := find(test.harmless, nil); len(found) > 0 {
			t.Errorf("%s: found %+v in what is harmless", rule.ID, found)
		}
		if found := find(test.secret, map[string]any{"user_data": true}); len(found) > 0 {
			t.Errorf("%s: found %+v in what is sensitive", rule.ID, found)
		}
	}
}
