package tools

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
)

// Plugins says where runs have their providers from.
type Plugins struct {
	// Mirror is a folder of providers that only the operator fills, laid out as `providers
	// mirror` of either tool does it; empty for none.
	Mirror string
	// Cache is the folder of what runs of one organization have fetched; empty for none. What
	// a run can write another one executes, so organizations must not share one.
	Cache string
	// Direct lets providers that the mirror lacks be fetched from their registries.
	Direct bool
}

// ProviderMirror is where the providers of this store's tools are, for Plugins.
func (s *Store) ProviderMirror() string { return filepath.Join(s.settings.Root, "providers") }

// sharedSince is the first OpenTofu whose cache of providers several processes may use at once.
const sharedSince = "1.10.0"

// cache is the folder that a run in this slot caches providers in. OpenTofu from 1.10 on locks
// its cache, so all slots share one; Terraform, and what came before, may leave it damaged when
// two use it at once, so that each slot has its own. Terragrunt runs a tool that is not known
// here.
func (p Plugins) cache(tool Name, v *version.Version, slot int) string {
	if p.Cache == "" {
		return ""
	}
	if tool == OpenTofu && v.Core().GreaterThanOrEqual(version.Must(version.NewVersion(sharedSince))) {
		return filepath.Join(p.Cache, string(OpenTofu))
	}
	return filepath.Join(p.Cache, fmt.Sprintf("%s-slot-%d", tool, slot))
}

// Config is the CLI configuration of one run.
type Config struct {
	Text  string // of the file that TF_CLI_CONFIG_FILE names; without credentials
	Cache string // the folder that init must be able to write to, made here; empty for none
}

// CLIConfig returns the CLI configuration for a tool that runs in this slot of an executor.
// No two runs are in one slot at once.
func (p Plugins) CLIConfig(tool Name, text string, slot int) (Config, error) {
	v, err := parseVersion(text)
	if err != nil {
		return Config{}, err
	}
	cache := p.cache(tool, v, slot)
	var b strings.Builder
	b.WriteString("disable_checkpoint = true\n")
	if cache != "" {
		quoted, err := quote(cache)
		if err != nil {
			return Config{}, err
		}
		if err := os.MkdirAll(cache, 0o700); err != nil { // the tools refuse one that is not there
			return Config{}, unwritable(err)
		}
		fmt.Fprintf(&b, "plugin_cache_dir = %s\n", quoted)
	}
	b.WriteString("provider_installation {\n")
	if info, err := os.Stat(p.Mirror); err == nil && info.IsDir() { // until it is made it has nothing
		quoted, err := quote(p.Mirror)
		if err != nil {
			return Config{}, err
		}
		fmt.Fprintf(&b, "  filesystem_mirror {\n    path = %s\n  }\n", quoted)
	}
	if p.Direct {
		b.WriteString("  direct {\n  }\n")
	}
	b.WriteString("}\n")
	return Config{b.String(), cache}, nil
}

// quote writes a path as text of a CLI configuration. Both tools replace $NAME in paths there,
// for which they know no escape.
func quote(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\"\\$\n\r\x00") {
		return "", fault.New(fault.ToolConstraintInvalid, "the path %q can't stand in a CLI configuration: it must be absolute, without quotes, backslashes and dollar signs", path)
	}
	return `"` + path + `"`, nil
}
