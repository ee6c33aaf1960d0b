package index

import (
	"context"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// tx is the writer's transaction.
type tx struct{ *sqlitedb.Tx }

func (t tx) exec(text string, args ...any) error {
	_, err := t.Exec(text, args...)
	return err
}

// do carries run out in a transaction, in the organization's turn, and returns when it is
// durable. It may run twice, if its transaction has to be repeated.
func (x *Index) do(org uuid.UUID, run func(tx) error) error {
	return x.writer.Submit(context.Background(),
		sqlitedb.Job{Org: org, Run: func(t *sqlitedb.Tx) error { return run(tx{t}) }})
}
