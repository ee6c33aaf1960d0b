package server

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/holdfast/holdfast/agent/machine"
	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/configs"
)

// ToolSettings says where a server with these settings keeps the tools that runs execute.
func ToolSettings(settings configs.Settings) tools.Settings {
	of := settings.Tools
	return tools.Settings{
		Root:          cmp.Or(of.Path, filepath.Join(settings.Storage.Path, "tools")),
		AllowDownload: of.AllowDownload,
		OpenTofu:      tools.Mirror{Address: of.OpenTofuMirror, Index: of.OpenTofuIndex, KeyFile: of.OpenTofuKeyFile},
		Terraform:     tools.Mirror{Address: of.TerraformMirror, Index: of.TerraformIndex, KeyFile: of.TerraformKeyFile},
	}
}

// toolVersions says what the server's own executor can plan with.
func (p *parts) toolVersions(ctx context.Context) ([]api.ToolVersions, error) {
	store, err := p.tools()
	if err != nil {
		return nil, err
	}
	var all []api.ToolVersions
	for _, name := range tools.Names() {
		versions, downloads, err := store.Versions(ctx, name)
		if err != nil {
			return nil, err
		}
		all = append(all, api.ToolVersions{Tool: string(name), Versions: append([]string{}, versions...),
			Downloads: downloads})
	}
	if engine := p.engine(); len(engine.Args) > 0 {
		all = append(all, api.ToolVersions{Tool: machine.EngineName, Versions: []string{engine.Version}})
	}
	return all, nil
}
