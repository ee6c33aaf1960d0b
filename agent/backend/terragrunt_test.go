package backend_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/holdfast/holdfast/agent/backend"
)

// What Terragrunt makes is taken as long as it keeps the state here; what doesn't is refused with the line that says
// so, in a file above as well.
func TestCheckTerragrunt(t *testing.T) {
	const include = "include \"root\" {\n  path = find_in_parent_folders(\"root.hcl\")\n}\n"
	const ours = "remote_state {\n  backend = \"http\"\n" +
		"  generate = { path = \"backend.tf\", if_exists = \"overwrite\" }\n}\n"
	for name, c := range map[string]struct {
		unit, root, want string
	}{
		"nothing":    {"", "", ""},
		"a source":   {"terraform {\n  source = \"../../modules//db\"\n}\n", "", ""},
		"the recipe": {include, ours, ""},
		"a generate": {"generate \"x\" {\n  path = \"x.tf\"\n  contents = \"locals {}\"\n}\n", "", ""},
		"another backend": {"remote_state {\n  backend = \"s3\"\n}\n", "",
			`backend "s3", which is elsewhere, in line 1 of prod/db/`},
		"above": {include, "# one\n" + strings.Replace(ours, "http", "gcs", 1),
			`backend "gcs", which is elsewhere, in line 2 of root.hcl`},
		"above, by a relative path": {"include {\n  path = \"../../root.hcl\"\n}\n", strings.Replace(ours, "http", "gcs", 1),
			"in line 1 of root.hcl"},
		"without a file": {include, "remote_state {\n  backend = \"http\"\n  config = {\n    generate = 1\n  }\n}\n",
			"remote_state has no generate"},
		"a generated backend": {"generate \"b\" {\n  path = \"b.tf\"\n  contents = <<EOF\n" +
			"terraform {\n  backend \"s3\" {}\n}\nEOF\n}\n",
			"", "generate makes a block that keeps the state elsewhere in line 1"},
		"in quotes": {"\n\ngenerate \"b\" {\n  contents = \"terraform {\\n  cloud {}\\n}\"\n}\n", "",
			"generate makes a block that keeps the state elsewhere in line 3"},
		"our own":           {"generate \"b\" {\n  contents = \"terraform {\\n  backend \\\"http\\\" {}\\n}\"\n}\n", "", ""},
		"another cache":     {"download_dir = \"/tmp\"\n", "", "download_dir, which a run sets itself, is set in line 1"},
		"only a word of it": {"locals {\n  download_dir = 1\n  remote_state = { backend = \"s3\" }\n}\n", "", ""},
		"a comment within":  {"remote_state { /* one */ backend = /* two */ \"s3\" }\n", "", `backend "s3"`},
		"what only Terragrunt knows": {"remote_state {\n  backend = local.kind\n  generate = local.generate\n}\n" +
			"include {\n  path = local.root\n}\n", strings.Replace(ours, "http", "s3", 1), ""},
		"brackets without an end": {strings.Repeat("a = [", 5000), "", ""},
		"too large":               {strings.Repeat("#", 1<<20), "", "has more than"},
	} {
		tree := fstest.MapFS{"prod/db/terragrunt.hcl": {Data: []byte(c.unit)}, "root.hcl": {Data: []byte(c.root)}}
		err := backend.CheckTerragrunt(tree, "prod/db")
		if _, refused := errors.AsType[*backend.OtherError](err); refused != (c.want != "") ||
			err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
	if err := backend.CheckTerragrunt(fstest.MapFS{}, ""); err != nil {
		t.Errorf("a unit without a file: %v", err)
	}
}

// What is included from outside of the configuration is left to Terragrunt, which says that it isn't there.
func TestCheckTerragruntIncludesNothingOutside(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	unit := []byte("include {\n  path = \"../root.hcl\"\n}\n")
	if err := root.WriteFile(backend.TerragruntFile, unit, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := backend.CheckTerragrunt(root.FS(), ""); err != nil {
		t.Error(err)
	}
}

// The tool works in the unit's own folder, or in the one of the cache that has the block of the run.
func TestWorkDir(t *testing.T) {
	for want, made := range map[string][]string{
		"prod/db": {"prod/db/more.tf", "prod/other/.terragrunt-cache/work/" + backend.File},
		"prod/db/.terragrunt-cache/work": {"prod/db/.terragrunt-cache/work/main.tf",
			"prod/db/.terragrunt-cache/work/" + backend.File},
		"prod/db/.terragrunt-cache/work/db": {"prod/db/.terragrunt-cache/work/db/" + backend.File},
	} {
		names := map[string]int{}
		for _, name := range made {
			names[name] = 1
		}
		if got := backend.WorkDir(names, "prod/db"); got != want {
			t.Errorf("of %v it works in %s, want %s", made, got, want)
		}
	}
}
