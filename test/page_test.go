//go:build e2e

package test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/holdfast/holdfast/internal/docpages"
)

// runPage makes the files that a page of ours shows, but for those that the script has, and runs the page's commands in
// one shell, in their order; the first that fails ends it. The second argument names a file with the page's rules: what
// its names stand for here, and what can't be run.
func runPage(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 1, 2); err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join("..", args[0]))
	if err != nil {
		return err
	}
	rules := pageRules{{verb: "replace", pattern: exampleServers, text: ts.Getenv("HOLDFAST_ADDR"), used: true}}
	if len(args) == 2 {
		more, err := readPageRules(ts.ReadFile(args[1]))
		if err != nil {
			return err
		}
		rules = append(rules, more...)
	}
	if err := makeFiles(ts, string(text)); err != nil {
		return err
	}
	script := rules.script(args[0], string(text))
	for _, rule := range rules {
		if !rule.used {
			return fmt.Errorf("%s: no command matches %q", args[0], rule.pattern)
		}
	}
	// It is read from a file, so that commands find the standard input that they have.
	file := ts.MkAbs(".page.sh")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		return err
	}
	if err := ts.Exec("bash", file); err != nil {
		return errors.New(strings.TrimSpace(ts.ReadFile("stderr")) + ": " + err.Error())
	}
	return nil
}

// makeFiles makes the files whose names and contents a page shows. Those that are there are left as they are.
func makeFiles(ts *testscript.TestScript, page string) error {
	blocks, _ := docpages.Read(page)
	for _, b := range blocks {
		path := ts.MkAbs(b.Name)
		if _, err := os.Stat(path); b.Name == "" || err == nil {
			continue
		}
		err := os.MkdirAll(filepath.Dir(path), 0o700)
		if err := errors.Join(err, os.WriteFile(path, []byte(b.Text), 0o600)); err != nil {
			return err
		}
	}
	return nil
}

// exampleServers are the addresses that pages have for the reader's server.
var exampleServers = regexp.MustCompile(
	`https?://(?:state|holdfast)\.example\.com|(?:http://)?(?:localhost|127\.0\.0\.1):7777`)

// pageRule is a line "VERB PATTERN: TEXT" for the commands that match a regular expression:
//
//	skip     they are not run; the text says why
//	replace  what matches becomes the text, in which $1 is the first group and $$ a dollar
//	before   the text is run before each of them
//	after    the text is run after each of them
//	fails    they end with an error here; the text says why
type pageRule struct {
	verb    string
	pattern *regexp.Regexp
	text    string
	used    bool
}

type pageRules []*pageRule

func readPageRules(text string) (all pageRules, err error) {
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		verb, rest, _ := strings.Cut(line, " ")
		pattern, text, found := strings.Cut(rest, ": ")
		compiled, err := regexp.Compile(pattern)
		if !found || err != nil || !strings.Contains("skip replace before after fails", verb) {
			return nil, fmt.Errorf("%q is no rule: %w", line, err)
		}
		all = append(all, &pageRule{verb: verb, pattern: compiled, text: text})
	}
	return all, nil
}

// pageShell has what is refused fail, also what curl is told with a status, and says which line of the page it was.
// Behind "served", a rule's, a server that the page starts is stopped again once it listens.
const pageShell = `set -eEuo pipefail
trap 'echo "$at" >&2' ERR
curl() { command curl --fail-with-body "$@"; }
served() {
  : >served.log
  PORT=0 "$@" >served.log 2>&1 &
  until grep -q listening served.log; do kill -0 $! || { cat served.log >&2; return 1; }; sleep 0.1; done
  kill $! && wait $!
}
`

// script returns the page's commands as a shell's script that names the line of the first that fails.
func (rules pageRules) script(page, text string) string {
	var out strings.Builder
	out.WriteString(pageShell)
	blocks, _ := docpages.Read(text)
	for _, b := range blocks {
		if b.Kind != docpages.Shell {
			continue
		}
		for _, c := range b.Commands() {
			fmt.Fprintf(&out, "at='%s:%d'\n%s", page, c.Line, rules.apply(c))
		}
	}
	return out.String()
}

// apply returns what is run for a command. All patterns but those of replacements are matched with the page's text.
func (rules pageRules) apply(typed docpages.Command) string {
	command, before, after, fails := typed.Text, "", "", false
	for _, rule := range rules {
		if !rule.pattern.MatchString(typed.Text) {
			continue
		}
		rule.used = true
		switch rule.verb {
		case "skip":
			return "\n"
		case "replace":
			command = rule.pattern.ReplaceAllString(command, rule.text)
		case "before":
			before += rule.text + "\n"
		case "after":
			after += rule.text + "\n"
		case "fails":
			fails = true
		}
	}
	if typed.Input != "" {
		command += " <<'EOF'\n" + typed.Input + "\nEOF"
	}
	if fails {
		command = "if\n" + command + "\nthen echo \"$at: it is to fail\" >&2; exit 1; fi"
	}
	return before + command + "\ntest $? = 0\n" + after // a list that && cuts off ends no shell by itself
}
