package elsewhere

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// The ends of the names of state files, and of the copy that clients keep of the version before.
const (
	stateEnd  = ".tfstate"
	backupEnd = ".backup"
)

// Folder has the *.tfstate files in and below a folder. A state is called by its file's path without
// the end, and without a last segment "terraform": prod/terraform.tfstate is prod. States of local
// workspaces, terraform.tfstate.d/NAME/terraform.tfstate, are called by what is before that and NAME.
type Folder struct{ root string }

// NewFolder returns the states of a folder.
func NewFolder(root string) Folder { return Folder{root} }

// About implements Source. It has the folder's own name alone: the audit log keeps it, and the whole
// path is of somebody's own machine.
func (f Folder) About() string {
	whole, err := filepath.Abs(f.root)
	if err != nil {
		whole = f.root
	}
	return "the folder " + filepath.Base(whole)
}

// List implements Source.
func (f Folder) List(context.Context) ([]string, error) {
	files, err := f.files()
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// errTwoFiles says that two files stand for one state.
var errTwoFiles = errors.New("stands for the same state as another file")

// files returns the path of each state's file, by the state's name.
func (f Folder) files() (map[string]string, error) {
	found := map[string]string{}
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(file string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && entry.Name() == ".terraform": // of the backend, not of resources
			return fs.SkipDir
		case !entry.Type().IsRegular() || !strings.HasSuffix(file, stateEnd):
			return nil
		}
		name := nameOfFile(file)
		if _, twice := found[name]; twice {
			return &fs.PathError{Op: "read", Path: file, Err: errTwoFiles}
		}
		found[name] = file
		return nil
	})
	return found, err
}

func nameOfFile(file string) string {
	name := strings.TrimSuffix(file, stateEnd)
	if folder, last := path.Split(name); last == "terraform" && folder != "" {
		name = strings.TrimSuffix(folder, "/")
	}
	parts := strings.Split(name, "/")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return part == "terraform.tfstate.d" }), "/")
}

// Versions implements Source. The backup that clients leave beside a file is the version before.
func (f Folder) Versions(_ context.Context, name string) iter.Seq2[Version, error] {
	files, err := f.files()
	if err != nil {
		return failed(err)
	}
	file, ok := files[name]
	if !ok {
		return failed(ErrNone)
	}
	return func(yield func(Version, error) bool) {
		for _, one := range []string{file + backupEnd, file} {
			version, err := f.read(one)
			if one != file && (errors.Is(err, fs.ErrNotExist) || err == nil && len(version.Body) == 0) {
				continue
			}
			if !yield(version, err) || err != nil {
				return
			}
		}
	}
}

func (f Folder) read(file string) (Version, error) {
	root, err := os.OpenRoot(f.root)
	if err != nil {
		return Version{}, err
	}
	defer root.Close()
	opened, err := root.Open(file)
	if err != nil {
		return Version{}, err
	}
	defer opened.Close()
	info, err := opened.Stat()
	if err != nil {
		return Version{}, err
	}
	body, err := readAll(opened)
	return Version{At: info.ModTime(), Label: file, Body: body}, err
}
