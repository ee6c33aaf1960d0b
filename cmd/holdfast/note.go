package main

import (
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/internal/printable"
)

// note tells people something beside what they asked for. On a terminal its lines are no wider than
// that: names stay whole.
func (a *app) note(format string, args ...any) {
	var lines []string
	for line := range strings.SplitSeq(printable.Lines(fmt.Sprintf(format, args...)), "\n") {
		lines = append(lines, wrap("", noteIndent, line, a.width())...)
	}
	fmt.Fprintln(a.stderr, strings.Join(lines, "\n"))
}
