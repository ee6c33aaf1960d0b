package server

import (
	"cmp"
	"path/filepath"

	"github.com/holdfast/holdfast/agent/tools"
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
