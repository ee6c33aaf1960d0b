package main

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/folder"
	"github.com/holdfast/holdfast/internal/printable"
)

// change is how a file of a folder differs from the server's.
type change int

const (
	unchanged change = iota
	modified
	added
	onlyThere // at the server
)

// fileChange is a file of a folder, of a snapshot, or of both.
type fileChange struct {
	path          string
	how           change
	before, after api.SnapshotFile // at the server, in the folder
}

// folderChanges is a folder beside a snapshot.
type folderChanges struct {
	folder string
	there  api.SnapshotFiles // of the workspace; without a number where it has none yet
	files  []fileChange      // by path
	links  []string          // that were passed over
}

func (c *folderChanges) count(how change) (n int) {
	for _, f := range c.files {
		if f.how == how {
			n++
		}
	}
	return n
}

// compareFolder reads a folder and asks for a snapshot, the newest for the empty text.
func (a *app) compareFolder(ctx context.Context, c *client.Client, name, dir, which string) (*folderChanges, error) {
	changes := &folderChanges{folder: dir}
	here, links, err := folder.Read(dir)
	if err != nil {
		return nil, err
	}
	changes.links = links
	changes.there, err = c.Snapshot(ctx, name, which)
	if err != nil && (which != "" || !client.IsCode(err, "snapshot_not_found")) {
		return nil, err
	}
	there := map[string]api.SnapshotFile{}
	for _, f := range changes.there.Files {
		there[f.Path] = f
	}
	for _, f := range here {
		was, known := there[f.Path]
		one := fileChange{path: f.Path, before: was, after: f}
		switch {
		case !known:
			one.how = added
		case was.SHA256 != f.SHA256 || was.Executable != f.Executable:
			one.how = modified
		}
		changes.files = append(changes.files, one)
		delete(there, f.Path)
	}
	for path, f := range there {
		changes.files = append(changes.files, fileChange{path: path, how: onlyThere, before: f})
	}
	slices.SortFunc(changes.files, func(a, b fileChange) int { return strings.Compare(a.path, b.path) })
	return changes, nil
}

// unifiedDiff shows a file that differs line by line, if it is a text.
func unifiedDiff(f fileChange, before, after []byte) []byte {
	from, to := "a/"+f.path, "b/"+f.path
	switch f.how {
	case added:
		from = "/dev/null"
	case onlyThere:
		to = "/dev/null"
	}
	if bytes.Equal(before, after) {
		return fmt.Appendf(nil, "mode of %s differs\n", printable.Text(f.path))
	}
	if !utf8.Valid(before) || !utf8.Valid(after) {
		return fmt.Appendf(nil, "Files %s and %s differ, and are not compared line by line\n", printable.Text(from),
			printable.Text(to))
	}
	_, text, _ := bytes.Cut(diff.Diff(from, before, to, after), []byte("\n")) // without its line of the command
	return text
}
