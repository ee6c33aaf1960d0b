package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/sqlitedb"
)

// File is one of a moment.
type File struct {
	Name    string
	Size    int64
	Content io.Reader
}

// Moment is what a folder had at one moment, for one reading. The caller closes it.
type Moment struct {
	At    time.Time
	Files []File
	// Stream is something whose length nobody knows before it is read: it is kept in files of up to streamSize, whose
	// names are StreamName and a number. nil for none.
	Stream io.Reader
	ends   []func() error
}

// Folder says what belongs to a backup.
type Folder struct {
	Dir    string // of the server's settings
	Outbox string // where the outbox of uploads is, if not there
	// Others are files that are kept elsewhere, by their names in the backup. They have to be there.
	Others map[string]string
	// Before is the index of the backup before, or nil. A database that it has must not have gone.
	Before *Index
	// Elsewhere are databases that are not in the folder, whatever is there by their names.
	Elsewhere []string
	// Unreadable is told of files that can't be read, or are missed, which are left out then; nil for who wants all.
	Unreadable func(name string, err error)
}

// The databases of a folder. What others refer to comes last: should somebody write while the moments are
// fixed, a run may be missing whose version is there, never the other way round. The index of resources is none
// of them: it is in memory.
func databases() []string {
	return []string{outboxName, "notices.db", "uploads.db", "runs.db", statesName}
}

const (
	outboxName = "outbox.db"
	statesName = "state.db"
)

// small are files that are written whole.
func small() []string { return []string{"last-use.json", folder.DatabasesName} }

// Fix fixes the moment. It is made while the server holds its writers back, and read after.
func (f Folder) Fix(ctx context.Context, now time.Time) (_ *Moment, err error) {
	m := &Moment{At: now.UTC()}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.Close())
		}
	}()
	if err := f.others(ctx, m); err != nil {
		return nil, err
	}
	before, err := f.uploads()
	if err != nil {
		return nil, err
	}
	if err := f.databases(ctx, m); err != nil {
		return nil, err
	}
	if err := m.uploads(f, before); err != nil {
		return nil, err
	}
	slices.SortFunc(m.Files, func(a, b File) int { return strings.Compare(a.Name, b.Name) })
	return m, nil
}

// others has files that are read as they are now.
func (f Folder) others(ctx context.Context, m *Moment) error {
	for name, path := range f.Others {
		err := m.whole(name, path)
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("%s is missing: there is no %s, which the settings name", name, path)
		}
		if err := f.passOver(ctx, name, err); err != nil {
			return err
		}
	}
	for _, name := range small() {
		err := m.whole(name, filepath.Join(f.Dir, name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

// passOver tells of a file that can't be read, or returns the error for who wants all.
func (f Folder) passOver(ctx context.Context, name string, err error) error {
	if err == nil || f.Unreadable == nil || ctx.Err() != nil {
		return err
	}
	f.Unreadable(name, err)
	return nil
}

func (f Folder) databases(ctx context.Context, m *Moment) error {
	list, _, err := folder.ReadDatabases(f.Dir)
	if err != nil {
		return err
	}
	some := false
	for _, name := range databases() {
		if slices.Contains(f.Elsewhere, name) {
			continue
		}
		dir := f.Dir
		if name == outboxName && f.Outbox != "" {
			dir = f.Outbox
		}
		path := filepath.Join(dir, name)
		there := folder.HasBytes(path)
		some = some || there
		var err error
		switch {
		case there:
			err = m.database(ctx, path)
		case name == statesName && !some && !folder.HasBytes(walOf(path)):
			return fmt.Errorf("%s has no database, so no server has kept anything there; is storage.path (STORAGE_PATH) right?",
				dir)
		default:
			err = f.missed(name, path, slices.Contains(list.Made, name))
		}
		if err := f.passOver(ctx, name, err); err != nil {
			return err
		}
	}
	return nil
}

// missed says why a database can't be without its file, or with an empty one.
func (f Folder) missed(name, path string, listed bool) error {
	had := false
	if f.Before != nil {
		_, had = f.Before.Files[name]
	}
	switch {
	case folder.HasBytes(walOf(path)):
		return fmt.Errorf("%s is missing or empty, and what was written to it last is there still: keep %s", name, walOf(path))
	case name == statesName:
		return fmt.Errorf("%s, which has all states, is missing or empty, and other databases are there", name)
	case listed && !(name == "uploads.db" && folder.HasBytes(path+".saved")):
		return fmt.Errorf("%s is missing or empty, and %s says that the folder had it", name, folder.DatabasesName)
	case had:
		return fmt.Errorf("%s is missing or empty, and is in the backup before; where that is right, make one of all, "+
			"without --since", name)
	}
	return nil
}

func walOf(path string) string { return path + "-wal" }

// whole has a small file as it is now.
func (m *Moment) whole(name, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	m.Files = append(m.Files, File{name, int64(len(text)), strings.NewReader(string(text))})
	return nil
}

func (m *Moment) database(ctx context.Context, path string) error {
	pinned, err := sqlitedb.File{Path: path}.Pin(ctx)
	if err != nil {
		return err
	}
	m.ends = append(m.ends, pinned.Close)
	m.Files = append(m.Files, File{filepath.Base(path), pinned.Size(), pinned.Reader(ctx)})
	return nil
}

// uploads are the files of records, which are written before their index is, and copies of them that retention is about
// to put in their places: the index may go by those already.
func (f Folder) uploads() (map[string]fs.FileInfo, error) {
	var paths []string
	for _, pattern := range []string{"*.csv", "*.csv.kept"} {
		some, err := filepath.Glob(filepath.Join(f.Dir, pattern))
		if err != nil {
			return nil, err
		}
		paths = append(paths, some...)
	}
	all := map[string]fs.FileInfo{}
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		if err == nil && info.Mode().IsRegular() {
			all[path] = info
		}
	}
	return all, nil
}

// errReplaced says that the moment can't be had just now.
var errReplaced = errors.New("uploads were being removed just now; nothing was written, try again")

// uploads opens the files, which only grow but for what retention does: that puts another one in the place.
// What is behind the length that the index has was acknowledged to nobody, and is set aside by a server.
func (m *Moment) uploads(f Folder, before map[string]fs.FileInfo) error {
	now, err := f.uploads()
	if err != nil {
		return err
	}
	for path, old := range before {
		if info, there := now[path]; !there || !os.SameFile(info, old) || info.Size() < old.Size() {
			return fmt.Errorf("%s: %w", filepath.Base(path), errReplaced)
		}
	}
	for path := range now {
		file, err := os.Open(path)
		if errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s: %w", filepath.Base(path), errReplaced)
		}
		if err != nil {
			return err
		}
		m.ends = append(m.ends, file.Close)
		info, err := file.Stat()
		if err != nil {
			return err
		}
		if old, had := before[path]; had && !os.SameFile(info, old) {
			return fmt.Errorf("%s: %w", filepath.Base(path), errReplaced)
		}
		m.Files = append(m.Files, File{filepath.Base(path), info.Size(), file})
	}
	return nil
}

// EndWith has something else let go with the moment.
func (m *Moment) EndWith(end func() error) { m.ends = append(m.ends, end) }

// Bytes is how much there is to read.
func (m *Moment) Bytes() (all int64) {
	for _, f := range m.Files {
		all += f.Size
	}
	return all
}

// Close lets the moment go.
func (m *Moment) Close() error {
	var errs []error
	for _, end := range m.ends {
		errs = append(errs, end())
	}
	m.ends = nil
	return errors.Join(errs...)
}
