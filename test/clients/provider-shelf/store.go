package main

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// object is what a file of the store has.
type object struct {
	Name     string `json:"name"`
	Text     string `json:"text"`
	Revision int64  `json:"revision"`
}

// store is the folder with the objects.
type store struct{ folder string }

func (s store) path(id string) string { return filepath.Join(s.folder, filepath.Base(id)+".json") }

// read returns an object, nil if there is none.
func (s store) read(id string) (*object, error) {
	text, err := os.ReadFile(s.path(id))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var o object
	return &o, json.Unmarshal(text, &o)
}

func (s store) write(id string, o object) error {
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	return os.WriteFile(s.path(id), text, 0o600)
}

func (s store) remove(id string) error {
	if err := os.Remove(s.path(id)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// wait says in gate.waiting that it waits, and does so until gate is there or the call is cancelled.
func wait(ctx context.Context, gate string) error {
	if gate == "" {
		return nil
	}
	if err := os.WriteFile(gate+".waiting", nil, 0o600); err != nil {
		return err
	}
	for {
		if _, err := os.Stat(gate); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("stopped while it waited")
		case <-time.After(20 * time.Millisecond):
		}
	}
}
