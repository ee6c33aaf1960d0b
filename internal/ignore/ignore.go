// Package ignore decides which files of a folder are left out, by patterns as .gitignore and
// .terraformignore have them.
package ignore

import (
	"bufio"
	"io"
	"path"
	"strings"
)

// List is a list of patterns; of those that match, the last one counts.
type List struct{ rules []rule }

type rule struct {
	parts  []string // between slashes; "**" is any number of folders
	keep   bool     // "!": it brings back what another one left out
	folder bool     // "/" at the end: it matches folders only
}

// Standard leaves out what no configuration needs: what init makes, states, plans and git's own.
func Standard() *List {
	l := &List{}
	for _, pattern := range []string{".terraform/", ".terragrunt-cache/", ".git/", "*.tfstate", "*.tfstate.*", "*.tfplan",
		"crash.log", "crash.*.log", ".terraform.tfstate.lock.info"} {
		l.add(pattern)
	}
	return l
}

// Read adds the patterns of a file, one in a line; # begins a comment.
func (l *List) Read(from io.Reader) error {
	lines := bufio.NewScanner(from)
	for lines.Scan() {
		l.add(lines.Text())
	}
	return lines.Err()
}

func (l *List) add(line string) {
	line = strings.TrimRight(line, " \t\r")
	if line == "" || line[0] == '#' {
		return
	}
	var r rule
	line, r.keep = strings.CutPrefix(line, "!")
	line = strings.TrimPrefix(line, `\`) // before a # or ! that is meant
	line, r.folder = strings.CutSuffix(line, "/")
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return
	}
	r.parts = strings.Split(line, "/")
	if !anchored {
		r.parts = append([]string{"**"}, r.parts...)
	}
	l.rules = append(l.rules, r)
}

// Match reports whether a file or folder is left out, by its path with slashes. What is in a
// folder that is left out is left out too: whoever asks does not look into such a folder.
func (l *List) Match(p string, folder bool) bool {
	out := false
	for _, r := range l.rules {
		if (folder || !r.folder) && matches(r.parts, strings.Split(p, "/")) {
			out = !r.keep
		}
	}
	return out
}

// matches compares name by name. A "**" is tried with no folder, then with one more.
func matches(pattern, names []string) bool {
	if len(pattern) == 0 {
		return len(names) == 0
	}
	if pattern[0] == "**" {
		if len(pattern) == 1 {
			return len(names) > 0
		}
		for i := range names {
			if matches(pattern[1:], names[i:]) {
				return true
			}
		}
		return false
	}
	if len(names) == 0 {
		return false
	}
	ok, err := path.Match(pattern[0], names[0])
	return err == nil && ok && matches(pattern[1:], names[1:])
}
