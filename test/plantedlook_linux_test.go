//go:build e2e

package test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// show asks for what shows no secrets to anybody.
func (p *planted) show() {
	p.Helper()
	for _, path := range []string{"/metrics", "/readyz", "/livez", "/api/v1/whoami", "/api/v1/audit?limit=1000",
		"/api/v1/states", "/api/v1/keys",
		"/api/v1/organization", "/api/v1/repositories", "/api/v1/state/prod/app/-/versions"} {
		answer, err := p.org.send("GET", path, nil)
		p.must(err)
		_, err = io.Copy(&p.answers, answer.Body)
		p.must(err)
		answer.Body.Close()
		if answer.StatusCode != http.StatusOK {
			p.Errorf("%s: %s", path, answer.Status)
		}
	}
}

// backUp makes a backup, and has it restored, each beside the data.
func (p *planted) backUp() {
	p.Helper()
	bin, environ := os.Getenv("HOLDFAST_BIN"), append(slices.Clone(p.server.environ), "HOME="+p.dir)
	output(p.T, p.dir, environ, bin, "backup", "-o", "one.hfb", "--unencrypted")
	output(p.T, p.dir, environ, bin, "restore", "one.hfb", "--to", "restored")
	output(p.T, p.dir, environ, bin, "doctor")
}

// crash ends the server as the failure does that leaves all of its memory behind where that is allowed.
func (p *planted) crash() {
	p.Helper()
	process := p.server.process
	p.server.process = nil
	if err := process.end(syscall.SIGABRT); err == nil {
		p.Fatal("it did not crash")
	}
	if !dumpsCores(p.T) {
		p.Log("this machine writes no cores of anybody")
	}
	p.crashed(process)
	if !strings.Contains(p.server.logTail(2000), "SIGABRT") {
		p.Error("nothing is said of the crash")
	}
}

// crashAgent ends an agent so that has read its pool's token.
func (p *planted) crashAgent() {
	p.Helper()
	token := filepath.Join(p.T.TempDir(), "pool.token")
	p.must(os.WriteFile(token, []byte(p.secrets["pool token"]+"\n"), 0o600))
	log, err := os.Create(filepath.Join(p.dir, "agent.log"))
	p.must(err)
	defer log.Close()
	process, err := startProcess(p.dir, append(slices.Clone(p.server.environ), "HOME="+p.dir), log, "sh", "-c",
		`ulimit -c unlimited && exec "$0" agent --server http://127.0.0.1:1 --pool-token-file "$1" --work "$PWD/work" \
			--min-sandbox none`, os.Getenv("HOLDFAST_BIN"), token)
	p.must(err)
	p.must(poll(func() error {
		text, err := os.ReadFile(log.Name())
		if err == nil && !strings.Contains(string(text), "trying again") {
			err = fmt.Errorf("the agent has said %q", text)
		}
		return err
	}))
	if err := process.end(syscall.SIGABRT); err == nil {
		p.Fatal("it did not crash")
	}
	p.crashed(process)
}

// crashed wants a process to have left nothing of its memory.
func (p *planted) crashed(process *process) {
	p.Helper()
	if status, ok := process.cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.CoreDump() {
		p.Errorf("it ended with %v", process.cmd.ProcessState)
	}
	if cores, _ := filepath.Glob(filepath.Join(p.dir, "*core*")); len(cores) > 0 {
		p.Errorf("it has left %v", cores)
	}
}

// look looks for all secrets in all files and answers.
func (p *planted) look(when string) {
	p.Helper()
	whole, seen := map[string]string{}, map[string]bool{}
	for what, secret := range p.secrets {
		whole[what] = secret
	}
	master, err := os.ReadFile(filepath.Join(p.dir, "data", "master.key"))
	p.must(err)
	for line := range strings.Lines(string(master)) {
		digits, _, _ := strings.Cut(line, " ")
		if raw, err := hex.DecodeString(digits); err == nil && len(raw) == 32 {
			whole["master key"], whole["master key in hexadecimal"] = string(raw), digits
		}
	}
	if whole["master key"] == "" {
		p.Fatal("there is no master key")
	}
	there := []string{"state.db prod/app", p.org.id.String() + ".csv pl4nted-name", "server.log prod/app"}
	look := func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "master.key" {
			return nil // temporary files go at any time
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return nil
		}
		for what, secret := range whole {
			ofReceiver := strings.HasPrefix(what, "receiver") || strings.HasPrefix(what, "decision")
			if ofReceiver && (d.Name() == "auth.cfg" || d.Name() == "one.hfb") {
				continue // auth.cfg says what they are, and is in a backup
			}
			if bytes.Contains(content, []byte(secret)) {
				p.Errorf("%s: the %s is in %s", when, what, path)
			}
		}
		for _, here := range []string{"prod/app", "pl4nted-name"} {
			if bytes.Contains(content, []byte(here)) {
				seen[strings.TrimSuffix(d.Name(), "-wal")+" "+here] = true
				if p.database != nil && strings.HasPrefix(path, p.database.Dir()) {
					seen["the database "+here] = true
				}
			}
		}
		return nil
	}
	p.must(filepath.WalkDir(p.dir, look))
	if p.database != nil {
		there = []string{"the database prod/app", "the database pl4nted-name", "server.log prod/app"}
		p.database.flush(p.T)
		p.must(filepath.WalkDir(filepath.Join(p.database.Dir(), "data"), look))
	}
	for what, secret := range whole {
		if at := strings.Index(p.answers.String(), secret); at >= 0 {
			text := p.answers.String()
			p.Errorf("%s: the %s is in an answer: %.600q", when, what, text[max(0, at-500):])
		}
	}
	for _, here := range there {
		if !seen[here] {
			p.Errorf("%s: what may be in %s is not there: this test does not look where it should", when, here)
		}
	}
}

// lookIntoSpool looks for secrets in the upload that waits for the database, which is compressed.
func (p *planted) lookIntoSpool() {
	p.Helper()
	db, err := sqlitedb.File{Path: filepath.Join(p.dir, "data", "outbox.db")}.OpenReader()
	p.must(err)
	defer db.Close()
	var body []byte
	p.must(db.QueryRowContext(p.Context(), "SELECT body FROM batches").Scan(&body))
	decoder, err := zstd.NewReader(nil)
	p.must(err)
	defer decoder.Close()
	text, err := decoder.DecodeAll(body, nil)
	p.must(err)
	if !bytes.Contains(text, []byte("pl4nted-name")) {
		p.Errorf("what waits for the database is %q", text)
	}
	for what, secret := range p.secrets {
		if bytes.Contains(text, []byte(secret)) {
			p.Errorf("the %s waits for the database", what)
		}
	}
}

// dumpsCores reports whether a process that may leave a core here does.
func dumpsCores(t *testing.T) bool {
	t.Helper()
	cmd := exec.Command("sh", "-c", "ulimit -c unlimited && kill -ABRT $$")
	cmd.Dir = t.TempDir()
	_ = cmd.Run() // it ends by the signal
	status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus)
	return ok && status.CoreDump()
}
