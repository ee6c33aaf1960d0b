package server

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/crypto/bcrypt"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/logctx"
	"github.com/holdfast/holdfast/internal/logctx/logtest"
)

// lines are those of a log, in JSON.
type lines struct {
	logtest.Journal
	more chan struct{} // has one while there is something new
}

func (l *lines) Write(p []byte) (int, error) {
	n, err := l.Journal.Write(p)
	select {
	case l.more <- struct{}{}:
	default:
	}
	return n, err
}

// find returns the first line with these attributes, and waits for it.
func (l *lines) find(t *testing.T, with map[string]string) map[string]any {
	t.Helper()
	for {
		all := l.String()
	next:
		for line := range strings.Lines(all) {
			var found map[string]any
			if json.Unmarshal([]byte(line), &found) != nil {
				continue
			}
			for key, value := range with {
				if found[key] != value {
					continue next
				}
			}
			return found
		}
		select {
		case <-l.more:
		case <-time.After(20 * time.Second):
			t.Fatalf("no line with %v in\n%s", with, all)
		}
	}
}

// running is a server with an organization that has one key.
type running struct {
	t    *testing.T
	url  string
	org  uuid.UUID
	log  *lines
	stop func() error

	environ []string // its settings
}

const runningKey = "a key that was made by hand"

// runningHash hashes the key once for all tests.
var runningHash = sync.OnceValue(func() string {
	hash, err := bcrypt.GenerateFromPassword([]byte(runningKey), 10)
	if err != nil {
		panic(err)
	}
	return string(hash)
})

// start runs a server in this process, until the test ends or stop is called.
func start(t *testing.T, environ ...string) *running {
	t.Helper()
	dir, r := t.TempDir(), &running{t: t, org: uuid.New(), log: &lines{more: make(chan struct{}, 1)}}
	file := filepath.Join(dir, "auth.cfg")
	if err := os.WriteFile(file, []byte("["+r.org.String()+"]\nname = Acme\napikey = "+runningHash()+"\n"),
		0o600); err != nil {
		t.Fatal(err)
	}
	r.environ = append([]string{
		"STORAGE_PATH=" + filepath.Join(dir, "data"), "HOLDFAST_AUTH_FILE=" + file, "HOST=127.0.0.1", "PORT=0",
	}, environ...)
	settings, err := configs.Load(configs.Sources{Environ: r.environ})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() {
		ended <- Run(ctx, settings, Program{Version: "test"}, slog.New(logctx.Handler(slog.NewJSONHandler(r.log, nil))))
	}()
	r.stop = sync.OnceValue(func() error {
		cancel()
		return <-ended
	})
	t.Cleanup(func() {
		if err := r.stop(); err != nil {
			t.Error(err)
		}
	})
	r.url = r.log.find(t, map[string]string{"msg": "listening"})["url"].(string)
	return r
}

// ask sends a request with the key, and returns the answer's body.
func (r *running) ask(method, path, body string, headers ...string) (status int, answer string) {
	r.t.Helper()
	request, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	request.SetBasicAuth(r.org.String(), runningKey)
	for i := 0; i < len(headers); i += 2 {
		request.Header.Set(headers[i], headers[i+1])
	}
	got, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer got.Body.Close()
	all, err := io.ReadAll(got.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return got.StatusCode, string(all)
}

// A server that runs tells of all that it is made of.
func TestServerIsWatched(t *testing.T) {
	r := start(t)
	if status, _ := r.ask("POST", "/api/v1/state/x", `{"version":4,"serial":1,"lineage":"a"}`); status != http.StatusOK {
		t.Fatal(status)
	}
	if status, _ := r.ask("POST", "/api/v1/upload",
		`{"provider":"aws","category":"compute","resource_type":"vm","attributes":{"a":"b"}}`); status != http.StatusOK {
		t.Fatal(status)
	}
	_, scrape := r.ask("GET", "/metrics", "")
	for _, line := range []string{
		"holdfast_states 1", "holdfast_locks 0", `holdfast_database_bytes{database="runs"} `,
		`holdfast_database_bytes{database="states"} `,
		`holdfast_database_bytes{database="uploads"} `, `holdfast_database_commit_seconds_count{database="states"} `,
		`holdfast_database_failures_total{database="states"} 0`, `holdfast_logins_refused_total{code="credentials_wrong"} 0`,
		`holdfast_notices_total{outcome="dropped"} 0`, "holdfast_disk_free_bytes ", "holdfast_limits_held_total 0",
		"holdfast_resource_index_age_seconds ",
	} {
		if !strings.Contains(scrape, "\n"+line) {
			t.Errorf("no line %s in\n%s", line, scrape)
		}
	}
}
