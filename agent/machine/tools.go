package machine

import (
	"context"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/api"
)

// Tools are those of a store, with providers from a mirror or from their registries.
type Tools struct {
	Store *tools.Store
	// Cache is the folder below which each organization has its cache of providers; empty for
	// none.
	Cache string
	// Direct lets providers that the mirror lacks be fetched from their registries.
	Direct bool
	// Engine is Holdfast's own engine.
	Engine Engine
}

// Find implements agent.Tools. A tool with a digest is exactly that version; else what the
// configuration says of its version counts too.
func (t Tools) Find(ctx context.Context, want api.Tool, configuration, directory string) (agent.Binary, error) {
	if want.Name == EngineName {
		return t.findEngine(ctx, want)
	}
	name, err := tools.ParseName(want.Name)
	if err != nil {
		return agent.Binary{}, err
	}
	if name == tools.Terragrunt {
		return t.findTerragrunt(ctx, want, configuration, directory)
	}
	if want.Digest != "" {
		found, err := t.Store.Open(ctx, name, want.Version)
		return binary(found), err
	}
	root, err := os.OpenRoot(configuration)
	if err != nil {
		return agent.Binary{}, err
	}
	defer root.Close()
	found, err := t.Store.Resolve(ctx,
		tools.Want{Tool: name, Constraint: want.Version, Files: root.FS(), Directory: directory})
	return binary(found.Tool), err
}

// Offers returns a fault if it is clear that no version of a tool is the one that is wanted, or fits
// the constraint that stands for it.
func (t Tools) Offers(ctx context.Context, want api.Tool) error {
	if want.Name == EngineName {
		return t.Engine.fits(want.Version)
	}
	name, err := tools.ParseName(want.Name)
	if err != nil {
		return err
	}
	return t.Store.Offers(ctx, name, want.Version)
}

func binary(found tools.Tool) agent.Binary {
	return agent.Binary{
		Tool: api.Tool{Name: string(found.Name), Version: found.Version, Digest: found.SHA256, System: found.OS + "_" +
			found.Arch},
		Path: found.Path,
	}
}

// Configuration implements agent.Tools.
func (t Tools) Configuration(_ context.Context, tool agent.Binary, org string, slot int,
	shares bool) (agent.ToolConfiguration, error) {
	plugins := tools.Plugins{Mirror: t.Store.ProviderMirror(), Direct: t.Direct && tool.Name != EngineName}
	// Terragrunt's hooks and functions execute code of the configuration in its init, too: what that
	// fetches is nobody else's.
	if shares && t.Cache != "" && tools.Name(tool.Name) != tools.Terragrunt {
		plugins.Cache = filepath.Join(t.Cache, org)
	}
	made, err := plugins.CLIConfig(tools.Name(tool.Name), slot)
	if err != nil {
		return agent.ToolConfiguration{}, err
	}
	c := agent.ToolConfiguration{Text: made.Text}
	if _, err := os.Stat(plugins.Mirror); err == nil {
		c.Read = append(c.Read, plugins.Mirror)
	}
	if made.Cache != "" {
		c.Cache = append(c.Cache, made.Cache)
	}
	return c, nil
}
