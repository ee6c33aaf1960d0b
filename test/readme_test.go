//go:build e2e

package test

import (
	"bytes"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// TestReadme does what the README says, in a fresh clone of what is committed: make run, paste what
// it prints and then every line of the README in its order; and make run a second time.
func TestReadme(t *testing.T) {
	t.Parallel()
	_ = os.Getenv("HOLDFAST_TREE") // Go's test cache has to know that the test depends on what is committed
	readme, err := os.ReadFile("../README.md")
	if err != nil || !strings.Contains(string(readme), "\n    make run ") {
		t.Fatalf("the README does not say `make run`: %v", err)
	}
	clone := t.TempDir()
	run(t, ".", nil, "git", "clone", "--quiet", "..", clone)
	host := ownLoopback()
	environ := append(freshEnviron(), "HOST="+host, "PORT="+freePort(t, host))

	first := makeRun(t, clone, environ)
	project, key := pasted(t, first.output())
	client := append(freshEnviron(), "TF_HTTP_PASSWORD="+key, "TF_CLI_ARGS=-no-color", "CHECKPOINT_DISABLE=1",
		"TF_CLI_CONFIG_FILE="+os.DevNull)
	tofu := program(t, "TOFU_BIN")
	paste(t, clone, first.output(), string(readme))
	run(t, project, client, tofu, "init")
	run(t, project, client, tofu, "apply", "-auto-approve")
	first.stop()

	second := makeRun(t, clone, environ)
	if out := second.output(); strings.Contains(out, "hfk_") {
		t.Errorf("the second `make run` shows a key:\n%s", out)
	}
	if out := run(t, project, client, tofu, "plan"); !strings.Contains(out, "No changes") {
		t.Errorf("the second `make run` does not serve what the first one stored:\n%s", out)
	}
	second.stop()
	checkClone(t, clone)
}

// paste gives a fresh shell in the clone the exports that `make run` printed, and then all lines of
// the README that are for a shell, in their order. Each must succeed.
func paste(t *testing.T, clone, printed, readme string) {
	t.Helper()
	exports := strings.Join(printedExports.FindAllString(printed, -1), "\n")
	lines := shellLines(readme)
	if strings.Count(exports, "export") < 4 || strings.Count(lines, "holdfast ") < 20 {
		t.Fatalf("the exports are\n%s\nand the README's lines\n%s", exports, lines)
	}
	failing := "trap 'echo \"this failed: $BASH_COMMAND\" >&2' ERR\n"
	shell := exec.Command("bash", "-eu", "-o", "pipefail", "-c", failing+exports+"\n"+lines)
	shell.Dir = clone
	shell.Env = []string{"HOME=" + t.TempDir(), "PATH=" + filepath.Dir(program(t, "TOFU_BIN")) +
		":/usr/local/bin:/usr/bin:/bin",
		"CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE=" + os.DevNull}
	if out, err := shell.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

// shellLines are the indented blocks of a page that begin with a command, from the first one
// behind what `make run` prints. They keep their indentation: who reads the file itself pastes it too.
func shellLines(page string) string {
	var lines strings.Builder
	_, page, _ = strings.Cut(page, "    export PATH=")
	for _, block := range indentedBlock.FindAllString(page, -1) {
		if !ofShell.MatchString(block) {
			continue
		}
		lines.WriteString(block)
	}
	return lines.String()
}

// checkClone asserts that running leaves keys readable to their owner only, and nothing
// that git would pick up.
func checkClone(t *testing.T, clone string) {
	t.Helper()
	info, err := os.Stat(filepath.Join(clone, "auth.cfg"))
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("auth.cfg: %v, mode %v", err, info)
	}
	if out := run(t, clone, nil, "git", "status", "--porcelain"); out != "" {
		t.Errorf("git sees what running has left:\n%s", out)
	}
}

var (
	printedBlock   = regexp.MustCompile(`(?ms)^    terraform \{\n.*?^    \}\n`)
	printedExports = regexp.MustCompile(`(?m)^ +export .*$`)
	indentedBlock  = regexp.MustCompile(`(?m)(^    .*\n)+`)
	ofShell        = regexp.MustCompile(`\A    (holdfast|curl|mkdir) `)
	printedKey     = regexp.MustCompile(`export TF_HTTP_PASSWORD='(\S+)'`)
)

// pasted makes a project of the block that `make run` printed, as it is.
func pasted(t *testing.T, output string) (project, key string) {
	t.Helper()
	block, export := printedBlock.FindString(output), printedKey.FindStringSubmatch(output)
	if block == "" || export == nil {
		t.Fatalf("`make run` printed no backend block, or no key:\n%s", output)
	}
	project = t.TempDir()
	text := block + "\nresource \"terraform_data\" \"first\" {}\n"
	if err := os.WriteFile(filepath.Join(project, "main.tf"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return project, export[1]
}

// run runs a program that must succeed, and returns its output.
func run(t *testing.T, dir string, environ []string, program string, args ...string) string {
	t.Helper()
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = dir, environ
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", cmd, err, out)
	}
	return string(out)
}

// output runs a program that must succeed, and returns what it wrote to stdout.
func output(t *testing.T, dir string, environ []string, program string, args ...string) []byte {
	t.Helper()
	cmd := exec.Command(program, args...)
	var errs bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stderr = dir, environ, &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", cmd, err, out, &errs)
	}
	return out
}

// freshEnviron is the environment of somebody who has set nothing of ours: no settings,
// no client's options, no make around the tests.
func freshEnviron() []string {
	ours := regexp.MustCompile(`^(HOLDFAST|STORAGE|DB|TF|TOFU|TLS|ENABLE|MAKE)[A-Z_]*=|^(HOST|PORT|MFLAGS)=`)
	return slices.DeleteFunc(os.Environ(), ours.MatchString)
}

// freePort returns a port that was free a moment ago.
func freePort(t *testing.T, host string) string {
	t.Helper()
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
