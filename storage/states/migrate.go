package states

import (
	"embed"

	"github.com/holdfast/holdfast/storage/schema"
)

//go:embed migrations/*.sql
var migrations embed.FS

// schemaTable notes which migrations were run.
const schemaTable = "state_schema"

// Schema is what the database is to look like.
func Schema() schema.Schema { return Options{}.schema() }

func (o Options) schema() schema.Schema {
	s := schema.Schema{Steps: migrations, Table: schemaTable, Of: "state database"}
	if o.steps != nil {
		s.Steps = o.steps
	}
	return s
}
