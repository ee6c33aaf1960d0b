// Package diag holds the one family of the engine's errors. The category says what to do about one: stop,
// try again, or ask a person. What has no category is uncertain, and nothing is done about it.
package diag

import (
	"fmt"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
)

// Category says what kind of fault it is.
type Category string

// The categories.
const (
	Configuration Category = "Configuration" // what is written is wrong
	Planning      Category = "Planning"      // what is written can't be planned
	State         Category = "State"         // the record can't be read or written
	Cycle         Category = "Cycle"         // things depend on each other in a circle
	Provider      Category = "Provider"      // the provider says no, for good
	Transient     Category = "Transient"     // the provider may say yes the next time
	Partial       Category = "Partial apply" // a part is done, and recorded
	Concurrency   Category = "Lock"          // somebody else is at it
)

// Error is one fault.
type Error struct {
	Category  Category
	Summary   string
	Detail    string
	Hint      string
	Construct string // such as resource "local_file" "a"
	Address   string // of the resource, if it is about one
	Range     hcl.Range
	Snippet   string // the line that it is about, with what points at the place below it
	Err       error
}

// Error is the text for people: category and place, what, where in the line, and what helps.
func (e *Error) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s error", e.Category)
	switch {
	case e.Range.Filename != "":
		fmt.Fprintf(&b, " in %s:%d", e.Range.Filename, e.Range.Start.Line)
	case e.Address != "":
		fmt.Fprintf(&b, " at %s", e.Address)
	}
	b.WriteString("\n  " + indented(e.Summary))
	if e.Construct != "" && !strings.Contains(e.Summary, e.Construct) {
		fmt.Fprintf(&b, " (in %s, column %d)", e.Construct, e.Range.Start.Column)
	}
	if e.Detail != "" {
		b.WriteString("\n  " + indented(e.Detail))
	}
	if e.Hint != "" {
		b.WriteString("\n  Hint: " + indented(e.Hint))
	}
	if e.Snippet != "" {
		b.WriteString("\n\n    " + strings.ReplaceAll(e.Snippet, "\n", "\n    "))
	}
	return b.String()
}

// Line is the line of the configuration that the error is about; empty where that isn't known.
func (e *Error) Line() string {
	line, _, _ := strings.Cut(e.Snippet, "\n")
	_, code, _ := strings.Cut(line, " | ")
	return code
}

func indented(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

// Unwrap returns what it was made of.
func (e *Error) Unwrap() error { return e.Err }

// Stateful makes an error about the record of what there is.
func Stateful(err error, format string, args ...any) *Error {
	e := &Error{Category: State, Summary: fmt.Sprintf(format, args...), Err: err}
	if err != nil {
		e.Detail = err.Error()
	}
	return e
}

// At makes a configuration error about a place.
func At(r hcl.Range, construct, format string, args ...any) *Error {
	return &Error{Category: Configuration, Summary: fmt.Sprintf(format, args...), Construct: construct, Range: r,
		Snippet: snippet(r)}
}

// WithHint adds what helps.
func (e *Error) WithHint(format string, args ...any) *Error {
	e.Hint = fmt.Sprintf(format, args...)
	return e
}

// OfHCL makes an error of the first one that HCL found, nil if it found none.
func OfHCL(problems hcl.Diagnostics, construct string) error {
	for _, p := range problems {
		if p.Severity != hcl.DiagError {
			continue
		}
		var at hcl.Range
		if p.Subject != nil {
			at = *p.Subject
		}
		e := At(at, construct, "%s", p.Summary)
		e.Detail = p.Detail
		if wrapped, ok := p.Extra.(error); ok {
			e.Err = wrapped
		}
		return e
	}
	return nil
}

// snippet is the line of a place, and a line that points at it. Without the file there is none.
func snippet(r hcl.Range) string {
	text, err := os.ReadFile(r.Filename)
	if err != nil {
		return ""
	}
	lines := strings.Split(string(text), "\n")
	if r.Start.Line < 1 || r.Start.Line > len(lines) {
		return ""
	}
	line := strings.TrimRight(lines[r.Start.Line-1], "\r")
	width := 1
	if r.End.Line == r.Start.Line && r.End.Column > r.Start.Column {
		width = r.End.Column - r.Start.Column
	}
	mark := strings.Repeat(" ", max(r.Start.Column-1, 0)) + strings.Repeat("^", width)
	number := fmt.Sprintf("%d | ", r.Start.Line)
	return number + line + "\n" + strings.Repeat(" ", len(number)) + mark
}
