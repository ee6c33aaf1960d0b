//go:build e2e

package test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/auth/verify"
	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/runs/token"
	"github.com/holdfast/holdfast/state"
	inmemory "github.com/holdfast/holdfast/storage/memory"
)

// runWorld is a server that knows the tokens of runs, and a project of a real client.
type runWorld struct {
	*testing.T
	states *state.Service
	ref    state.Ref
	url    string
	signer *token.Signer
	client string // the program
	dir    string // of the project
}

// newRunWorld has a project of one resource, whose input is the variable v. Once there is a
// file "wait" in the project, to create it anew takes until there is one named "go".
func newRunWorld(t *testing.T, client string) *runWorld {
	w := &runWorld{T: t, ref: state.Ref{Org: uuid.New(), Name: "prod/network"},
		signer: token.NewSigner([token.SecretLength]byte{7}), client: client, dir: t.TempDir()}
	log := slog.New(slog.DiscardHandler)
	verifier, err := verify.New(verify.Config{Logger: log, Runs: token.Verifier{Signer: w.signer, Now: time.Now}})
	if err != nil {
		t.Fatal(err)
	}
	verifier.Use(keyring.New(&keyring.Organization{ID: w.ref.Org, Name: "Acme"}))
	w.states = state.NewService(inmemory.New(64<<20), state.DefaultPolicies{}, time.Now, log)
	router, err := handlers.NewRouter(handlers.Deps{States: w.states, Verifier: verifier, Log: log, Now: time.Now,
		Version: "test", MaxStateBytes: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(router)
	t.Cleanup(server.Close)
	w.url = server.URL + "/api/v1/state/prod%2Fnetwork"
	const project = `terraform {
  backend "http" {}
}
variable "v" {}
resource "terraform_data" "a" {
  triggers_replace = var.v
  provisioner "local-exec" {
    command = "test ! -f wait || { touch begun; until test -f go; do sleep 0.1; done; }"
  }
}
`
	if err := os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(project), 0o600); err != nil {
		t.Fatal(err)
	}
	w.exec("", "init")
	return w
}

// plan and apply are tokens.
func (w *runWorld) plan(version uint64) string {
	return w.signer.Sign(token.Claims{Run: "r", Org: w.ref.Org, Epoch: 1, Stage: auth.RunPlan, State: string(w.ref.Name),
		Version: version, Expires: time.Now().Add(time.Hour)})
}

func (w *runWorld) apply(epoch int64) string {
	return w.signer.Sign(token.Claims{Run: "r", Org: w.ref.Org, Epoch: epoch, Stage: auth.RunApply,
		State: string(w.ref.Name), Expires: time.Now().Add(time.Hour)})
}

func (w *runWorld) fence(epoch int64, open bool) {
	w.Helper()
	if _, err := w.states.Fence(w.Context(), w.ref, state.Fence{Run: "r", Epoch: epoch, Open: open}); err != nil {
		w.Fatal(err)
	}
}

// command runs the client with everything by its environment, so that nothing of it is on disk.
func (w *runWorld) command(key string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(w.Context(), w.client, args...)
	cmd.Dir = w.dir
	cmd.Env = append(freshEnviron(), "TF_CLI_ARGS=-no-color", "TF_INPUT=0", "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+
		os.DevNull,
		"TF_HTTP_ADDRESS="+w.url, "TF_HTTP_LOCK_ADDRESS="+w.url, "TF_HTTP_UNLOCK_ADDRESS="+w.url, "TF_HTTP_USERNAME=run",
		"TF_HTTP_PASSWORD="+key)
	return cmd
}

// exec returns the client's exit code and what it said.
func (w *runWorld) exec(key string, args ...string) (int, string) {
	w.Helper()
	cmd := w.command(key, args...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		w.Fatal(err)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

func (w *runWorld) wantExit(want int, says, key string, args ...string) {
	w.Helper()
	if code, out := w.exec(key, args...); code != want || !strings.Contains(out, says) {
		w.Fatalf("%v: exit code %d, want %d and %q:\n%s", args, code, want, says, out)
	}
}

func (w *runWorld) newest() uint64 {
	w.Helper()
	head, err := w.states.HeadOf(w.Context(), w.ref)
	if err != nil {
		w.Fatal(err)
	}
	return head.Version.Number
}

// TestRunTokens has both clients plan and apply with the tokens of runs: a plan reads the one
// version that it is pinned to and writes nothing; what an apply writes after its executor was
// taken for lost is a candidate, with every byte.
func TestRunTokens(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	for _, client := range clients {
		t.Run(client.name, func(t *testing.T) {
			t.Parallel()
			w := newRunWorld(t, program(t, client.binary))
			w.fence(1, true)
			w.wantExit(0, "1 added", w.apply(1), "apply", "-auto-approve", "-var=v=a")
			old := w.newest()
			w.wantExit(0, "1 destroyed", w.apply(1), "apply", "-auto-approve", "-var=v=b")
			pinsHold(w, old, w.newest())
			lostExecutor(w)
		})
	}
}

// pinsHold plans against an old version, the newest one and none.
func pinsHold(w *runWorld, old, newest uint64) {
	w.Helper()
	plan := func(version uint64, value string, more ...string) (string, []string) {
		return w.plan(version), append([]string{"plan", "-lock=false", "-detailed-exitcode", "-var=v=" + value}, more...)
	}
	for _, test := range []struct {
		version uint64
		value   string
		exit    int
		says    string
	}{
		{old, "a", 0, "No changes"}, {old, "b", 2, "1 to add, 0 to change, 1 to destroy"},
		{newest, "b", 0, "No changes"}, {newest, "a", 2, "1 to add, 0 to change, 1 to destroy"},
		{0, "b", 2, "1 to add, 0 to change, 0 to destroy"}, {99, "b", 1, "410"},
	} {
		key, args := plan(test.version, test.value)
		w.wantExit(test.exit, test.says, key, args...)
	}
	key, args := plan(old, "b", "-out=saved")
	w.wantExit(2, "", key, args...)
	if saved, err := os.ReadFile(filepath.Join(w.dir, "saved")); err != nil || bytes.Contains(saved, []byte("hfr_")) {
		w.Errorf("the plan file holds the token, or isn't there: %v", err)
	}
	w.wantExit(1, "invalid auth", w.plan(newest), "plan", "-var=v=b")
	w.wantExit(1, "403", w.plan(newest), "apply", "-lock=false", "-auto-approve", "-var=v=c")
	if now := w.newest(); now != newest {
		w.Errorf("a plan's token has written version %d", now)
	}
	if err := os.Remove(filepath.Join(w.dir, "errored.tfstate")); err != nil {
		w.Error(err)
	}
}

// lostExecutor takes the run's executor for lost in the middle of an apply.
func lostExecutor(w *runWorld) {
	w.Helper()
	file := func(name string) string { return filepath.Join(w.dir, name) }
	if err := os.WriteFile(file("wait"), nil, 0o600); err != nil {
		w.Fatal(err)
	}
	before := w.newest()
	var out bytes.Buffer
	late := w.command(w.apply(1), "apply", "-auto-approve", "-var=v=c")
	late.Stdout, late.Stderr = &out, &out
	if err := late.Start(); err != nil {
		w.Fatal(err)
	}
	begun := poll(func() error { _, err := os.Stat(file("begun")); return err })
	w.fence(2, false)
	if err := os.WriteFile(file("go"), nil, 0o600); err != nil {
		w.Fatal(err)
	}
	if err := late.Wait(); err == nil || begun != nil {
		w.Fatalf("%v; %v:\n%s", begun, err, &out)
	}
	if now := w.newest(); now != before {
		w.Errorf("the late write is version %d", now)
	}
	w.wantKept(before, file("errored.tfstate"), out.String())
	if lock, err := w.states.ReleaseFor(w.Context(), w.ref, "r", "it was lost"); err != nil || lock == nil ||
		lock.Run != (state.RunRef{ID: "r", Epoch: 1}) {
		w.Errorf("the lock: %+v, %v", lock, err)
	}
	w.fence(2, true)
	w.wantExit(0, "Apply complete", w.apply(2), "apply", "-auto-approve", "-var=v=c")
}

// wantKept finds what the client could not write as a candidate on top of a version.
func (w *runWorld) wantKept(base uint64, errored, said string) {
	w.Helper()
	owner := auth.Principal{Org: w.ref.Org, KeyID: "k-1", Grant: auth.Grant{Role: auth.Owner}}
	kept, _, err := w.states.Candidates(w.Context(), owner, w.ref.Name, "", 9)
	if err != nil || len(kept) == 0 {
		w.Fatalf("%d candidates, %v:\n%s", len(kept), err, said)
	}
	for _, c := range kept {
		if c.Source != state.Fenced || c.Number != base {
			w.Errorf("%+v", c)
		}
	}
	newest, err := w.states.Candidate(w.Context(), owner, w.ref.Name, kept[0].ID)
	if err != nil {
		w.Fatal(err)
	}
	defer newest.Release()
	left, err := os.ReadFile(errored)
	if err != nil {
		w.Fatal(err)
	}
	var had, has map[string]any
	if err := json.Unmarshal(left, &had); err != nil {
		w.Fatal(err)
	}
	if err := json.Unmarshal(newest.Body, &has); err != nil ||
		fmt.Sprint(had["resources"], had["lineage"]) != fmt.Sprint(has["resources"], has["lineage"]) {
		w.Errorf("%v: the candidate is\n%s\nthe client left\n%s", err, newest.Body, left)
	}
}
