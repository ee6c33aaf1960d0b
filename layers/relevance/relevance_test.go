package relevance_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/holdfast/holdfast/layers/relevance"
)

// files makes a tree of a text: each file begins with a line "-- path --".
func files(text string) fstest.MapFS {
	tree := fstest.MapFS{}
	for part := range strings.SplitSeq(text, "-- ") {
		name, content, found := strings.Cut(part, " --\n")
		if found {
			tree[name] = &fstest.MapFile{Data: []byte(content)}
		}
	}
	return tree
}

const repository = `
-- envs/prod/net/main.tf --
module "vpc" {
  source = "../../../modules/vpc"
  user   = templatefile("${path.module}/user.tftpl", { x = 1 })
}
module "elsewhere" { source = "terraform-aws-modules/vpc/aws" }
module "git" { source = "git::https://example.com/x.git" }
-- envs/prod/net/README.md --
-- envs/prod/net/notes/user.tf --
-- envs/prod/app/main.tf --
locals {
  rules  = [for f in fileset("${path.module}/rules", "**/*.json") : jsondecode(file("${path.module}/rules/${f}"))]
  plain  = file("config/plain.txt")
  odd    = file("${path.root}/../../../shared/${var.name}.yaml")
}
resource "x" "y" {
  command = "${path.module}/../../../scripts/run.sh --now"
  script  = "${path.module}/../../../scripts/start.sh"
  key     = abspath(path.module)
}
-- envs/prod/any/main.tf --
locals { secret = file(var.path) }
-- envs/prod/json/main.tf.json --
{"module": {"vpc": {"source": "../../../modules/vpc"}}}
-- envs/prod/grunt/terragrunt.hcl --
include "root" { path = find_in_parent_folders("root.hcl") }
terraform { source = "../../../modules//sub/deep" }
-- envs/prod/broken/main.tf --
module "x" {
-- modules/vpc/main.tf --
module "inner" { source = "./inner" }
module "round" { source = "../vpc" }
module "out"   { source = "../../../../outside" }
output "root" { value = file("names.txt") }
-- modules/vpc/inner/main.tf --
locals { text = file("${path.module}/text.txt") }
-- modules/other/main.tf --
`

func layersOf(names ...string) (all []relevance.Layer) {
	for _, name := range names {
		all = append(all, relevance.Layer{Name: name, Path: "envs/prod/" + name})
	}
	return all
}

func build(t *testing.T, layers []relevance.Layer) *relevance.Index {
	t.Helper()
	index, err := relevance.Build(t.Context(), files(repository), layers)
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestRelevantPaths(t *testing.T) {
	t.Parallel()
	all := layersOf("net", "app", "any", "json", "grunt", "broken")
	all[0].Triggers = []string{"ci/**/*.yaml", "VERSION"}
	index := build(t, all)
	for _, c := range []struct{ path, layers, why string }{
		{"envs/prod/net/main.tf", "net", "the layer's own folder"},
		{"envs/prod/net/new.tofu", "net", ""},
		{"envs/prod/net/terraform.tfvars", "net", ""},
		{"envs/prod/net/x.auto.tfvars.json", "net", ""},
		{"envs/prod/net/.terraform.lock.hcl", "net", ""},
		{"envs/prod/net/README.md", "", ""},
		{"envs/prod/net/notes/user.tf", "", ""}, // no module calls the folder
		{"envs/prod/net/other.tftpl", "", ""},
		{"envs/prod/net/user.tftpl", "net", "templatefile(…), envs/prod/net/main.tf:3"},
		{"envs/prod/network/main.tf", "", ""},
		{"modules/vpc/variables.tf", "json net", "module vpc"},
		{"modules/vpc/terraform.tfvars", "", ""}, // modules have none
		{"modules/vpc/README.md", "", ""},
		{"modules/vpc/inner/main.tf", "json net", "module inner, modules/vpc/main.tf:1"},
		{"modules/vpc/inner/text.txt", "json net", "file(…), modules/vpc/inner/main.tf:1"},
		{"modules/vpc/names.txt", "", ""}, // the tools look for it where they work
		{"envs/prod/net/names.txt", "net", "file(…), modules/vpc/main.tf:4"},
		{"modules/other/main.tf", "", ""},
		{"envs/prod/app/rules/a/b.json", "app", "fileset(…), envs/prod/app/main.tf:2"},
		{"envs/prod/app/rules/a/b.txt", "app", "only a plan knows"}, // by file(), which has a name of a fileset
		{"envs/prod/app/config/plain.txt", "app", ""},
		{"shared/a.yaml", "app", "only a plan knows"},
		{"scripts/start.sh", "app", "a path"},
		{"scripts/run.sh", "app", "a path"},
		{"scripts/other.sh", "", ""},
		{"envs/prod/any/x/y/z.bin", "any", "of a name that only a plan knows"},
		{"ci/x/y.yaml", "net", "the trigger path ci/**/*.yaml"},
		{"ci/y.yaml", "net", ""},
		{"ci/y.yml", "", ""},
		{"VERSION", "net", ""},
		{"sub/VERSION", "", ""},
		{"envs/root.hcl", "grunt", "find_in_parent_folders"},
		{"root.hcl", "grunt", ""},
		{"modules/sub/deep/x.tf", "grunt", "terraform.source"},
		{"envs/prod/broken/anything", "broken", "can't be read, line 1"},
	} {
		found := index.Relevant([]string{"unread", c.path})
		if got := strings.Join(slices.Sorted(maps.Keys(found)), " "); got != c.layers {
			t.Errorf("%s changes %q, want %q", c.path, got, c.layers)
		}
		for name, v := range found {
			if !strings.Contains(v.Why, c.why) || v.Path != c.path || !strings.HasPrefix(v.Why, c.path+": ") {
				t.Errorf("%s: %+v, want %q", c.path, v, c.why)
			}
			if one := index.Why(name, []string{"unread", c.path}); one != v {
				t.Errorf("%s: %+v by itself, %+v among all", c.path, one, v)
			}
		}
	}
	if v := index.Why("net", []string{"a", "b"}); v.Relevant || !strings.Contains(v.Why, "none of the 2 changed paths") {
		t.Errorf("%+v", v)
	}
}

// What an index has of the commit before makes no difference: it is that of a new one.
func TestAdvanceIsBuild(t *testing.T) {
	t.Parallel()
	tree, all := files(repository), layersOf("net", "app", "grunt")
	index := build(t, all)
	change := func(what string, layers []relevance.Layer, changed ...string) {
		t.Helper()
		var err error
		if index, err = index.Advance(t.Context(), tree, layers, changed); err != nil {
			t.Fatal(err)
		}
		anew, err := relevance.Build(t.Context(), tree, layers)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range layers {
			if got, want := fmt.Sprint(index.Sources(l.Name)), fmt.Sprint(anew.Sources(l.Name)); got != want {
				t.Errorf("%s: %s reads %s, want %s", what, l.Name, got, want)
			}
		}
	}
	tree["modules/vpc/inner/main.tf"] = &fstest.MapFile{Data: []byte(`module "new" { source = "../../new" }`)}
	change("a module calls another one", all, "modules/vpc/inner/main.tf")
	tree["modules/new/main.tf"] = &fstest.MapFile{Data: []byte(`locals { a = file("${path.module}/a") }`)}
	change("the other one is there now", all, "modules/new/main.tf")
	delete(tree, "modules/vpc/inner/main.tf")
	change("it is gone", all, "modules/vpc/inner/main.tf")
	all = append(layersOf("any", "net"), all[1])
	change("other layers", all)
	all[1].Triggers = []string{"x/*"}
	change("another trigger", all)
	all[1].Path = "envs/prod/app"
	change("another folder", all)
}

// A file that would take the parser too far is not parsed: all in its folder counts.
func TestHostileFiles(t *testing.T) {
	t.Parallel()
	for name, text := range map[string]string{ // each names a file
		"deep":   "x = path.root + " + strings.Repeat("[", 200_000),
		"signs":  "x = path.root != " + strings.Repeat("!", 500_000) + "true",
		"choice": "x = path.root == " + strings.Repeat("a?b:", 200_000) + "c",
		"large":  strings.Repeat("# comment\n", 120_000),
	} {
		tree := fstest.MapFS{"l/main.tf": {Data: []byte(text)}}
		index, err := relevance.Build(t.Context(), tree, []relevance.Layer{{Name: "l", Path: "l"}})
		if err != nil {
			t.Fatal(err)
		}
		if v := index.Why("l", []string{"l/any"}); !v.Relevant {
			t.Errorf("%s: %+v", name, v)
		}
	}
}

func TestMatch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a/b", "a/b", true}, {"a/*", "a/b", true}, {"a/*", "a/b/c", false}, {"a/**", "a/b/c", true},
		{"**/c", "a/b/c", true}, {"**/c", "c", true}, {"a/**/c", "a/c", true}, {"a/", "a/x/y", true}, {"a/", "b/a/x",
			false},
		{"*.tf", "a.tf", true}, {"*.tf", "a/b.tf", false}, {"**/x/**/y", "x/x/y/x/y", true}, {"**/x/**/y", "x/x/y/x",
			false},
		{"a?c", "abc", true}, {"[ab]c", "bc", true},
	} {
		if got := relevance.Match(c.pattern, c.name); got != c.want {
			t.Errorf("%s and %s: %t", c.pattern, c.name, got)
		}
	}
	for _, bad := range []string{"", "/a", "../a", "a/../b", "./a", "[a", "a\nb", "{a,b}", strings.Repeat("a", 1001)} {
		if relevance.CheckPattern(bad) == "" {
			t.Errorf("%q is a pattern", bad)
		}
	}
}
