package test

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	link    = regexp.MustCompile(`\]\(([^()\s]+)\)`)
	heading = regexp.MustCompile(`(?m)^#{1,6} +(.+?) *$`)
	unslug  = regexp.MustCompile(`[^\p{L}\p{N}_ -]`)
)

// TestLinksLeadSomewhere follows every link from one page of the repository to another, to
// the heading that it names.
func TestLinksLeadSomewhere(t *testing.T) {
	pages := markdown(t)
	if len(pages) < 10 {
		t.Fatalf("found %d pages only", len(pages))
	}
	for _, page := range pages {
		for _, match := range link.FindAllStringSubmatch(withoutCode(fileText(t, page)), -1) {
			target := match[1]
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			if broken := brokenLink(t, page, target); broken != "" {
				t.Errorf("%s links to %s: %s", page, target, broken)
			}
		}
	}
}

// brokenLink says why a link on a page leads nowhere; it is empty for one that is good.
func brokenLink(t *testing.T, page, target string) string {
	t.Helper()
	file, anchor, _ := strings.Cut(target, "#")
	to := page
	if file != "" {
		to = path.Join(path.Dir(page), file)
	}
	if _, err := os.Stat(filepath.Join("..", to)); err != nil {
		return "there is no " + to
	}
	if anchor != "" && !slices.Contains(anchors(fileText(t, to)), anchor) {
		return to + " has no such heading"
	}
	return ""
}

// anchors are the names that a page's headings have in links.
func anchors(page string) (all []string) {
	for _, match := range heading.FindAllStringSubmatch(withoutCode(page), -1) {
		all = append(all, strings.ReplaceAll(unslug.ReplaceAllString(strings.ToLower(match[1]), ""), " ", "-"))
	}
	return all
}

// withoutCode leaves out lines that are indented or fenced as code, which have no links and
// no headings.
func withoutCode(page string) string {
	var text strings.Builder
	fenced := false
	for line := range strings.Lines(page) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		} else if !fenced && !strings.HasPrefix(line, "    ") {
			text.WriteString(line)
		}
	}
	return text.String()
}

// markdown are the repository's pages, from its root. What is built or served stands in folders of its own, which are
// left out.
func markdown(t *testing.T) (pages []string) {
	t.Helper()
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains([]string{".git", "bin", "data", "dist", "node_modules", "testdata"},
			entry.Name()):
			return fs.SkipDir
		case strings.HasSuffix(name, ".md"):
			pages = append(pages, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pages
}

// fileText reads a file of the repository.
func fileText(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
