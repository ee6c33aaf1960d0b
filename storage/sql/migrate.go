package sqluploads

import (
	"embed"

	"github.com/holdfast/holdfast/storage/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaTable notes which migrations were run.
const schemaTable = "inventory_schema"

func uploadSchema() schema.Schema {
	return schema.Schema{Steps: migrations, Table: schemaTable, Of: "upload database"}
}
