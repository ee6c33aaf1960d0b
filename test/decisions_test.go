package test

import (
	"fmt"
	"path"
	"regexp"
	"strings"
	"testing"
)

const decisions = "docs/decisions/"

var (
	required = regexp.MustCompile(`(?m)^(?:require |tool |\t)([a-z0-9.-]+\.[a-z]+/[^\s/]+(?:/[^\s/]+)*)(?: v\S+)?$`)
	major    = regexp.MustCompile(`/v[0-9]+$`)
)

// TestDecisionsAreListed: each record has its number, its three parts and its line in the
// index, and is short enough to be read.
func TestDecisionsAreListed(t *testing.T) {
	index := fileText(t, decisions+"README.md")
	for i, file := range decisionRecords(t) {
		name := path.Base(file)
		if want := fmt.Sprintf("%04d-", i+1); !strings.HasPrefix(name, want) {
			t.Fatalf("%s should begin with %s: records are numbered without gaps", name, want)
		}
		text := fileText(t, file)
		title, _, _ := strings.Cut(strings.TrimPrefix(text, "# "), "\n")
		if line := fmt.Sprintf("[%s](%s)", title, name); strings.Count(index, line) != 1 {
			t.Errorf("%sREADME.md should have this link once: %s", decisions, line)
		}
		for _, part := range []string{"\n## Context\n\n", "\n## Decision\n\n", "\n## Consequences\n\n"} {
			if strings.Count(text, part) != 1 {
				t.Errorf("%s should have one part %q", file, strings.TrimSpace(part))
			}
		}
		if lines := strings.Count(text, "\n"); lines > 35 {
			t.Errorf("%s has %d lines: a record is short", file, lines)
		}
	}
}

// TestLibrariesAreDecided: somebody said of each module that go.mod asks for what it is for.
func TestLibrariesAreDecided(t *testing.T) {
	var all strings.Builder
	for _, file := range decisionRecords(t) {
		all.WriteString(fileText(t, file))
	}
	modules := directModules(fileText(t, "go.mod"))
	if len(modules) < 10 {
		t.Fatalf("found these modules only: %v", modules)
	}
	for _, module := range modules {
		if name := major.ReplaceAllString(module, ""); !strings.Contains(all.String(), "`"+name) {
			t.Errorf("go.mod has %s, and no record in %s says what `%s` is for", module, decisions, name)
		}
	}
}

func TestDirectModules(t *testing.T) {
	got := directModules(`module example.com/m

go 1.26.0

require (
	github.com/a/b/v2 v2.1.0
	gopkg.in/c.v1 v1.0.0
	github.com/d/e v0.1.0 // indirect
)

require golang.org/x/f v0.1.0

replace (
	github.com/g/h => github.com/g/h v1.0.0
)

tool honnef.co/go/tools/cmd/staticcheck
`)
	want := "github.com/a/b/v2 gopkg.in/c.v1 golang.org/x/f honnef.co/go/tools/cmd/staticcheck"
	if strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}

// directModules are those that go.mod requires for our own code, and its tools.
func directModules(gomod string) (modules []string) {
	for _, match := range required.FindAllStringSubmatch(gomod, -1) {
		modules = append(modules, match[1])
	}
	return modules
}

// decisionRecords are the records' files, in the order of their numbers.
func decisionRecords(t *testing.T) (files []string) {
	t.Helper()
	for _, file := range filesEnding(t, ".md") {
		if strings.HasPrefix(file, decisions) && file != decisions+"README.md" {
			files = append(files, file)
		}
	}
	if len(files) == 0 {
		t.Fatal("there are no records")
	}
	return files
}
