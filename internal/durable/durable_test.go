package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// diary is a disk that notes what it is asked for, and can fail at one step.
type diary struct {
	disk
	steps []string
	fail  string
}

var errDisk = errors.New("input/output error")

func newDiary(fail string) *diary {
	d := &diary{fail: fail}
	real := realDisk(os.Rename)
	d.open = func(path string, flag int, mode fs.FileMode) (*os.File, error) {
		if err := d.note("open", path); err != nil {
			return nil, err
		}
		return real.open(path, flag, mode)
	}
	d.sync = func(f *os.File) error {
		text, err := os.ReadFile(f.Name())
		return errors.Join(err, d.note("sync", fmt.Sprintf("%s: %s", f.Name(), text)), real.sync(f))
	}
	d.move = func(from, to string) error {
		if err := d.note("move", from+" "+to); err != nil {
			return err
		}
		return real.move(from, to)
	}
	d.syncFolder = func(path string) error {
		return errors.Join(d.note("sync folder", path), real.syncFolder(path))
	}
	return d
}

func (d *diary) note(step, what string) error {
	d.steps = append(d.steps, step+" "+what)
	if step == d.fail {
		return errDisk
	}
	return nil
}

func TestNewFileIsOnDiskBeforeItIsInPlace(t *testing.T) {
	path := writeFile(t, "old")
	temporary := filepath.Join(filepath.Dir(path), ".auth.cfg.new")
	d := newDiary("")
	must(t, d.place(path, "new", func(*os.File) error { return d.note("prepare", "") }))
	want := []string{
		"open " + temporary,
		"prepare ",
		"sync " + temporary + ": new",
		"move " + temporary + " " + path,
		"sync folder " + filepath.Dir(path),
	}
	if diff := cmp.Diff(want, d.steps); diff != "" {
		t.Errorf("steps (-want +got):\n%s", diff)
	}
	if text, _ := os.ReadFile(path); string(text) != "new" {
		t.Errorf("the file is %q", text)
	}
}

func TestFailingDiskIsReported(t *testing.T) {
	for fail, want := range map[string]string{"open": "old", "sync": "old", "move": "old", "sync folder": "new"} {
		t.Run(fail, func(t *testing.T) {
			path := writeFile(t, "old")
			if err := newDiary(fail).place(path, "new", unprepared); !errors.Is(err, errDisk) {
				t.Errorf("error %v", err)
			}
			if text, _ := os.ReadFile(path); string(text) != want {
				t.Errorf("the file is %q, want %q", text, want)
			}
			if got := names(t, filepath.Dir(path)); got != "auth.cfg" {
				t.Errorf("left in the folder: %s", got)
			}
		})
	}
}

// Somebody who may write to the folder puts a link where the new file is about to be
// made, to have us write elsewhere.
func TestNewFileFollowsNoLink(t *testing.T) {
	path, elsewhere := writeFile(t, "old"), writeFile(t, "theirs")
	d := newDiary("")
	open := d.open
	d.open = func(path string, flag int, mode fs.FileMode) (*os.File, error) {
		must(t, os.Symlink(elsewhere, path))
		return open(path, flag, mode)
	}
	if err := d.place(path, "new", unprepared); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error %v", err)
	}
	for path, want := range map[string]string{path: "old", elsewhere: "theirs"} {
		if text, _ := os.ReadFile(path); string(text) != want {
			t.Errorf("%s is %q, want %q", path, text, want)
		}
	}
}
