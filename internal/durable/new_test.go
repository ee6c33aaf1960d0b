package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
)

func TestCreateNewReplacesNothing(t *testing.T) {
	path := writeFile(t, "old")
	for name, create := range map[string]func() error{
		"with links": func() error { return CreateNew(path, "new") },
		"without": func() error {
			return realDisk(withoutLinks).placeBy(beside(path, "other"), path, "new", unprepared)
		},
	} {
		if err := create(); !errors.Is(err, fs.ErrExist) {
			t.Errorf("%s: %v", name, err)
		}
		if text, _ := os.ReadFile(path); string(text) != "old" {
			t.Errorf("%s: the file is %q", name, text)
		}
		if got := names(t, filepath.Dir(path)); got != "auth.cfg" {
			t.Errorf("%s: left in the folder: %s", name, got)
		}
	}
}

func TestMoveNewReplacesNothing(t *testing.T) {
	path, from := writeFile(t, "old"), writeFile(t, "new")
	if err := MoveNew(from, path); !errors.Is(err, fs.ErrExist) {
		t.Errorf("over another file: %v", err)
	}
	must(t, MoveNew(from, path+".2"))
	if err := MoveNew(from, path+".3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of a file that is gone: %v", err)
	}
	if _, err := os.Stat(path + ".3"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a file that is gone became one: %v", err)
	}
	for path, want := range map[string]string{path: "old", path + ".2": "new", from: ""} {
		if text, _ := os.ReadFile(path); string(text) != want {
			t.Errorf("%s is %q, want %q", path, text, want)
		}
	}
}

// withoutLinks is renameNew on a file system that knows no links.
func withoutLinks(from, to string) error {
	return renameNewBy(func(string, string) error { return syscall.EPERM }, from, to)
}

// Of many that create a file at once one does, and what is there is all of its text.
func TestCreateNewOnce(t *testing.T) {
	for name, move := range map[string]func(from, to string) error{"with links": renameNew, "without": withoutLinks} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new")
			made := make(chan string, 20)
			var group sync.WaitGroup
			for i := range 20 {
				group.Go(func() {
					text := fmt.Sprint("text of ", i)
					switch err := realDisk(move).placeBy(beside(path, fmt.Sprint(i)), path, text, unprepared); {
					case err == nil:
						made <- text
					case !errors.Is(err, fs.ErrExist):
						t.Error(err)
					}
				})
			}
			group.Wait()
			close(made)
			text, err := os.ReadFile(path)
			if err != nil || len(made) != 1 || string(text) != <-made {
				t.Errorf("the file is %q, %v", text, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
				t.Errorf("%v, %v", info.Mode(), err)
			}
		})
	}
}
