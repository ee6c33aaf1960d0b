package main

import (
	"strings"

	"github.com/holdfast/holdfast/internal/ansi"
)

// stripped is a text without the escape sequences of terminals.
func stripped(text string) string {
	var plain strings.Builder
	_, _ = ansi.NewStripper(&plain).Write([]byte(text)) // a Builder takes everything
	return plain.String()
}
