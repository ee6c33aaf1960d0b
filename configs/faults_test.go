package configs

import (
	"errors"
	"strings"
	"testing"
)

func TestFaults(t *testing.T) {
	const tlsOn = "[server]\nenable_tls = true\n"
	tests := []struct {
		name string
		in   inputs
		want string // all of the message
	}{
		{"bad value in the file", inputs{file: "[server]\nport = 70000"},
			`holdfast.cfg: [server] port: "70000" is not a port (0 to 65535)`},
		{"bad value that is overridden", inputs{file: "[server]\nport = x", env: []string{"PORT=1"}},
			`holdfast.cfg: [server] port: "x" is not a port (0 to 65535)`},
		{"empty value in the file", inputs{file: "[server]\nhost ="},
			`holdfast.cfg: [server] host: "" is not an IP address or a host name (no port, no brackets)`},
		{"bad value in the environment", inputs{env: []string{"HOLDFAST_LOG_LEVEL=loud"}},
			`HOLDFAST_LOG_LEVEL: "loud" is not one of debug, info, warn, error`},
		{"bad value in a flag", inputs{flags: []string{"--state-max-bytes=10M"}},
			`--state-max-bytes: "10M" is not a size above 0, such as 512MiB, 10MB or a number of bytes`},
		{"an engine that there is not", inputs{env: []string{"STATE_STORAGE=csv"}},
			`STATE_STORAGE: "csv" is not one of sqlite, mysql, postgres, memory`},
		{"postgres without its address", inputs{env: []string{"STATE_STORAGE=postgres", "HOLDFAST_RUNS_STORAGE=sqlite"}},
			`STATE_STORAGE: it is postgres, and DATABASE_URL ([database] url) does not say where that is: set it to ` +
				`postgres://user:password@host:5432/name`},
		{"two servers", inputs{env: []string{"STORAGE_TYPE=mysql", "DATABASE_URL=postgres://ada:hunter2@db/holdfast"}},
			`STORAGE_TYPE: it is mysql, and DATABASE_URL ([database] url) is a database of PostgreSQL: set this to ` +
				`postgres, or take the address away`},
		{"an address of something else", inputs{env: []string{"DATABASE_URL=mysql://ada:hunter2@db/holdfast"}},
			`DATABASE_URL: the value is not like postgres://user:password@host:5432/name`},
		{"unknown section, once", inputs{file: "[sever]\nport = 1\nhost = a"},
			`holdfast.cfg: line 1: unknown section "sever"`},
		{"ini.v1's own section", inputs{file: "[DEFAULT]\nport = 1"},
			`holdfast.cfg: line 1: unknown section "DEFAULT"`},
		{"unknown key", inputs{file: "[log]\nLevel = info"},
			`holdfast.cfg: [log] Level: unknown key in line 2; the section has level, format`},
		{"key of another section", inputs{file: "[log]\nport = 1"},
			`holdfast.cfg: [log] port: unknown key in line 2; the section has level, format`},
		{"key before any section", inputs{file: "port = 1"},
			`holdfast.cfg: line 1: key "port" stands before the first section`},
		{"duplicate key", inputs{file: "[server]\nport = 1\n[log]\n[server]\nport = 1"},
			`holdfast.cfg: [server] port: set twice, in lines 2 and 5`},
		{"a byte order mark in front of a comment", inputs{file: "\ufeff# mine\nport = 1"},
			`holdfast.cfg: line 2: key "port" stands before the first section`},
		{"a byte order mark in the middle", inputs{file: "[server]\nport = 1\n\ufeff[database]\nport = x"},
			`holdfast.cfg: [database] port: "x" is not a port (1 to 65535)`},
		{"UTF-16", inputs{file: "\xff\xfe[\x00l\x00o\x00g\x00]\x00"}, `holdfast.cfg: the file is UTF-16; save it as UTF-8`},
		{"broken section", inputs{file: "[server\nport = 1"},
			`holdfast.cfg: line 1: not a section: expected [name] alone on its line`},
		{"key behind a section", inputs{file: "[server] port = 1"},
			`holdfast.cfg: line 1: not a section: expected [name] alone on its line`},
		{"no =", inputs{file: "[database]\npassword hunter2"},
			`holdfast.cfg: line 2: not a key = value: there must be a key and a =, and a quote must be closed on its line`},
		{"open quote", inputs{file: "[database]\npassword = \"hunter2\nuser = a"},
			`holdfast.cfg: line 2: not a key = value: there must be a key and a =, and a quote must be closed on its line`},
		{"a comment for a value", inputs{file: "[database]\npassword = # hunter2"},
			`holdfast.cfg: [database] password: the value starts like a comment; put it in double quotes, or leave nothing after the =`},
		{"duplicate secret", inputs{file: "[database]\npassword = hunter2\npassword = hunter3"},
			`holdfast.cfg: [database] password: set twice, in lines 2 and 3`},
		{"unknown variable", inputs{env: []string{"HOLDFAST_LOG_LEVLE=hunter2"}},
			`HOLDFAST_LOG_LEVLE: unknown setting`},
		{"variable by section and key", inputs{env: []string{"HOLDFAST_DATABASE_PASSWORD=hunter2"}},
			`HOLDFAST_DATABASE_PASSWORD: unknown setting; [database] password is set by DB_PASSWORD`},
		{"baseline name with the prefix", inputs{env: []string{"HOLDFAST_PORT=80"}},
			`HOLDFAST_PORT: unknown setting; [server] port is set by PORT`},
		{"TLS without files", inputs{env: []string{"ENABLE_TLS=true"}},
			"ENABLE_TLS: TLS is on, but [server] tls_cert_file (TLS_CERT_FILE, --tls-cert-file) is not set\n" +
				"ENABLE_TLS: TLS is on, but [server] tls_key_file (TLS_KEY_FILE, --tls-key-file) is not set"},
		{"TLS with unreadable files", inputs{file: tlsOn + "tls_cert_file = none.pem", flags: []string{"--tls-key-file=."}},
			"holdfast.cfg: [server] tls_cert_file: \"none.pem\" can't be read: no such file or directory\n" +
				"--tls-key-file: \".\" can't be read: is a directory"},
		{"several at once", inputs{
			file:  "[server]\nport = x\nprot = 1\n[nope]\n[state]\nmax_bytes = -1\nenable",
			env:   []string{"DB_PORT=0", "HOLDFAST_NOPE=1"},
			flags: []string{"--log-format=xml", "--enable-tls"}},
			strings.Join([]string{
				`holdfast.cfg: [server] prot: unknown key in line 3; the section has host, port, enable_tls, tls_cert_file, tls_key_file, client_ca_file, allow_plaintext, trusted_proxies, public_url, notice_networks, shutdown_timeout, read_header_timeout, idle_timeout, memory_limit`,
				`holdfast.cfg: line 4: unknown section "nope"`,
				`holdfast.cfg: line 7: not a key = value: there must be a key and a =, and a quote must be closed on its line`,
				`HOLDFAST_NOPE: unknown setting`,
				`holdfast.cfg: [server] port: "x" is not a port (0 to 65535)`,
				`holdfast.cfg: [state] max_bytes: "-1" is not a size above 0, such as 512MiB, 10MB or a number of bytes`,
				`DB_PORT: "0" is not a port (1 to 65535)`,
				`--log-format: "xml" is not one of auto, json, text`,
				`--enable-tls: TLS is on, but [server] tls_cert_file (TLS_CERT_FILE, --tls-cert-file) is not set`,
				`--enable-tls: TLS is on, but [server] tls_key_file (TLS_KEY_FILE, --tls-key-file) is not set`,
			}, "\n")},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := test.in.load(t)
			if err == nil {
				t.Fatal("no error")
			}
			if _, ok := errors.AsType[*Faults](err); !ok {
				t.Errorf("a %T", err)
			}
			if err.Error() != test.want {
				t.Errorf("got:\n%v\nwant:\n%s", err, test.want)
			}
			if strings.Contains(err.Error(), "hunter") {
				t.Error("shows a secret")
			}
		})
	}
}

func TestForeignVariablesAreLeftAlone(t *testing.T) {
	inputs{env: append([]string{
		"PATH=/bin", "TF_HTTP_PASSWORD=x", "HOLDFAST_UNUSED=",
		"HOLDFAST_SERVICE_HOST=10.0.0.1", "HOLDFAST_SERVICE_PORT=7777", "HOLDFAST_SERVICE_PORT_HTTP=7777",
		"HOLDFAST_PORT=tcp://10.0.0.1:7777", "HOLDFAST_PORT_7777_TCP=tcp://10.0.0.1:7777",
		"HOLDFAST_PORT_7777_TCP_PROTO=tcp", "HOLDFAST_PORT_7777_TCP_ADDR=10.0.0.1",
		"HOLDFAST_DB_SERVICE_HOST=10.0.0.2", "HOLDFAST_DB_PORT=tcp://10.0.0.2:3306",
	}, commandEntries()...)}.mustLoad(t)
}

func commandEntries() []string {
	var entries []string
	for _, name := range commandNames() {
		entries = append(entries, name+"=x")
	}
	return entries
}
