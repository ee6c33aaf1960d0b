package configs

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSecretsDoNotShow(t *testing.T) {
	s := inputs{env: []string{"DB_PASSWORD=hunter2"}}.mustLoad(t)
	if s.Database.Password.Reveal() != "hunter2" {
		t.Fatal("the password is lost")
	}
	var out bytes.Buffer
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		fmt.Fprintf(&out, verb, s.Database)
		fmt.Fprintf(&out, verb, s.Database.Password)
	}
	fmt.Fprint(&out, s.Describe(), s)
	for _, log := range []*slog.Logger{slog.New(slog.NewJSONHandler(&out, nil)),
		slog.New(slog.NewTextHandler(&out, nil))} {
		log.Info("start", "settings", s, "database", s.Database, "password", s.Database.Password)
	}
	if err := json.NewEncoder(&out).Encode(s); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "hunter2") || strings.Contains(out.String(), "68756e74657232") {
		t.Errorf("a secret shows:\n%s", out.String())
	}
}

func TestLogValueNamesSources(t *testing.T) {
	s := inputs{env: []string{"DB_PASSWORD=hunter2", "STORAGE_TYPE=memory"}, flags: []string{"--port=0"}}.mustLoad(t)
	var out bytes.Buffer
	slog.New(slog.NewTextHandler(&out, nil)).Info("start", "settings", s)
	for _, want := range []string{
		` settings.server.host=127.0.0.1 `,
		` settings.server.port="0 (flag --port)" `,
		` settings.database.user="" `,
		` settings.database.password="*** (environment DB_PASSWORD)" `,
		` settings.state.storage="memory (implied by STORAGE_TYPE)" `,
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}
