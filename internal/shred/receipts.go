package shred

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/durable"
)

// FolderName is what the folder of receipts is called, in the folder of all data.
const FolderName = "shredded"

// Receipts are where it is written down which orders were carried out. An order that has one is never
// carried out again: the organization may be there anew by then.
type Receipts interface {
	Has(Order) (bool, error)
	Write(order Order, at time.Time) error
}

// Folder keeps receipts in a folder, which is made with the first of them: one file for each
// organization, about its latest order.
type Folder string

// receipt is a file's contents.
type receipt struct {
	Org      uuid.UUID `json:"org"`
	Ordered  time.Time `json:"ordered"`
	Finished time.Time `json:"finished"`
}

func (f Folder) path(org uuid.UUID) string { return filepath.Join(string(f), org.String()+".json") }

// Has implements Receipts.
func (f Folder) Has(order Order) (bool, error) {
	text, err := os.ReadFile(f.path(order.Org))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	var r receipt
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	if err != nil {
		return false, fmt.Errorf("read whether %s is shredded: %w", order.Org, err)
	}
	return r.Org == order.Org && r.Ordered.Equal(order.At), nil
}

// Knows reports whether there is a receipt for any order about an organization.
func (f Folder) Knows(org uuid.UUID) (bool, error) {
	_, err := os.Stat(f.path(org))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}

// Write implements Receipts. It is durable when it returns nil.
func (f Folder) Write(order Order, at time.Time) error {
	text, err := json.Marshal(receipt{Org: order.Org, Ordered: order.At, Finished: at.UTC()})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(string(f), 0o700); err != nil {
		return err
	}
	if err := durable.SyncFolder(filepath.Dir(string(f))); err != nil {
		return err
	}
	return durable.Write(f.path(order.Org), string(text)+"\n")
}

// Remembered are receipts of a server that keeps nothing, and so has nothing of any organization
// when it starts.
type Remembered struct{ done sync.Map }

// Has implements Receipts.
func (r *Remembered) Has(order Order) (bool, error) {
	at, ok := r.done.Load(order.Org)
	return ok && at.(time.Time).Equal(order.At), nil
}

// Write implements Receipts.
func (r *Remembered) Write(order Order, _ time.Time) error {
	r.done.Store(order.Org, order.At)
	return nil
}
