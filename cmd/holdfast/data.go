package main

import "github.com/spf13/cobra"

func newDataCommand(a *app) *cobra.Command {
	cmd := newGroup("data", "Read, export, import and migrate what was uploaded")
	cmd.Long = `Read what providers have uploaded, and look after where it is kept.

query and tail ask a running server, as one organization. The others work on the store
itself, for an operator: what CSV files are part of needs the server stopped, but for export,
which asks the server that runs here.`
	cmd.AddCommand(newDataQueryCommand(a), newDataTailCommand(a), newDataExportCommand(a), newDataImportCommand(a),
		newDataMigrateCommand(a))
	return cmd
}
