package sqlitedb

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// checkHeader refuses a file of something else before SQLite touches it. An application ID
// of zero may be ours: that of a first start that was killed is still in the WAL.
func (f File) checkHeader(file io.Reader) error {
	header := make([]byte, 100) // its length in SQLite's file format
	n, err := io.ReadFull(file, header)
	if err == io.EOF {
		return nil // a new, empty file
	}
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	if n < len(header) || !bytes.HasPrefix(header, []byte("SQLite format 3\x00")) {
		return errors.New("is not an SQLite database; it was left as it is")
	}
	if id := int64(binary.BigEndian.Uint32(header[68:])); id != 0 && id != f.ApplicationID {
		return fmt.Errorf("is an SQLite database of another application (ID %#x); it was left as it is", id)
	}
	return nil
}

// CheckWAL refuses a WAL whose database is missing or empty: SQLite would take it for a
// leftover and delete it, with all that was in it. No start that was killed leaves that:
// the database has its first page on disk before there is a WAL.
func (f File) CheckWAL() error {
	left, err := f.WALSize()
	if err != nil || left == 0 {
		return err
	}
	there, err := size(f.Path)
	if err != nil || there > 0 {
		return err
	}
	return fmt.Errorf("%s is missing or empty, but %s has %d bytes that belong to it; put %[1]s back as it was, or, to "+
		"restore a backup or to begin anew, first move %[2]s away; both were left as they are", f.Path, f.wal(), left)
}

// WALSize is the length of the database's WAL in bytes, zero without one.
func (f File) WALSize() (int64, error) { return size(f.wal()) }

func (f File) wal() string { return f.Path + "-wal" }

// size is zero for a file that is missing.
func size(path string) (int64, error) {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}
