package keyring

import "testing"

func TestKeysAreCalled(t *testing.T) {
	for _, test := range []struct{ name, label, want string }{
		{"ci", "2026-11-22 for pipelines", "ci"}, {"", "2026-11-22 first key", "first key"}, {"", "2026-11-22", ""},
		{"", "", ""}, {"", "ada's laptop", "ada's laptop"}, {"", "2026-13-45 odd", "2026-13-45 odd"},
	} {
		if got := (StoredKey{Name: test.name, Label: test.label}).Called(); got != test.want {
			t.Errorf("%q, %q: %q; want %q", test.name, test.label, got, test.want)
		}
	}
}
