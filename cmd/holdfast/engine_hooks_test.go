package main

import "testing"

// TestPolicyWebhookAddress has the address in the environment, and the flag come first.
func TestPolicyWebhookAddress(t *testing.T) {
	a := &app{environ: []string{envPolicyWebhook + "=https://environment"}}
	for flag, want := range map[string]string{"": "https://environment", "https://flag": "https://flag"} {
		f := &engineFlags{webhook: flag}
		if got := f.policyWebhook(a); got != want || len(f.hooks(a)) != 1 {
			t.Errorf("with the flag %q it is %q, want %q", flag, got, want)
		}
	}
	if all := (&engineFlags{}).hooks(&app{}); len(all) != 0 {
		t.Error("somebody is asked whom nobody has named")
	}
}
