package inventorytest

import (
	"bytes"
	"encoding/gob"
	"errors"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/inventory"
)

// journal is a file of batches. A nil journal takes everything.
type journal struct{ file *os.File }

// Open returns the store whose batches are in dir, made when it is missing.
// What Append acknowledges survives the process.
func Open(dir string) (*Store, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s := New()
	s.journal = &journal{file}
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// recover files every whole batch, and cuts off the torn one that a crash may have left.
func (s *Store) recover() error {
	file := s.journal.file
	data, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	whole := int64(0)
	for rest := bytes.NewReader(data); rest.Len() > 0; whole = int64(len(data) - rest.Len()) {
		var batch inventory.Batch
		// Each batch has a decoder of its own; bytes.Reader is not read ahead of it.
		if err := gob.NewDecoder(rest).Decode(&batch); err != nil {
			break // the kill came in mid-write
		}
		s.file(batch)
	}
	return file.Truncate(whole)
}

// write makes a batch durable. It is not JSON, which the race detector makes so slow that
// the kill tests would spend most of their time on reading the journal.
func (j *journal) write(batch inventory.Batch) error {
	if j == nil {
		return nil
	}
	var record bytes.Buffer
	if err := gob.NewEncoder(&record).Encode(batch); err != nil {
		return err
	}
	if _, err := j.file.Write(record.Bytes()); err != nil {
		return err
	}
	return j.file.Sync()
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
