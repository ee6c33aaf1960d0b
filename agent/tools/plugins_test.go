package tools_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

// Runs at the same time never share a cache, whichever tool they use.
func TestCacheOfProviders(t *testing.T) {
	plugins := tools.Plugins{Cache: filepath.Join(t.TempDir(), "cache", "org"), Direct: true}
	seen := map[string]bool{}
	for _, tool := range tools.Names() {
		for slot := range 2 {
			config, err := plugins.CLIConfig(tool, slot)
			must(t, err)
			if info, err := os.Stat(config.Cache); err != nil || !info.IsDir() || seen[config.Cache] {
				t.Errorf("%s in slot %d has the cache %q, %v", tool, slot, config.Cache, err)
			}
			seen[config.Cache] = true
		}
	}
}

func TestCLIConfig(t *testing.T) {
	mirror, cache := t.TempDir(), t.TempDir()
	for _, folder := range []string{"registry.opentofu.org/hashicorp/time/0.14.2", "example.com/acme/widgets",
		"example.com/acme/not one"} {
		must(t, os.MkdirAll(filepath.Join(mirror, folder), 0o755))
	}
	must(t, os.WriteFile(filepath.Join(mirror, "example.com", "acme", "notes"), nil, 0o600))
	const head = "disable_checkpoint = true\n"
	ofMirror := "  filesystem_mirror {\n    path = \"" + mirror + "\"\n  }\n"
	for what, c := range map[string]struct {
		plugins tools.Plugins
		want    string
	}{
		"nothing": {tools.Plugins{}, head + "provider_installation {\n}\n"},
		"no mirror yet": {tools.Plugins{Mirror: filepath.Join(mirror, "none"), Cache: cache}, head +
			"provider_installation {\n}\n"},
		"a mirror, nothing else": {tools.Plugins{Mirror: mirror, Cache: cache}, head + "provider_installation {\n" +
			ofMirror + "}\n"},
		"registries": {tools.Plugins{Direct: true}, head + "provider_installation {\n  direct {\n  }\n}\n"},
		"everything": {tools.Plugins{Mirror: mirror, Cache: cache, Direct: true}, head + "plugin_cache_dir = \"" + cache +
			"/terraform-slot-3\"\nprovider_installation {\n" + ofMirror +
			"  direct {\n    exclude = [\"example.com/acme/widgets\", \"registry.opentofu.org/hashicorp/time\"]\n  }\n}\n"},
	} {
		config, err := c.plugins.CLIConfig(tools.Terraform, 3)
		must(t, err)
		if diff := cmp.Diff(c.want, config.Text); diff != "" {
			t.Errorf("%s (-want +got):\n%s", what, diff)
		}
	}
	for _, path := range []string{"relative", cache + `/"}`, cache + "/$HOME", cache + "/a\nb"} {
		_, err := tools.Plugins{Cache: path, Direct: true}.CLIConfig(tools.OpenTofu, 0)
		wantFault(t, err, fault.ToolConstraintInvalid)
	}
}
