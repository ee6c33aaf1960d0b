package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/configs"
)

// A variable that one command reads is no misspelt setting for those that read settings: a shell may have both.
func TestVariablesOfCommandsAreNoUnknownSettings(t *testing.T) {
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range regexp.MustCompile(`"(HOLDFAST_[A-Z_]+)"`).FindAllStringSubmatch(string(text), -1) {
			names[found[1]] = true
		}
	}
	if len(names) < 10 {
		t.Fatalf("only these were found: %v", names)
	}
	for name := range names {
		_, err := configs.Load(configs.Sources{Environ: []string{name + "=x"}})
		if err != nil && strings.Contains(err.Error(), name+": unknown setting") {
			t.Error(err)
		}
	}
}
