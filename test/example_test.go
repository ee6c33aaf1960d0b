//go:build e2e

package test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast/holdfast/internal/docpages"
)

// changing is what is another one each time: times, IDs, digests, and who is logged in where.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b|\b01[0-9A-HJKMNP-TV-Z]{24}\b|by \S+@\S+`)

// example makes the files that stand under a heading of one of our pages, runs the commands there behind prompts in
// their order, and wants what the page shows: times and IDs may be others, the page may break lines and indent them,
// and leave things out with an ellipsis.
func example(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 2); err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join("..", args[0]))
	if err != nil {
		return err
	}
	_, section, _ := strings.Cut(string(page), "\n## "+args[1]+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks, _ := docpages.Read(section)
	var commands []docpages.Command
	for _, b := range blocks {
		if strings.HasPrefix(b.Text, "$ ") {
			commands = append(commands, b.Commands()...)
		}
		if b.Name == "" {
			continue
		}
		path := ts.MkAbs(b.Name)
		err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(b.Text), 0o600))
		if err != nil {
			return err
		}
	}
	if len(commands) == 0 {
		return fmt.Errorf("%s has no commands under %q", args[0], args[1])
	}
	for _, c := range commands {
		shell := exec.Command("bash", "-euo", "pipefail", "-c", c.Text)
		shell.Dir = ts.MkAbs(".")
		for _, name := range []string{"HOME", "PATH", "ORG", "KEY", "HOLDFAST_ADDR", "HOLDFAST_KEY"} {
			shell.Env = append(shell.Env, name+"="+ts.Getenv(name))
		}
		var stderr bytes.Buffer
		shell.Stderr = &stderr
		out, err := shell.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", c.Text, err, &stderr)
		}
		if !shows(c.Shown, string(out)) {
			return fmt.Errorf("%s\n%s\nbut %s shows\n%s", c.Text, out, args[0], c.Shown)
		}
	}
	return nil
}

// shows says whether the output of a command is what the page has, spaces aside.
func shows(page, output string) bool {
	var pattern strings.Builder
	for i, part := range strings.Split(plain(page), "…") {
		if i > 0 {
			pattern.WriteString(".*")
		}
		pattern.WriteString(regexp.QuoteMeta(part))
	}
	return regexp.MustCompile(`\A` + pattern.String() + `\z`).MatchString(plain(output))
}

func plain(text string) string {
	return strings.Join(strings.Fields(changing.ReplaceAllString(text, "~")), "")
}
