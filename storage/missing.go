package storage

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/auth/lastuse"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/folder"
)

// RefuseMissing refuses a folder that lacks a database which it had: made anew, it would be served as if nothing had
// ever been kept in it. A folder lists what it has in folder.DatabasesName. One without a list has lost a database
// where others, records of uploads or the last uses of keys are there. With anew such databases are made.
//
// The caller calls opened once all databases are open, so that the list has them.
func RefuseMissing(settings configs.Settings, anew bool) (opened func() error, err error) {
	dir := settings.Storage.Path
	list, listed, err := folder.ReadDatabases(dir)
	if err != nil {
		return nil, err
	}
	paths := databasePaths(settings)
	var missing, making []string
	for name, path := range paths {
		if folder.HasBytes(path) || name == "uploads.db" && folder.HasBytes(path+".saved") {
			continue
		}
		making = append(making, name)
		if !slices.Contains(list.Making, name) && (slices.Contains(list.Made, name) || !listed && isUsed(dir)) {
			missing = append(missing, path)
		}
	}
	slices.Sort(missing)
	if len(missing) > 0 && !anew {
		return nil, fmt.Errorf("%s is missing or empty, and other files of %s say that it was there: is the volume mounted, "+
			"and the copy or the restored backup whole? Put it back as it was; only where all that was in it is to be given "+
			"up, `holdfast serve --make-missing` makes it anew", strings.Join(missing, ", "), dir)
	}
	if len(making) > 0 {
		slices.Sort(making)
		list.Making = making
		list.Made = slices.DeleteFunc(list.Made, func(name string) bool { return slices.Contains(making, name) })
		if err := folder.Make(dir); err != nil {
			return nil, err
		}
		if err := list.Write(dir); err != nil {
			return nil, err
		}
	}
	return func() error {
		made := slices.Clone(list.Made)
		for name, path := range paths {
			if folder.HasBytes(path) && !slices.Contains(made, name) {
				made = append(made, name)
			}
		}
		if len(list.Making) == 0 && len(made) == len(list.Made) {
			return nil
		}
		return folder.Databases{Made: made}.Write(dir)
	}, nil
}

// databasePaths are the databases that a server with these settings has in files, by name: those which it can't
// make again from others.
func databasePaths(settings configs.Settings) map[string]string {
	in := func(name string) string { return filepath.Join(settings.Storage.Path, name) }
	all := map[string]string{}
	if settings.State.Storage == configs.SQLite {
		all["state.db"] = in("state.db")
	}
	if settings.Runs.Storage == configs.SQLite && settings.State.Storage != configs.Memory {
		all["runs.db"] = in("runs.db")
	}
	switch settings.Storage.Type {
	case configs.Dual:
		all["outbox.db"] = filepath.Join(cmp.Or(settings.Storage.OutboxPath, settings.Storage.Path), "outbox.db")
		fallthrough
	case configs.CSV:
		all["uploads.db"] = in("uploads.db")
	}
	return all
}

// isUsed reports whether a server has kept something in a folder.
func isUsed(dir string) bool {
	for _, name := range []string{"state.db", "runs.db", "uploads.db", "outbox.db", "notices.db", lastuse.FileName} {
		if folder.HasBytes(filepath.Join(dir, name)) {
			return true
		}
	}
	uploads, err := filepath.Glob(filepath.Join(dir, "*.csv"))
	return err != nil || len(uploads) > 0
}
