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

// runPage runs the commands of a page of ours in one shell, in their order; the first that fails ends it. The second
// argument names a file with the page's rules: what its names stand for here, and what can't be run.
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
	script, tables := rules.script(args[0], string(text))
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
	for _, head := range tables {
		columns := strings.Join(regexp.MustCompile(`  +`).Split(head, -1), "  +")
		if !regexp.MustCompile("(?m)" + columns + "$").MatchString(ts.ReadFile("stdout")) {
			return fmt.Errorf("%s: no command shows a table with the columns %s", args[0], head)
		}
	}
	return nil
}

// tableHead is the first line of a table that a command shows.
var tableHead = regexp.MustCompile(`^[A-Z]+( [A-Z]+)*(  +[A-Z]+( [A-Z]+)*)+$`)

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
// What goes on in the background ends with the page. Rules may call its functions: served stops a server that the page
// starts, once it listens, await waits until a command succeeds, newest waits for a run that has what the flags of
// `run list` say, and prints the newest one's ID, and block prints the page's first block of a language.
const pageShell = `set -eEuo pipefail
trap 'echo "$at" >&2' ERR
trap 'kill $(jobs -p) 2>/dev/null || true; wait' EXIT
curl() { command curl --fail-with-body "$@"; }
served() {
	: >served.log
	PORT=0 "$@" >served.log 2>&1 &
	until grep -q listening served.log; do kill -0 $! || { cat served.log >&2; return 1; }; sleep 0.1; done
	kill $! && wait $!
}
await() {
	timeout 60 bash -c "until { $1; } 2>/dev/null; do sleep 0.1; done" || { echo "in vain: $1" >&2; return 1; }
}
newest() { await "holdfast run list $* | grep -q '^01'"; holdfast run list "$@" | awk 'NR == 2 { print $1 }'; }
block() { sed -n '/^` + "```" + `'"$1"'$/,/^` + "```" + `$/{/^` + "```" + `$/q; /^` + "```" + `/d; p}' "$page"; }
`

// script returns the page's commands as a shell's script that names the line of the first that fails, and the heads of
// the tables that the page says they show, of those that are run as the page has them. Files that the page names are
// made, unless the script has files of these names.
func (rules pageRules) script(page, text string) (script string, tables []string) {
	var out strings.Builder
	out.WriteString(pageShell)
	if whole, err := filepath.Abs(filepath.Join("..", page)); err == nil {
		fmt.Fprintf(&out, "page='%s'\n", whole)
	}
	blocks, _ := docpages.Read(text)
	for _, b := range blocks {
		if b.Name != "" {
			fmt.Fprintf(&out, "mkdir -p '%s'\n[ -e '%s' ] || cat >'%[2]s' <<'END OF FILE'\n%sEND OF FILE\n",
				filepath.Dir(b.Name), b.Name, rules.replace(b.Text))
		}
		if b.Kind != docpages.Shell {
			continue
		}
		for _, c := range b.Commands() {
			run := rules.apply(c)
			fmt.Fprintf(&out, "at='%s:%d'\n%s", page, c.Line, run)
			if !strings.Contains("\n"+run, "\n"+c.Text+"\n") {
				continue
			}
			for line := range strings.Lines(c.Shown) {
				if line = strings.TrimSuffix(line, "\n"); tableHead.MatchString(line) {
					tables = append(tables, line)
				}
			}
		}
	}
	return out.String(), tables
}

// replace returns a file of the page with what its names stand for.
func (rules pageRules) replace(file string) string {
	for _, rule := range rules {
		if rule.verb == "replace" && rule.pattern.MatchString(file) {
			rule.used, file = true, rule.pattern.ReplaceAllString(file, rule.text)
		}
	}
	return file
}

// apply returns what is run for a command. All patterns but those of replacements are matched with the page's text.
func (rules pageRules) apply(typed docpages.Command) string {
	command, before, after, fails := typed.Text, "", "", false
	for _, rule := range rules {
		if !rule.pattern.MatchString(typed.Text) {
			continue
		}
		rule.used = rule.used || rule.verb != "replace"
		switch rule.verb {
		case "skip":
			return "\n"
		case "replace":
			replaced := rule.pattern.ReplaceAllString(command, rule.text)
			rule.used, command = rule.used || replaced != command, replaced
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
