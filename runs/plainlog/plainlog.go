// Package plainlog takes out of the log of a tool what could be a value of a state: it keeps lines of which it
// knows what can stand in them, and drops every other. It looks at each line by itself, so a log can be read from
// any line on.
package plainlog

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/holdfast/holdfast/internal/ansi"
)

// Lines are the forms of lines that are kept. It is ready for use by several at once.
type Lines struct{ kept []form }

// form is a line that is kept, up to the end of the first group where there is one.
type form struct {
	is   *regexp.Regexp
	part string // that is kept, with the groups as $1; empty for all of it
}

// The parts of forms.
const (
	key     = `(?:\[(?:\d+|"(?:[^"\\]|\\.){0,200}")\])?`
	word    = `[A-Za-z_][A-Za-z0-9_-]*`
	address = word + key + `(?:\.` + word + key + `)+`
	number  = `\d+`
	version = `v?[0-9][0-9A-Za-z.+-]*`
	source  = `[A-Za-z0-9./_-]+`
	file    = `[A-Za-z0-9._/-]+`
)

// NewLines returns the forms that the supported tools, and executors themselves, have.
func NewLines() *Lines {
	var l Lines
	for _, text := range whole() {
		l.kept = append(l.kept, form{is: regexp.MustCompile(`^(?:` + text + `)$`)})
	}
	for text, part := range inPart() {
		l.kept = append(l.kept, form{regexp.MustCompile(`^(?:` + text + `)$`), part})
	}
	return &l
}

// whole are forms without a value.
func whole() []string {
	return []string{
		``,
		`(?:Initializing|Upgrading) [a-z ]+\.\.\.`,
		`(?:OpenTofu|Terraform|Holdfast) (?:has been successfully initialized!|` + version + `)`,
		`(?:OpenTofu|Terraform) has created a lock file .*to record the provider`,
		`- (?:Finding|Reusing previous version of|Using previously-installed|Installing|Installed) [A-Za-z0-9 ./"'~><=!,()_+-]*\.{0,3}`,
		`- ` + source + ` is built in to (?:OpenTofu|Terraform)`,
		`(?:opentofu|terraform|terragrunt|engine) ` + version + `, sandbox [a-z]+`,
		`sensitive values that are too short to be masked in this log: ` + number,
		`(?:OpenTofu|Terraform|Holdfast) will perform the following actions:`,
		`Note: Objects have changed outside of (?:OpenTofu|Terraform|Holdfast)`,
		`  # ` + address + ` (?:will be|must be|is tainted, so must be|has been) [a-z_ ,-]+`,
		`  # ` + address + ` has moved to ` + address,
		`  # \(because [a-z ]+\)`,
		`(?:  # )?` + address + `: (?:Plan|Drift detected)(?: to)? ?[a-z() ]*`,
		`(?:  # )?` + address + `: Drift detected \([a-z]+\)`,
		address + `: (?:Creating|Modifying|Destroying|Refreshing state|Refreshing|Reading|Opening|Closing|Importing)\.\.\.`,
		address + `: (?:Provisioning with '[a-z-]+'|Drift detected)\.{0,3}`,
		`Plan: (?:` + number + ` to import, )?` + number + ` to add, ` + number + ` to change, ` + number +
			` to (?:destroy|forget)(?:, ` + number + ` to forget)?\.`,
		`No changes\. [A-Za-z ,.'-]*`,
		`Apply complete! Resources: [0-9a-z ,]+\.`,
		`Destroy complete! Resources: [0-9a-z ,]+\.`,
		`Changes to Outputs:`,
		`  [+~-] ` + word,
		`Releasing state lock[a-z ]*\.{0,3}`,
		`Acquiring state lock[a-zA-Z ]*\.{0,3}`,
		`  with ` + address + `,`,
	}
}

// inPart are forms of which a part may have a value.
func inPart() map[string]string {
	return map[string]string{
		`(` + address + `: (?:Creating|Modifying|Destroying|Refreshing state|Reading|Importing)\.\.\.) \[id=.*`: `$1`,
		`(` + address + `: Still [a-z]+\.\.\.) \[(?:.*, )?((?:\d+[hms])+ elapsed)\]`:                            `$1 [$2]`,
		`(` + address + `: [A-Z][a-z]+ complete after (?:\d+[hms])+).*`:                                         `$1`,
		`(  on ` + file + ` line \d+)(?:, in .*)?:`:                                                             `$1`,
		`((?:Error|Warning): [A-Za-z '’,-]*[A-Za-z]).*`:                                                         `$1`,
		`(\[holdfast: [a-z]+ [a-z]+)(?:: .*)?\]?`:                                                               `$1]`,
	}
}

// Keep returns of a text of whole lines those that are kept, or the parts of them.
func (l *Lines) Keep(text []byte) []byte {
	var plain, kept bytes.Buffer
	_, _ = ansi.NewStripper(&plain).Write(text) // a buffer takes everything
	for line := range strings.Lines(plain.String()) {
		if shown, ok := l.line(strings.TrimRight(line, "\r\n")); ok {
			kept.WriteString(shown + "\n")
		}
	}
	return kept.Bytes()
}

// Line returns one line as it may be shown; empty where none of it may be.
func (l *Lines) Line(line string) string {
	shown, _ := l.line(line)
	return shown
}

// maxLine is the longest line that is looked at.
const maxLine = 4096

func (l *Lines) line(line string) (shown string, ok bool) {
	if len(line) > maxLine {
		return "", false
	}
	for _, f := range l.kept {
		switch {
		case f.part == "" && f.is.MatchString(line):
			return line, true
		case f.part != "" && f.is.MatchString(line):
			return f.is.ReplaceAllString(line, f.part), true
		}
	}
	return "", false
}
