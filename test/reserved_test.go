package test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// columnLine is a line of a CREATE TABLE or an ALTER TABLE that names a column without quotes.
var columnLine = regexp.MustCompile(
	`(?im)(?:^\s+|ADD COLUMN (?:IF NOT EXISTS )?|, )([a-z_]+)\s+` +
		`(?:TINYINT|SMALLINT|INT|BIGINT|DOUBLE|CHAR|VARCHAR|BINARY|VARBINARY|(?:TINY|MEDIUM|LONG)?(?:TEXT|BLOB)|JSON|BOOLEAN)\b`)

// TestColumnsAreNotReserved: tests run with MariaDB, which takes columns whose names MySQL reserves.
func TestColumnsAreNotReserved(t *testing.T) {
	text, err := os.ReadFile("testdata/mysql-reserved.txt")
	if err != nil {
		t.Fatal(err)
	}
	reserved := map[string]bool{}
	for word := range strings.FieldsSeq(string(text)) {
		reserved[word] = true
	}
	columns := 0
	for _, folder := range []string{"mysql/migrations", "mysqlstates/migrations", "sqldb/migrations/mysql"} {
		files, err := filepath.Glob(filepath.Join("..", "storage", folder, "*.sql"))
		if err != nil || len(files) == 0 {
			t.Fatal(folder, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range columnLine.FindAllStringSubmatch(string(text), -1) {
				columns++
				if name := strings.ToLower(found[1]); reserved[name] {
					t.Errorf("%s: MySQL reserves %q; call the column something else, or quote it wherever it stands", file, name)
				}
			}
		}
	}
	if columns < 200 {
		t.Errorf("only %d columns were found: the test shows less than it should", columns)
	}
}
