//go:build e2e

package test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// runBench is a server that executes runs with the real OpenTofu, and one who orders them.
type runBench struct {
	*testing.T
	dir     string // short, because the folders of runs have sockets in them
	work    string // where the server's own executor works
	environ []string
	server  *server
	org     uuid.UUID
	key     string
	client  *client.Client
	agents  []*agentProcess
}

// runSecret is the value of a variable that must be found nowhere.
const runSecret = "correct-horse-battery-staple"

// runDir returns a folder for a bench.
func runDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "hfr")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// newRunBench starts a server with these settings.
func newRunBench(t *testing.T, settings ...string) *runBench {
	t.Helper()
	return newRunBenchIn(t, runDir(t), settings...)
}

func newRunBenchIn(t *testing.T, dir string, settings ...string) *runBench {
	t.Helper()
	b := &runBench{T: t, dir: dir, work: filepath.Join(dir, "w")}
	b.environ = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "HOLDFAST_AUTH_FILE=" + filepath.Join(dir, "auth.cfg"),
		"STORAGE_PATH=" + filepath.Join(dir, "data"), "HOLDFAST_RUNS_WORK_PATH=" + b.work,
		"HOLDFAST_RATE_LIMIT=off", "HOLDFAST_STATE_RATE_LIMIT=off", "HOLDFAST_RUNS_SLOTS=4",
	}, settings...)
	var made struct {
		Organization uuid.UUID
		Key          string
	}
	b.must(json.Unmarshal(b.holdfast("init", "--json"), &made))
	b.holdfast("tool", "add", "opentofu", "1.12.6", program(t, "TOFU_BIN"))
	b.server = newServer(dir, b.environ)
	b.must(b.server.start())
	t.Cleanup(func() {
		if err := b.server.end(); err != nil {
			t.Error(err)
		}
		b.endCommands()
		if t.Failed() {
			t.Logf("the end of the server's log:\n%s", b.said(60))
		}
	})
	_, port, err := net.SplitHostPort(b.server.address)
	b.must(err)
	b.server.environ = append(b.server.environ, "PORT="+port)
	b.org, b.key = made.Organization, made.Key
	b.client = client.New(client.Options{Address: b.server.url, Org: made.Organization, Key: made.Key, Tries: 1,
		HTTP: &http.Client{Timeout: 30 * time.Second}})
	return b
}

func (b *runBench) must(err error) {
	b.Helper()
	if err != nil {
		b.Fatal(err)
	}
}

// holdfast runs a command of the program, and returns what it printed.
func (b *runBench) holdfast(args ...string) []byte {
	b.Helper()
	cmd := exec.Command(program(b.T, "HOLDFAST_BIN"), args...)
	cmd.Dir, cmd.Env = b.dir, b.environ
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		b.Fatalf("holdfast %q: %v\n%s", args, err, said.String())
	}
	return out
}

// said is the end of the server's log, without requests.
func (b *runBench) said(n int) string {
	var kept []string
	for line := range strings.Lines(b.server.logTail(1 << 20)) {
		if !strings.Contains(line, `"msg":"request"`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept[max(0, len(kept)-n):], "")
}

// kill ends the server as a crash does.
func (b *runBench) kill() {
	_ = b.server.process.end(syscall.SIGKILL)
	b.server.process = nil
}

// workspace makes one with this configuration, which makes its resources one by one.
func (b *runBench) workspace(name, configuration string, changes ...func(*api.WorkspaceChange)) {
	b.Helper()
	ctx := b.Context()
	one := 1
	order := api.WorkspaceChange{Name: name, Parallelism: &one}
	for _, change := range changes {
		change(&order)
	}
	_, err := b.client.CreateWorkspace(ctx, order)
	b.must(err)
	b.must(b.client.ChangeVariables(ctx, name, api.VariablesChange{Set: []api.VariableValue{
		{Kind: "terraform", Name: "password", Value: runSecret, Sensitive: true},
	}}))
	_, err = b.client.PushArchive(ctx, name, bytes.NewReader(archiveOf(b.T, map[string]string{"main.tf": configuration})),
		"", nil)
	b.must(err)
}

// archiveOf is a tar.gz of these files.
func archiveOf(t *testing.T, files map[string]string) []byte {
	t.Helper()
	var packed bytes.Buffer
	zipped := gzip.NewWriter(&packed)
	to := tar.NewWriter(zipped)
	for name, text := range files {
		if err := to.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(text))}); err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(to, text); err != nil {
			t.Fatal(err)
		}
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	if err := zipped.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

// slowly is a configuration whose apply takes a second for each of its resources, each of which
// prints a line, and the secret.
func slowly(resources int) string {
	return fmt.Sprintf(`
variable "password" { sensitive = true }
resource "terraform_data" "made" {
  count = %d
  input = count.index
  provisioner "local-exec" {
    command = "echo begin-${self.input}-; echo \"the word is $TF_VAR_password\"; sleep 1; echo end-${self.input}-"
  }
}
output "made" { value = length(terraform_data.made) }
`, resources)
}

// untilReleased is slowly, with resources that wait for release, or until their folder is gone.
func untilReleased(resources int) string {
	return strings.ReplaceAll(slowly(resources), "sleep 1", "while [ -e main.tf ] && [ ! -e go-on ]; do sleep 0.1; done")
}

// release has what waits for it go on, in all runs that there are.
func (b *runBench) release() {
	b.Helper()
	works := []string{b.work}
	for _, a := range b.agents {
		works = append(works, a.work)
	}
	released := 0
	for _, work := range works {
		folders, err := filepath.Glob(filepath.Join(work, "runs", "*", "*", "config"))
		b.must(err)
		for _, folder := range folders {
			b.must(os.WriteFile(filepath.Join(folder, "go-on"), nil, 0o600))
			released++
		}
	}
	if released == 0 {
		b.Fatal("nothing is held")
	}
}

// order asks for a run.
func (b *runBench) order(workspace, kind string) api.Run {
	b.Helper()
	run, err := b.client.CreateRun(b.Context(), api.RunOrder{Workspace: workspace, Kind: kind}, uuid.NewString())
	b.must(err)
	return run
}

// lookEvery is how often a run is looked at whose phases are short.
const lookEvery = 10 * time.Millisecond

// until waits until the run is what is wanted. While the server is down nothing is known.
func (b *runBench) until(id, what string, is func(api.Run) bool) api.Run {
	b.Helper()
	var last api.Run
	var failure error
	for deadline := time.Now().Add(awaitLimit); time.Now().Before(deadline); time.Sleep(lookEvery) {
		run, err := b.client.Run(b.Context(), id)
		if failure = err; err != nil {
			continue
		}
		if last = run; is(run) {
			return run
		}
	}
	b.Fatalf("run %s did not become %s within %s: %v, %+v", id, what, awaitLimit, failure, last)
	return last
}

// ended waits for the end of a run, and approves of its plan on the way.
func (b *runBench) ended(id string) api.Run {
	b.Helper()
	return b.until(id, "ended", func(r api.Run) bool {
		if r.Status == "awaiting_approval" {
			b.approve(r)
		}
		return isOver(r)
	})
}

func isOver(r api.Run) bool { return r.FinishedAt != nil }

// approve is repeated by until, when the server is down.
func (b *runBench) approve(r api.Run) {
	if r.Pin != nil {
		_, _ = b.client.ApproveRun(b.Context(), r.ID, api.Decision{Digest: r.Pin.Digest})
	}
}

// is returns whether a run is in a status, or in a phase of a stage.
func is(status, phase string) func(api.Run) bool {
	return func(r api.Run) bool { return isOver(r) || r.Status == status && (phase == "" || r.Phase == phase) }
}

// log returns all of a log.
func (b *runBench) log(run api.Run, stream string) string {
	b.Helper()
	var all []byte
	for {
		part, err := b.client.OpenRunLog(b.Context(), run.ID, client.RunLogQuery{Stream: stream, Offset: int64(len(all))})
		b.must(err)
		text, err := io.ReadAll(part)
		part.Close()
		b.must(err)
		if len(text) == 0 {
			return string(all)
		}
		all = append(all, text...)
	}
}

// collect returns all of a list.
func collect[T any](b *runBench, list *client.List[T]) (all []T) {
	b.Helper()
	for one, err := range list.All(context.Background()) {
		b.must(err)
		all = append(all, one)
	}
	return all
}
