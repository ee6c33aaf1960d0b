package storagetest

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/inventory"
)

// journal is a file with a line for each batch. A nil journal takes everything.
type journal struct{ file *os.File }

// OpenInventory returns the store whose batches are in dir, made when it is missing.
// What Append acknowledges survives the process.
func OpenInventory(dir string) (*Inventory, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	file, err := os.OpenFile(filepath.Join(dir, "journal"), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	s := NewInventory()
	s.journal = &journal{file}
	if err := s.recover(); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return s, nil
}

// recover files every whole line, and cuts off the torn one that a crash may have left.
func (s *Inventory) recover() error {
	file := s.journal.file
	text, err := os.ReadFile(file.Name())
	if err != nil {
		return err
	}
	whole := text[:bytes.LastIndexByte(text, '\n')+1]
	for line := range bytes.Lines(whole) {
		var batch inventory.Batch
		if err := json.Unmarshal(line, &batch); err != nil {
			return err
		}
		if err := restoreAttributes(&batch); err != nil {
			return err
		}
		s.file(batch)
	}
	return file.Truncate(int64(len(whole)))
}

// write makes a batch durable. Attributes are written as strings: as JSON they would
// change their spelling.
func (j *journal) write(batch inventory.Batch) error {
	if j == nil {
		return nil
	}
	batch.Resources = append([]inventory.Resource(nil), batch.Resources...)
	for i := range batch.Resources {
		quoted, err := json.Marshal(string(batch.Resources[i].Attributes))
		if err != nil {
			return err
		}
		batch.Resources[i].Attributes = quoted
	}
	line, err := json.Marshal(batch)
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	return j.file.Sync()
}

func restoreAttributes(batch *inventory.Batch) error {
	for i := range batch.Resources {
		var text string
		if err := json.Unmarshal(batch.Resources[i].Attributes, &text); err != nil {
			return err
		}
		batch.Resources[i].Attributes = json.RawMessage(text)
	}
	return nil
}

func (j *journal) close() error {
	if j == nil {
		return nil
	}
	return j.file.Close()
}
