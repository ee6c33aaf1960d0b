package test

import (
	"bytes"
	"go/scanner"
	"go/token"
	"os"
	"testing"
	"unicode/utf8"
)

const (
	maxColumns = 120
	longText   = 50 // bytes of a literal that may make its line longer
)

// TestLayoutOfLines wants lines of at most 120 columns. Only a long literal may make
// its line longer: a text that is broken can't be searched for.
func TestLayoutOfLines(t *testing.T) {
	for _, path := range filesWith(t, ".go") {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if isGenerated(source) {
			continue // a generator breaks lines as it does
		}
		var excused map[int]bool
		for i, line := range bytes.Split(source, []byte("\n")) {
			n := utf8.RuneCount(line)
			if n <= maxColumns {
				continue
			}
			if excused == nil {
				excused = linesOfLongText(source)
			}
			if !excused[i+1] {
				t.Errorf("%s:%d has %d columns; break it behind a comma or an operator", path, i+1, n)
			}
		}
	}
}

// isGenerated reports whether a file says that a program has written it, as `go help generate` has it.
func isGenerated(source []byte) bool {
	before, _, _ := bytes.Cut(source, []byte("\npackage "))
	return bytes.Contains(append([]byte("\n"), before...), []byte("\n// Code generated "))
}

// linesOfLongText are the lines that hold a part of a long literal.
func linesOfLongText(source []byte) map[int]bool {
	found := map[int]bool{}
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(source))
	var s scanner.Scanner
	s.Init(file, source, nil, 0)
	for {
		at, kind, text := s.Scan()
		if kind == token.EOF {
			return found
		}
		if kind != token.STRING || len(text) < longText {
			continue
		}
		first := file.Line(at)
		for i := range 1 + bytes.Count([]byte(text), []byte("\n")) {
			found[first+i] = true
		}
	}
}
