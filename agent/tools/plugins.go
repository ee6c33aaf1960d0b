package tools

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/holdfast/holdfast/fault"
)

// Plugins says where runs have their providers from.
type Plugins struct {
	// Mirror is a folder of providers that only the operator fills, laid out as `providers
	// mirror` of either tool does it; empty for none. Any number of runs may read it at once.
	Mirror string
	// Direct lets providers that the mirror lacks be fetched from their registries.
	Direct bool
	// Cache is the folder for what runs of one organization have fetched so; empty for none.
	// What a run can write there another one executes, so organizations must not share one.
	Cache string
}

// ProviderMirror is where the providers of this store's tools are, for Plugins.
func (s *Store) ProviderMirror() string { return filepath.Join(s.settings.Root, "providers") }

// Config is the CLI configuration of one run.
type Config struct {
	Text  string // of the file that TF_CLI_CONFIG_FILE names; without credentials
	Cache string // the folder that init must be able to write to, made here; empty for none
}

// CLIConfig returns the CLI configuration for a tool that runs in this slot of an executor.
// No two runs are in one slot at once, and that is why each slot has a cache of its own.
// Terraform does not lock its cache at all. OpenTofu from 1.10 on does while it installs, but
// it looks for what it installed after it has let go of the lock: when another init without a
// dependency lock file replaces that meanwhile, init panics. Without Direct there is nothing to
// cache: a provider is linked to from where it stands in the mirror.
func (p Plugins) CLIConfig(tool Name, slot int) (Config, error) {
	var b strings.Builder
	b.WriteString("disable_checkpoint = true\n")
	cache, err := p.writeCache(&b, tool, slot)
	if err != nil {
		return Config{}, err
	}
	b.WriteString("provider_installation {\n")
	if err := p.writeSources(&b); err != nil {
		return Config{}, err
	}
	b.WriteString("}\n")
	return Config{b.String(), cache}, nil
}

func (p Plugins) writeCache(b *strings.Builder, tool Name, slot int) (cache string, err error) {
	if p.Cache == "" || !p.Direct {
		return "", nil
	}
	cache = filepath.Join(p.Cache, fmt.Sprintf("%s-slot-%d", tool, slot))
	quoted, err := quote(cache)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(cache, 0o700); err != nil { // the tools refuse one that is not there
		return "", unwritable(err)
	}
	fmt.Fprintf(b, "plugin_cache_dir = %s\n", quoted)
	return cache, nil
}

// writeSources names the mirror, and the registries for what is not in it: the operator's copy
// of a provider is the only one that is used, and no registry is asked about it.
func (p Plugins) writeSources(b *strings.Builder) error {
	mirrored, err := p.mirrored()
	if err != nil {
		return err
	}
	if mirrored != nil {
		quoted, err := quote(p.Mirror)
		if err != nil {
			return err
		}
		fmt.Fprintf(b, "  filesystem_mirror {\n    path = %s\n  }\n", quoted)
	}
	switch {
	case p.Direct && len(mirrored) > 0:
		fmt.Fprintf(b, "  direct {\n    exclude = [\"%s\"]\n  }\n", strings.Join(mirrored, `", "`))
	case p.Direct:
		b.WriteString("  direct {\n  }\n")
	}
	return nil
}

// mirrored returns the providers in the mirror, as host/namespace/type; nil if there is no
// mirror.
func (p Plugins) mirrored() ([]string, error) {
	if p.Mirror == "" {
		return nil, nil
	}
	if _, err := os.Stat(p.Mirror); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	folders, err := fs.Glob(os.DirFS(p.Mirror), "*/*/*")
	if err != nil {
		return nil, unreadable(err)
	}
	found := []string{}
	for _, folder := range folders {
		if info, err := os.Stat(filepath.Join(p.Mirror, folder)); err == nil && info.IsDir() &&
			!strings.ContainsFunc(folder, notInProvider) {
			found = append(found, folder)
		}
	}
	return found, nil
}

// notInProvider tells the names of providers from those of other files.
func notInProvider(r rune) bool { return notInVersion(r) && r != '_' && r != '/' && r != ':' }

// quote writes a path as text of a CLI configuration. Both tools replace $NAME in paths there,
// for which they know no escape.
func quote(path string) (string, error) {
	if !filepath.IsAbs(path) || strings.ContainsAny(path, "\"\\$\n\r\x00") {
		return "", fault.New(fault.ToolConstraintInvalid,
			"the path %q can't stand in a CLI configuration: it must be absolute, without quotes, backslashes and dollar signs",
			path)
	}
	return `"` + path + `"`, nil
}
