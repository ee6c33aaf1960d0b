package configs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

// inputs is a Load in words: a file's text, environment entries and flags.
type inputs struct {
	file  string
	env   []string
	flags []string
}

func (in inputs) load(t *testing.T) (Settings, error) {
	t.Helper()
	t.Chdir(t.TempDir())
	if in.file != "" {
		write(t, DefaultFile, in.file)
	}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	AddFlags(flags)
	if err := flags.Parse(in.flags); err != nil {
		t.Fatal(err)
	}
	return Load(Sources{File: DefaultFile, Environ: in.env, Flags: flags})
}

func (in inputs) mustLoad(t *testing.T) Settings {
	t.Helper()
	s, err := in.load(t)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestPrecedence(t *testing.T) {
	tests := []struct {
		name   string
		in     inputs
		want   int
		source string
	}{
		{"default", inputs{}, 7777, "default"},
		{"file", inputs{file: "[server]\nport = 1"}, 1, "file holdfast.cfg"},
		{"environment", inputs{file: "[server]\nport = 1", env: []string{"PORT=2"}}, 2, "environment PORT"},
		{"file with a byte order mark", inputs{file: "\ufeff[server]\nport = 1"}, 1, "file holdfast.cfg"},
		{"flag", inputs{file: "[server]\nport = 1", env: []string{"PORT=2"}, flags: []string{"--port=3"}}, 3, "flag --port"},
		{"flag with the default's value", inputs{env: []string{"PORT=2"}, flags: []string{"--port=7777"}}, 7777,
			"flag --port"},
		{"empty environment", inputs{file: "[server]\nport = 1", env: []string{"PORT="}}, 1, "file holdfast.cfg"},
		{"first of two entries", inputs{env: []string{"PORT=2", "PORT=3"}}, 2, "environment PORT"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.in.mustLoad(t)
			got := find(t, s, "server", "port")
			if s.Server.Port != test.want || got.Source != test.source {
				t.Errorf("port %d from %q, want %d from %q", s.Server.Port, got.Source, test.want, test.source)
			}
		})
	}
}

func find(t *testing.T, s Settings, section, key string) Effective {
	t.Helper()
	for _, e := range s.Describe() {
		if e.Section == section && e.Key == key {
			return e
		}
	}
	t.Fatalf("no [%s] %s", section, key)
	return Effective{}
}

// Runs are where states are, unless somebody says otherwise.
func TestDatabaseOfStatesHasRuns(t *testing.T) {
	for _, test := range []struct{ env, want, source string }{
		{"STATE_STORAGE=postgres DATABASE_URL=postgres://db/holdfast", Postgres, "implied by STATE_STORAGE"},
		{"STATE_STORAGE=mysql", MySQL, "implied by STATE_STORAGE"},
		{"STATE_STORAGE=mysql HOLDFAST_RUNS_STORAGE=off", Off, "environment HOLDFAST_RUNS_STORAGE"},
		{"STATE_STORAGE=memory", SQLite, "default"},
	} {
		s := inputs{env: strings.Fields(test.env)}.mustLoad(t)
		if got := find(t, s, "runs", "storage"); s.Runs.Storage != test.want || got.Source != test.source {
			t.Errorf("%s: %q from %q, want %q from %q", test.env, s.Runs.Storage, got.Source, test.want, test.source)
		}
	}
}

func TestMemoryImpliesMemoryForState(t *testing.T) {
	const typeMemory = "[storage]\ntype = memory\n"
	tests := []struct {
		name   string
		in     inputs
		want   string
		source string
	}{
		{"by environment", inputs{env: []string{"STORAGE_TYPE=memory"}}, Memory, "implied by STORAGE_TYPE"},
		{"by flag", inputs{flags: []string{"--storage-type=memory"}}, Memory, "implied by --storage-type"},
		{"by file", inputs{file: typeMemory}, Memory, "implied by holdfast.cfg: [storage] type"},
		{"set in the file", inputs{file: typeMemory + "[state]\nstorage = sqlite"}, SQLite, "file holdfast.cfg"},
		{"set by flag", inputs{file: typeMemory, flags: []string{"--state-storage=sqlite"}}, SQLite, "flag --state-storage"},
		{"state alone", inputs{env: []string{"STATE_STORAGE=memory"}}, Memory, "environment STATE_STORAGE"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := test.in.mustLoad(t)
			got := find(t, s, "state", "storage")
			if s.State.Storage != test.want || got.Value != test.want || got.Source != test.source {
				t.Errorf("state in %q, described as %+v; want %q, %q", s.State.Storage, got, test.want, test.source)
			}
		})
	}
}

func TestLocate(t *testing.T) {
	tests := []struct {
		flag, env, want string
		explicit        bool
	}{
		{"", "", DefaultFile, false},
		{"", "e.cfg", "e.cfg", true},
		{"f.cfg", "e.cfg", "f.cfg", true},
	}
	for _, test := range tests {
		file, explicit := Locate(test.flag, []string{"HOLDFAST_CONFIG=" + test.env})
		if file != test.want || explicit != test.explicit {
			t.Errorf("Locate(%q, %q) = %q, %t", test.flag, test.env, file, explicit)
		}
	}
}

func TestFileIsMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.cfg")
	if _, err := Load(Sources{File: path}); err != nil {
		t.Errorf("nobody named the file, yet: %v", err)
	}
	_, err := Load(Sources{File: path, Explicit: true})
	want := path + ": the settings file can't be read: no such file or directory"
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestFileSyntax(t *testing.T) {
	s := inputs{file: strings.Join([]string{
		"\ufeff; comment", "[ server ] # see [1]", "host=::1 ; loopback", "\tport = 1\r",
		"[database]", `password = "a #b;c\"d"`, "user = a#b;c%(name)s", `name = back\`,
		"[server]", "enable_tls = false",
	}, "\n")}.mustLoad(t)
	got := []any{s.Server.Addr(), s.Database.Password.Reveal(), s.Database.User, s.Database.Name}
	want := []any{"[::1]:1", `a #b;c"d`, "a#b;c%(name)s", `back\`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// A state as large as is allowed must fit in what bodies may take.
func TestBodyBytesHoldTheLargestState(t *testing.T) {
	for size, want := range map[string]string{
		"256MiB": "",
		"257MiB": `HOLDFAST_MAX_BODY_BYTES: "512MiB" is less than twice [state] max_bytes, which is "257MiB"`,
	} {
		_, err := inputs{env: []string{"HOLDFAST_STATE_MAX_BYTES=" + size, "HOLDFAST_MAX_BODY_BYTES=512MiB"}}.load(t)
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%s: %v, want %s", size, err, want)
		}
	}
}
