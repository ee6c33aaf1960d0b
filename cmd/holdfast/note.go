package main

import (
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/internal/printable"
)

// note tells people something beside what they asked for. On a terminal its lines are no wider than
// that: names stay whole.
func (a *app) note(format string, args ...any) {
	text := printable.Text(fmt.Sprintf(format, args...))
	width := 0
	if a.columns > 0 {
		width = a.width()
	}
	fmt.Fprintln(a.stderr, strings.Join(wrap("", noteIndent, text, width), "\n"))
}
