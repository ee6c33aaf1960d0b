package doctor

import (
	"database/sql"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
)

// segment is a piece of a file of uploads, as its index has it.
type segment struct {
	org           string
	start, length int64
	crc           uint32
	size          int64 // of the whole file
}

// uploads compares each piece of each file with its checksum.
func (d *doctor) uploads() error {
	const name = "uploads.db"
	if !d.has(name) {
		return nil
	}
	d.tell("reading uploads")
	err := d.ask(name, func(db *sql.DB) error {
		rows, err := db.QueryContext(d.ctx, `SELECT o.org, s.start - o.base, s.length, s.crc, o.length - o.base
			FROM segments s JOIN orgs o ON o.id = s.org ORDER BY o.org, s.start`)
		if err != nil {
			return err
		}
		defer rows.Close()
		bad := map[string]bool{}
		for rows.Next() {
			var s segment
			if err := rows.Scan(&s.org, &s.start, &s.length, &s.crc, &s.size); err != nil {
				return err
			}
			d.report.Checked.Segments++
			if err := d.segment(s); err != nil && !bad[s.org] {
				bad[s.org] = true // the server tells of the line, once somebody reads it
				d.found(s.org+".csv", "restore the file from a backup with uploads.db, or take the row out that was changed "+
					"(docs/operating-uploads.md)", "bytes %d to %d are not what was recorded: %v", s.start, s.start+s.length, err)
			}
		}
		return rows.Err()
	})
	if err := d.ctx.Err(); err != nil {
		return err
	}
	if err != nil {
		d.found(name, doRestore, "its rows can't be read: %v", err)
	}
	return nil
}

func (d *doctor) segment(s segment) (err error) {
	path := d.path(s.org + ".csv")
	if kept, err := os.Lstat(path + ".kept"); err == nil && kept.Size() == s.size {
		path += ".kept" // old records were removed, and the next start puts it in the place of the other
	}
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return errors.New("the file is missing")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	sum := crc32.New(crc32.MakeTable(crc32.Castagnoli))
	n, err := io.Copy(sum, io.NewSectionReader(f, s.start, s.length))
	switch {
	case err != nil:
		return err
	case n < s.length:
		return fmt.Errorf("the file ends at %d", s.start+n)
	case sum.Sum32() != s.crc:
		return errors.New("the checksum is another one")
	}
	return nil
}
