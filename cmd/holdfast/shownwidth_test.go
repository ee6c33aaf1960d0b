package main

import (
	"strings"
	"testing"
)

func TestShownWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "prod": 4, "bücher": 6, "bu\u0308cher": 6, "東京": 4, "ｱ": 1, "ＡＢ": 4, "한국": 4, "🚀": 2, "…": 1, "a\u200db": 2,
	} {
		if got := shownWidth(text); got != want {
			t.Errorf("%q: %d columns, want %d", text, got, want)
		}
	}
}

// The columns behind a name in wide characters stand below their heads.
func TestTableOfWideCharacters(t *testing.T) {
	var out strings.Builder
	a := &app{stdout: &out, columns: 40}
	table := a.newTable(head{"NAME", always}, head{"LABEL", always}, head{"SERIAL", firm})
	table.add("東京", "ci", "7")
	table.add("osaka", "手元のノート", "12")
	if err := table.show(); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(out.String(), "\x1b[1m", ""), "\n")
	for i, serial := range []string{"SERIAL", "7", "12"} {
		before, _, _ := strings.Cut(lines[i], serial)
		if got := shownWidth(before); got != 21 {
			t.Errorf("line %d: %q begins in column %d, want 21", i, serial, got)
		}
	}
}

func TestCutOfWideCharacters(t *testing.T) {
	for text, want := range map[string]string{"東京都庁": "東京…", "prod12": "prod12", "prod-east": "prod-…", "a東京都": "a東京…"} {
		if got := cut(text, 6); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}
