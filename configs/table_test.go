package configs

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// samples returns a good value, other than the default, for each setting.
func samples() map[string]string {
	return map[string]string{
		"[server] host":                   "::1",
		"[server] port":                   "0",
		"[server] enable_tls":             "true",
		"[server] tls_cert_file":          "cert.pem",
		"[server] tls_key_file":           "key.pem",
		"[server] client_ca_file":         "ca.pem",
		"[server] allow_plaintext":        "true",
		"[server] idle_timeout":           "1h",
		"[server] memory_limit":           "300MiB",
		"[server] notice_networks":        "10.0.0.0/8, 127.0.0.1",
		"[server] trusted_proxies":        "10.0.0.0/8, 192.0.2.1,2001:db8::/32",
		"[server] public_url":             "https://state.example.com/holdfast",
		"[server] shutdown_timeout":       "1m30s",
		"[server] read_header_timeout":    "1s",
		"[storage] type":                  "dual",
		"[storage] path":                  "/srv/holdfast",
		"[storage] outbox_path":           "/srv/outbox",
		"[storage] upload_secrets":        "refuse",
		"[state] storage":                 "memory",
		"[state] max_bytes":               "1MiB",
		"[state] cache_bytes":             "10 MB",
		"[state] memory_bytes":            "12345",
		"[resources] identity_file":       "identity.json",
		"[database] url":                  "postgres://ada:hunter2@db.example.com:5432/holdfast",
		"[database] host":                 "db.example.com",
		"[database] port":                 "3307",
		"[database] user":                 "holdfast",
		"[database] password":             "hunter2",
		"[database] name":                 "other",
		"[database] tls":                  "required",
		"[database] tls_ca_file":          "ca.pem",
		"[database] max_open_conns":       "64",
		"[database] max_idle_conns":       "4",
		"[database] conn_max_lifetime":    "1h",
		"[database] connect_timeout":      "1s",
		"[database] startup_wait":         "0",
		"[auth] source":                   "database",
		"[auth] file":                     "/etc/holdfast/auth.cfg",
		"[auth] cache_entries":            "1",
		"[auth] cache_ttl":                "1h",
		"[auth] failures_per_minute":      "7",
		"[page] session_idle":             "1h",
		"[page] session_limit":            "48h",
		"[page] max_sessions":             "3",
		"[page] dir":                      "/src/web/dist/page",
		"[page] oidc_issuer":              "https://login.example.com/realms/acme",
		"[page] oidc_client_id":           "holdfast",
		"[page] oidc_client_secret":       "s3cret",
		"[page] oidc_name":                "Acme",
		"[page] oidc_scopes":              "openid groups",
		"[seal] master_key_file":          "/etc/holdfast/master.key",
		"[seal] master_keys":              strings.Repeat("0f", 32),
		"[seal] key_service":              "transit",
		"[seal] key":                      "transit/holdfast",
		"[seal] key_address":              "https://vault.example.com:8200",
		"[seal] key_namespace":            "team",
		"[seal] key_token_file":           "/run/vault/token",
		"[seal] key_ca_file":              "vault-ca.pem",
		"[audit] head_every":              "1h",
		"[audit] head_file":               "/mnt/worm/heads",
		"[audit] head_syslog":             "udp://log.example.com:514",
		"[audit] head_webhook":            "https://log.example.com/heads",
		"[audit] key_file":                "/etc/holdfast/audit-key.pem",
		"[nodes] count":                   "3",
		"[limits] rate_limit":             "off",
		"[limits] state_rate_limit":       "6000",
		"[limits] state_rate_saved":       "2m",
		"[limits] rate_wait":              "2s",
		"[limits] max_in_flight":          "2",
		"[limits] max_body_bytes":         "1GiB",
		"[limits] max_silence":            "1s",
		"[limits] min_rate":               "1KiB",
		"[limits] quota":                  "20GiB",
		"[limits] disk_reserve":           "off",
		"[limits] max_answer_time":        "1h",
		"[state] dialects":                "nimbolus, gitlab",
		"[runs] storage":                  "off",
		"[runs] work_path":                "/srv/runs",
		"[runs] address":                  "https://holdfast.example.com",
		"[runs] slots":                    "5",
		"[runs] lease":                    "1m",
		"[runs] keep_days":                "30",
		"[runs] keep_plan_days":           "1",
		"[runs] max_waiting":              "7",
		"[runs] max_working":              "3",
		"[runs] max_runs":                 "100",
		"[runs] max_stored_bytes":         "1GiB",
		"[runs] max_config_bytes":         "1MiB",
		"[runs] orphan_timeout":           "12h",
		"[runs] max_log_bytes":            "10MiB",
		"[runs] min_sandbox":              "namespaces",
		"[runs] require_closed_network":   "true",
		"[runs] max_folder_bytes":         "1GiB",
		"[runs] max_memory_bytes":         "3GiB",
		"[runs] max_cpu_time":             "4m",
		"[runs] infracost":                "/usr/local/bin/infracost",
		"[runs] infracost_key":            "hunter2",
		"[insight] model_url":             "https://models.example.com/v1",
		"[insight] model_kind":            "gemini",
		"[insight] model":                 "some-model",
		"[insight] model_key":             "hunter2",
		"[insight] model_timeout":         "20s",
		"[insight] model_per_day":         "50",
		"[repositories] path":             "/srv/mirrors",
		"[repositories] networks":         "10.1.0.0/16",
		"[repositories] allow_http":       "true",
		"[repositories] ca_file":          authorityFile,
		"[repositories] workers":          "2",
		"[repositories] max_mirror_bytes": "1GiB",
		"[repositories] timeout":          "5m",
		"[tools] path":                    "/srv/tools",
		"[tools] allow_download":          "true",
		"[tools] opentofu_mirror":         "http://mirror.example.com:8080/tofu",
		"[tools] opentofu_index":          "https://mirror.example.com/tofu.json",
		"[tools] opentofu_key_file":       "opentofu.asc",
		"[tools] terraform_mirror":        "https://mirror.example.com/terraform",
		"[tools] terraform_index":         "https://mirror.example.com/terraform.json",
		"[tools] terraform_key_file":      "hashicorp.asc",
		"[log] level":                     "warn",
		"[log] format":                    "json",

		"[limits] max_connections":             "500",
		"[limits] max_connections_per_address": "20",
	}
}

// authorityFile can be read whatever the folder is that a test works in.
var authorityFile, _ = filepath.Abs(filepath.Join("testdata", "authority.pem"))

// TestEverySettingFromEverySource sets each setting by file, environment and flag, and
// checks that it moves one field, the same each time and its own.
func TestEverySettingFromEverySource(t *testing.T) {
	owner := map[string]string{}
	for _, s := range table() {
		sample, ok := samples()[s.name()]
		if !ok {
			t.Errorf("%s has no sample", s.name())
			continue
		}
		for source, in := range sourcesOf(s, sample) {
			t.Run(s.name()+" by "+source, func(t *testing.T) {
				fields := changed(in.mustLoadWithTLS(t, s))
				if len(fields) != 1 {
					t.Fatalf("changed %q", fields)
				}
				if had, ok := owner[fields[0]]; ok && had != s.name() {
					t.Errorf("%s and %s set the same field", had, s.name())
				}
				owner[fields[0]] = s.name()
			})
		}
	}
	if all := len(leaves(Settings{})); len(owner) != all {
		t.Errorf("settings reach %d of %d fields", len(owner), all)
	}
}

func sourcesOf(s setting, sample string) map[string]inputs {
	all := map[string]inputs{
		"file":        {file: fmt.Sprintf("[%s]\n%s = %s", s.section, s.key, sample)},
		"environment": {env: []string{s.env + "=" + sample}},
	}
	if !s.secret {
		all["flag"] = inputs{flags: []string{"--" + s.flag(), sample}}
		if s.kind == "bool" {
			all["flag"] = inputs{flags: []string{"--" + s.flag()}}
		}
	}
	return all
}

// mustLoadWithTLS loads; for enable_tls, where loading needs two files besides, it
// checks that it was understood.
func (in inputs) mustLoadWithTLS(t *testing.T, s setting) Settings {
	t.Helper()
	if s.key != "enable_tls" {
		return in.mustLoad(t)
	}
	_, err := in.load(t)
	if err == nil || strings.Count(err.Error(), "TLS is on") != 2 {
		t.Fatalf("got %v", err)
	}
	on, _ := Load(Sources{})
	on.Server.EnableTLS = true
	return on
}

// changed names the fields that differ from the defaults.
func changed(s Settings) []string {
	base, _ := Load(Sources{})
	was, is := leaves(base), leaves(s)
	var fields []string
	for name, v := range is {
		if !reflect.DeepEqual(v, was[name]) {
			fields = append(fields, name)
		}
	}
	return fields
}

// leaves returns the exported fields of the sections.
func leaves(s Settings) map[string]any {
	fields := map[string]any{}
	v := reflect.ValueOf(s)
	for i := range v.NumField() {
		if section := v.Type().Field(i); section.IsExported() {
			for j := range v.Field(i).NumField() {
				fields[section.Name+"."+v.Field(i).Type().Field(j).Name] = v.Field(i).Field(j).Interface()
			}
		}
	}
	return fields
}

func TestNamesAreUnique(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range table() {
		for _, name := range []string{s.name(), s.env, "--" + s.flag()} {
			if s.secret && name == "--" {
				continue // no secret has a flag
			}
			if seen[name] {
				t.Errorf("%s stands twice in the table", name)
			}
			seen[name] = true
		}
	}
}

func TestBaselineNames(t *testing.T) {
	const want = "HOST PORT ENABLE_TLS TLS_CERT_FILE TLS_KEY_FILE STORAGE_TYPE STORAGE_PATH STATE_STORAGE DATABASE_URL DB_HOST DB_PORT DB_USER " +
		"DB_PASSWORD DB_NAME"
	var got []string
	for _, s := range table() {
		if !strings.HasPrefix(s.env, envPrefix) {
			got = append(got, s.env)
		}
	}
	if diff := cmp.Diff(strings.Fields(want), got); diff != "" {
		t.Error(diff)
	}
}
