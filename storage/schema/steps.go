package schema

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/database"
)

// step is one of the files that lead to a schema.
type step struct {
	version    int64
	statements []string
	// alone says that each statement is one transaction, because the database can't have the step
	// in one.
	alone bool
}

// readSteps reads the files of a folder as goose would. Goose itself has four megabytes for each line of
// a file, which is most of the work of making a database, and of every test that makes one.
func readSteps(folder fs.FS) ([]step, error) {
	names, err := fs.Glob(folder, "*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]step, 0, len(names))
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		one, err := parseStep(string(text))
		if err == nil {
			one.version, err = goose.NumericComponent(name)
		}
		if err != nil {
			return nil, fmt.Errorf("the schema's step %s: %w", name, err)
		}
		steps = append(steps, one)
	}
	if len(steps) == 0 {
		return nil, errors.New("the schema has no steps")
	}
	slices.SortFunc(steps, func(a, b step) int { return cmp.Compare(a.version, b.version) })
	return steps, nil
}

// parseStep reads what leads up. A statement ends with the line that ends with a semicolon or, where it
// has some inside, with StatementEnd. Comments in front of it are left out.
func parseStep(text string) (made step, err error) {
	var statement strings.Builder
	var up, whole bool // what has begun: what leads up, and a statement that only StatementEnd ends
	end := func() {
		made.statements = append(made.statements, strings.TrimSpace(statement.String()))
		statement.Reset()
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		comment := strings.HasPrefix(strings.TrimSpace(line), "--")
		if said, ok := strings.CutPrefix(line, "-- +goose "); ok {
			switch strings.TrimSpace(said) {
			case "NO TRANSACTION":
				made.alone = true
			case "Up":
				up = true
			case "Down":
				return made, unended(&statement)
			case "StatementBegin":
				whole = true
			case "StatementEnd":
				whole = false
				end()
			default:
				return step{}, fmt.Errorf("unknown annotation %q", said)
			}
			continue
		}
		if statement.Len() == 0 && (comment || strings.TrimSpace(line) == "") {
			continue
		}
		if !up {
			return step{}, errors.New("it does not begin with \"-- +goose Up\"")
		}
		statement.WriteString(line + "\n")
		if !whole && endsStatement(line) {
			end()
		}
	}
	return made, unended(&statement)
}

func unended(statement *strings.Builder) error {
	if rest := strings.TrimSpace(statement.String()); rest != "" {
		return fmt.Errorf("a statement does not end with a semicolon: %s", rest)
	}
	return nil
}

// endsStatement reports whether the last word of a line, but for a comment, ends with a semicolon.
func endsStatement(line string) bool {
	last := ""
	for word := range strings.FieldsSeq(line) {
		if strings.HasPrefix(word, "--") {
			break
		}
		last = word
	}
	return strings.HasSuffix(last, ";")
}

// asMigrations returns the steps as goose takes them; none when one of them is not a transaction. Goose
// reads and runs such files itself, on the connection that it has: it would want another one for
// these, of which there may be none.
func asMigrations(steps []step) (all []*goose.Migration) {
	for _, one := range steps {
		if one.alone {
			return nil
		}
		run := func(ctx context.Context, tx *sql.Tx) error { return one.run(ctx, tx) }
		all = append(all, goose.NewGoMigration(one.version, &goose.GoFunc{RunTx: run}, nil))
	}
	return all
}

func (s step) run(ctx context.Context, tx database.DBTxConn) error {
	for _, statement := range s.statements {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}
