package server

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/configs"
)

// Vulnerability: commands of runs may read all of /usr and /opt, where people install things with their settings.
// Scenario: the server's own settings, or another file or folder with secrets of its own or of tenants, are in there.
// Check: each of them counts for what no command may read, so that nothing is started where one of them could.
func TestAllThatIsSecretIsPrivate(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "holdfast.cfg")
	if err := os.WriteFile(file, []byte("[database]\npassword = hunter2hunter2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	settings, err := configs.Load(configs.Sources{File: file, Explicit: true})
	if err != nil {
		t.Fatal(err)
	}
	in := func(name string) string { return filepath.Join(dir, name) }
	settings.Storage.Path, settings.Storage.OutboxPath = in("data"), in("outbox")
	settings.Seal.MasterKeyFile, settings.Seal.KeyTokenFile = in("master.key"), in("key-token")
	settings.Audit.KeyFile, settings.Repositories.Path = in("audit.pem"), in("mirrors")
	settings.Auth.File, settings.Server.TLSKeyFile = in("auth.cfg"), in("tls.key")
	found, err := (&parts{settings: settings}).private()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{file, in("data"), in("outbox"), in("master.key"), in("key-token"), in("audit.pem"),
		in("mirrors"), in("auth.cfg"), in("tls.key")} {
		if !slices.Contains(found, want) {
			t.Errorf("%s is not among %v", want, found)
		}
	}
	if err := os.WriteFile(file, []byte("[log]\nlevel = warn\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	harmless, err := configs.Load(configs.Sources{File: file, Explicit: true})
	if err != nil || harmless.SecretsIn() != "" {
		t.Errorf("settings without a secret: %q, %v", harmless.SecretsIn(), err)
	}
	if found, err = (&parts{}).private(); err != nil || slices.Contains(found, "") {
		t.Errorf("%v, %v", found, err)
	}
}
