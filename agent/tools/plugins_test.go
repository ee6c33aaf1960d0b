package tools_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/fault"
)

// Only OpenTofu from 1.10 on may have one cache for all slots.
func TestCacheOfProviders(t *testing.T) {
	plugins := tools.Plugins{Cache: filepath.Join(t.TempDir(), "cache", "org")}
	for _, c := range []struct {
		tool    tools.Name
		version string
		shared  bool
	}{
		{tools.OpenTofu, "1.9.3", false},
		{tools.OpenTofu, "1.10.0-beta1", true},
		{tools.OpenTofu, "1.10.0", true},
		{tools.OpenTofu, "1.12.6", true},
		{tools.OpenTofu, "2.0.0", true},
		{tools.Terraform, "1.5.7", false},
		{tools.Terraform, "1.14.0", false},
		{tools.Terragrunt, "0.88.0", false},
	} {
		var caches [2]string
		for slot := range caches {
			config, err := plugins.CLIConfig(c.tool, c.version, slot)
			must(t, err)
			caches[slot] = config.Cache
			if info, err := os.Stat(config.Cache); err != nil || !info.IsDir() {
				t.Errorf("%s: %v", config.Cache, err)
			}
		}
		if shared := caches[0] == caches[1]; shared != c.shared {
			t.Errorf("%s %s: caches %v", c.tool, c.version, caches)
		}
	}
}

func TestCLIConfig(t *testing.T) {
	mirror, cache := t.TempDir(), t.TempDir()
	config, err := tools.Plugins{Mirror: mirror, Cache: cache, Direct: true}.CLIConfig(tools.Terraform, "1.5.7", 3)
	must(t, err)
	want := `disable_checkpoint = true
plugin_cache_dir = "` + cache + `/terraform-slot-3"
provider_installation {
  filesystem_mirror {
    path = "` + mirror + `"
  }
  direct {
  }
}
`
	if diff := cmp.Diff(want, config.Text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	config, err = tools.Plugins{Mirror: filepath.Join(mirror, "none")}.CLIConfig(tools.OpenTofu, "1.12.6", 0)
	must(t, err)
	if diff := cmp.Diff("disable_checkpoint = true\nprovider_installation {\n}\n", config.Text); diff != "" || config.Cache != "" {
		t.Errorf("without mirror, cache and network (-want +got):\n%s", diff)
	}
	for _, path := range []string{"relative", cache + `/"}`, cache + "/$HOME", cache + "/a\nb"} {
		_, err := tools.Plugins{Cache: path}.CLIConfig(tools.OpenTofu, "1.12.6", 0)
		wantFault(t, err, fault.ToolConstraintInvalid)
	}
}
