package main

import (
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/agent/tools"
	"github.com/holdfast/holdfast/server"
)

// toolHelp is what the commands about tools have in common.
const toolHelp = `Tools are kept under tools in storage.path, or in the folder that [tools] path names, each
version with the SHA-256 of its binary. A running server sees what changes there at once.`

func newToolCommand(a *app) *cobra.Command {
	cmd := newGroup("tool", "Add, download, list and remove the tools that runs execute")
	cmd.AddCommand(newToolAddCommand(a), newToolDownloadCommand(a), newToolListCommand(a), newToolRemoveCommand(a))
	return cmd
}

// toolStore is the store of the server's settings. Who types a command to download has said
// that it may: allow_download is about runs.
func (a *app) toolStore(cmd *cobra.Command) (*tools.Store, error) {
	settings, err := a.settings(cmd)
	if err != nil {
		return nil, err
	}
	of := server.ToolSettings(settings)
	// The folder may be made here where somebody has named it, and where init has been: tools are added before the
	// server's first start.
	if !settings.IsSet("storage", "path") && !settings.IsSet("tools", "path") {
		_, noData := os.Stat(settings.Storage.Path)
		if _, noAuth := os.Stat(settings.Auth.File); noData != nil && noAuth != nil {
			return nil, noStore(settings.Storage.Path, noData)
		}
	}
	a.nameFiles(cmd, of.Root)
	of.AllowDownload, of.Now = true, a.now
	// The store is told where it is once and for all, and records paths.
	if of.Root, err = filepath.Abs(of.Root); err != nil {
		return nil, err
	}
	return tools.New(of), nil
}

// toolRow is a tool as JSON shows it.
type toolRow struct {
	tools.Tool
	Path string `json:"path"`
}

func rowOfTool(tool tools.Tool) toolRow { return toolRow{tool, tool.Path} }
