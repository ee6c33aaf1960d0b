package engine

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"sync"

	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/statefile"
	"github.com/holdfast/holdfast/internal/durable"
)

// ErroredState is the file in the configuration's folder that has a state that could not be stored, as the
// clients call theirs.
const ErroredState = "errored.tfstate"

// keepUnsaved notes what could not be saved. What it returns writes the last such state beside the
// configuration, unless a later one was saved, and says so by an error.
func (e *Engine) keepUnsaved(o *apply.Options) func() error {
	var mu sync.Mutex
	var unsaved *statefile.File
	save := o.Save
	o.Save = func(ctx context.Context, f *statefile.File) error {
		err := save(ctx, f)
		mu.Lock()
		defer mu.Unlock()
		if unsaved = nil; err != nil {
			unsaved = f
		}
		return err
	}
	return func() error {
		mu.Lock()
		defer mu.Unlock()
		if unsaved == nil {
			return nil
		}
		path := filepath.Join(e.Root.Dir, ErroredState)
		text, err := unsaved.Bytes()
		if err == nil {
			err = moveAside(path)
		}
		if err == nil {
			err = durable.Write(path, string(text))
		}
		if err != nil {
			return diag.Stateful(err, "the state could not be stored, nor kept in %s", path)
		}
		return diag.Stateful(nil, "the state could not be stored, and is kept in %s", path).
			WithHint("it has what is there now: put it where the state belongs before anything else is done")
	}
}

// moveAside gives a file that is there already the next free name: it has what another apply could not store, and
// nothing else has.
func moveAside(path string) error {
	for n := 2; ; n++ {
		aside := strings.TrimSuffix(path, ".tfstate") + "-" + strconv.Itoa(n) + ".tfstate"
		switch err := durable.MoveNew(path, aside); {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case !errors.Is(err, fs.ErrExist):
			return err
		}
	}
}
