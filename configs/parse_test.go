package configs

import (
	"testing"
)

func TestParseNetworks(t *testing.T) {
	good := map[string][]string{
		"":                        nil,
		"192.0.2.1":               {"192.0.2.1/32"},
		"::1, 10.0.0.0/8":         {"::1/128", "10.0.0.0/8"},
		"::ffff:192.0.2.1":        {"192.0.2.1/32"},
		"0.0.0.0/0,2001:db8::/32": {"0.0.0.0/0", "2001:db8::/32"},
	}
	for text, want := range good {
		got, err := parseNetworks(text)
		if err != nil || len(got) != len(want) {
			t.Errorf("%q is %v, %v", text, got, err)
			continue
		}
		for i := range want {
			if got[i].String() != want[i] {
				t.Errorf("%q has %v, want %v", text, got[i], want[i])
			}
		}
	}
	for _, text := range []string{"10.0.0.1/8", "10.0.0.0/33", "proxy", "::1,", "fe80::1%eth0", "10.0.0.0/8;::1"} {
		if got, err := parseNetworks(text); err == nil {
			t.Errorf("%q is taken as %v", text, got)
		}
	}
}

func TestBadValues(t *testing.T) {
	bad := map[string][]string{
		"host":     {"", " ", "127.0.0.1:80", "[::1]", "a b", "http://x"},
		"port":     {"", "-1", "65536", "http", "1.0", " 1"},
		"bool":     {"", "yes", "on", "2"},
		"duration": {"", "30", "0s", "-1s", "1 s"},
		"lease":    {"", "45", "4s", "-1m"},
		"size":     {"", "0", "big"},
		"engine":   {"", "CSV", "oracle"},
		"policy":   {"", "Mask", "none"},
		"sandbox":  {"", "bwrap", "Landlock"},
		"folder":   {"", " "},
		"networks": {"x"},
		"count":    {"", "0", "-1", "1.5", "many"},
		"quota":    {"", "0", "-1", "none", "2G"},
		"reserve":  {"", "0", "auto", "8388607", "2G"},
		"rate":     {"", "0", "-1", "1.5", "Off", "none"},
		"level":    {"", "INFO", "info+2", "trace"},
		"format":   {"", "xml"},
		"wait":     {"", "30", "-1s", "1 s"},
		"url": {"", "example.com", "ftp://example.com/x", "https://", "https://user:word@example.com",
			"https://example.com?x", "https://example.com#x", "https://exa mple"},
		"mode":         {"", "on", "Required", "verify"},
		"database url": {"mysql://db/x", "postgres://db", "postgres://db/", "db.example.com/x", "host=db dbname=x"},
		"optional url": {"example.com", "ftp://example.com/x", "https://user:word@example.com"},
	}
	for _, s := range table() {
		for _, text := range bad[s.kind] {
			if s.set(&Settings{}, text) == nil {
				t.Errorf("%s takes %q", s.name(), text)
			}
		}
	}
}

func TestParseHostOrSocket(t *testing.T) {
	for _, text := range []string{"localhost", "::1", "/run/mysqld/mysqld.sock"} {
		if got, err := parseHostOrSocket(text); got != text || err != nil {
			t.Errorf("%q is %q, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "run/mysqld.sock", "db:3306", "unix:/x"} {
		if got, err := parseHostOrSocket(text); err == nil {
			t.Errorf("%q is taken as %q", text, got)
		}
	}
}
