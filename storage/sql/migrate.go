package sqluploads

import (
	"embed"

	"github.com/pressly/goose/v3"

	"github.com/holdfast/holdfast/storage/schema"
)

//go:embed migrations
var migrations embed.FS

// schemaTable notes which migrations were run.
const schemaTable = "inventory_schema"

func uploadSchema(folder string, dialect goose.Dialect) schema.Schema {
	return schema.Schema{Steps: migrations, Folder: "migrations/" + folder, Dialect: dialect, Table: schemaTable,
		Of: "upload database"}
}
