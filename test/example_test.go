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
)

// changing is what is another one each time: times, IDs, digests, and who is logged in where.
var changing = regexp.MustCompile(`\d{4}-\d\d-\d\dT[0-9:.]+Z|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|\b[0-9a-f]{64}\b|\b01[0-9A-HJKMNP-TV-Z]{24}\b|by \S+@\S+`)

// example makes the files that stand under a heading of one of our pages, runs the commands there
// in their order, and wants what the page shows: times and IDs may be others, the page may break lines and indent
// them, and leave things out with an ellipsis.
func example(_ *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 2); err != nil {
		return err
	}
	page, err := os.ReadFile(filepath.Join("..", args[0]))
	if err != nil {
		return err
	}
	steps := stepsUnder(string(page), args[1])
	if len(steps) == 0 {
		return fmt.Errorf("%s has no commands under %q", args[0], args[1])
	}
	for name, text := range filesUnder(string(page), args[1]) {
		path := ts.MkAbs(name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600)); err != nil {
			return err
		}
	}
	for _, step := range steps {
		shell := exec.Command("bash", "-euo", "pipefail", "-c", step.command)
		shell.Dir = ts.MkAbs(".")
		for _, name := range []string{"HOME", "PATH", "ORG", "KEY", "HOLDFAST_ADDR", "HOLDFAST_KEY"} {
			shell.Env = append(shell.Env, name+"="+ts.Getenv(name))
		}
		var stderr bytes.Buffer
		shell.Stderr = &stderr
		out, err := shell.Output()
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", step.command, err, &stderr)
		}
		if !step.shows(string(out)) {
			return fmt.Errorf("%s\n%s\nbut %s shows\n%s", step.command, out, args[0], step.output)
		}
	}
	return nil
}

// step is a command on a page, and the output that the page shows of it.
type step struct{ command, output string }

// stepsUnder returns the commands of the section with that heading: lines that begin with
// "    $ "; what is indented behind one is its output.
func stepsUnder(page, title string) (steps []step) {
	inCode := false
	for line := range strings.Lines(sectionOf(page, title)) {
		code, indented := strings.CutPrefix(line, "    ")
		command, begins := strings.CutPrefix(code, "$ ")
		switch {
		case indented && begins:
			steps = append(steps, step{command: command})
			inCode = true
		case indented && inCode:
			steps[len(steps)-1].output += code
		case strings.TrimSpace(line) != "":
			inCode = false
		}
	}
	return steps
}

func sectionOf(page, title string) string {
	_, section, _ := strings.Cut(page, "\n## "+title+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// filesUnder returns the files of the section: what is indented, before any command, and begins
// with "    # " and a path.
func filesUnder(page, title string) map[string]string {
	files, name := map[string]string{}, ""
	for line := range strings.Lines(sectionOf(page, title)) {
		code, indented := strings.CutPrefix(line, "    ")
		path, begins := strings.CutPrefix(code, "# ")
		switch {
		case strings.HasPrefix(code, "$ "):
			return files
		case indented && begins && name == "":
			name = strings.TrimSpace(path)
		case indented && name != "":
			files[name] += code
		case strings.TrimSpace(line) != "":
			name = ""
		}
	}
	return files
}

// shows says whether a command's output is what the page has, spaces aside.
func (s step) shows(output string) bool {
	var pattern strings.Builder
	for i, part := range strings.Split(plain(s.output), "…") {
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
