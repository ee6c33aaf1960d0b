package ignore

import (
	"strings"
	"testing"
)

func TestMatch(t *testing.T) {
	l := Standard()
	if err := l.Read(strings.NewReader("# comment\n\n*.log\n!keep.log\n/top.txt\ndocs/*.txt\nbuild/\na/**/z\n\\#odd\n")); err != nil {
		t.Fatal(err)
	}
	for p, want := range map[string]bool{
		"main.tf": false, "x.log": true, "a/b/x.log": true, "keep.log": false, "deep/keep.log": false,
		"top.txt": true, "a/top.txt": false, "docs/a.txt": true, "docs/b/a.txt": false, "a/docs/a.txt": false,
		"build/": true, "x/build/": true, "build": false, "a/z": true, "a/b/c/z": true, "b/z": false, "#odd": true,
		".terraform/": true, "modules/a/.terraform/": true, "terraform.tfstate": true, "a/terraform.tfstate.backup": true,
		".git/": true, ".gitignore": false, ".terraform.lock.hcl": false, "[": false,
	} {
		p, folder := strings.CutSuffix(p, "/")
		if got := l.Match(p, folder); got != want {
			t.Errorf("%q: %v, want %v", p, got, want)
		}
	}
}

// Patterns of many "**" don't take forever on a long path.
func TestManyStars(t *testing.T) {
	l := &List{}
	l.add(strings.Repeat("**/", 6) + "x")
	if l.Match(strings.Repeat("a/", 30)+"y", false) {
		t.Error("it matched")
	}
}
