package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/elsewhere"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
)

// streamed writes a file as lines come, so that none but one of them is in memory.
func (l *leaving) streamed(path string, lines iter.Seq2[[]byte, error]) error {
	if l.dry {
		for _, err := range lines {
			if err != nil {
				return err
			}
		}
		return nil
	}
	next, stop := iter.Pull2(lines)
	defer stop()
	return l.file(elsewhere.ExportedFile{Path: path}, &lineReader{next: next})
}

// lineReader reads what comes line by line.
type lineReader struct {
	next func() ([]byte, error, bool)
	left []byte
}

// Read implements io.Reader.
func (r *lineReader) Read(into []byte) (int, error) {
	for len(r.left) == 0 {
		line, err, more := r.next()
		if err != nil {
			return 0, err
		}
		if !more {
			return 0, io.EOF
		}
		r.left = line
	}
	n := copy(into, r.left)
	r.left = r.left[n:]
	return n, nil
}

// uploads writes the records that were uploaded, where the server keeps any.
func (l *leaving) uploads() error {
	summary, err := l.client.Summary(l.ctx)
	if client.IsCode(err, "uploads_off") {
		return nil
	}
	if err != nil {
		return err
	}
	if l.dry {
		l.made.Records = summary.Count
		return nil
	}
	return l.streamed("uploads/records.csv", func(yield func([]byte, error) bool) {
		if !yield([]byte(csvrow.Header), nil) {
			return
		}
		var row []byte
		for r, err := range l.client.Records(client.RecordsQuery{}).All(l.ctx) {
			if err == nil {
				row, err = csvOf(row[:0], r)
			}
			l.made.Records++
			if !yield(row, err) || err != nil {
				return
			}
		}
	})
}

// csvOf appends a record as files of uploads have it.
func csvOf(to []byte, r api.Record) ([]byte, error) {
	at, err := time.Parse(time.RFC3339Nano, r.Timestamp)
	return csvrow.AppendRecord(to, inventory.Record{Timestamp: at, Org: r.OrgID, Resource: inventory.Resource{
		Provider: r.Data.Provider, Category: r.Data.Category, ResourceType: r.Data.ResourceType,
		ResourceName: r.Data.ResourceName, Attributes: r.Data.Attributes}}), err
}

// workspaces writes what they are set to, and all of their configurations.
func (l *leaving) workspaces() error {
	var all []api.Workspace
	var names []string
	for w, err := range l.client.Workspaces().All(l.ctx) {
		if client.IsCode(err, "runs_off") {
			return nil
		}
		if err != nil {
			return err
		}
		all, names = append(all, w), append(names, w.Name)
	}
	paths := elsewhere.FilePaths(names)
	for _, w := range all {
		err := l.workspace(w, "configurations/"+paths[w.Name])
		if client.IsCode(err, "workspace_not_found") {
			l.removed(elsewhere.RemovedFile{Path: "configurations/" + paths[w.Name]})
			continue
		}
		if err != nil {
			return fmt.Errorf("the workspace %s: %w", w.Name, err)
		}
	}
	return nil
}

func (l *leaving) workspace(w api.Workspace, folder string) error {
	variables, err := l.client.Variables(l.ctx, w.Name)
	if err != nil {
		return err
	}
	snapshots := []api.Snapshot{}
	for s, err := range l.client.Snapshots(w.Name, 0).All(l.ctx) {
		if err != nil {
			return err
		}
		kept, err := l.snapshot(w.Name, s, folder)
		if err != nil {
			return err
		}
		if kept {
			snapshots = append(snapshots, s)
			l.made.Configurations++
		}
	}
	return l.json(elsewhere.ExportedFile{Path: folder + "/workspace.json"}, struct {
		Workspace api.Workspace  `json:"workspace"`
		Variables api.Variables  `json:"variables"`
		Snapshots []api.Snapshot `json:"snapshots"`
	}{w, variables, snapshots})
}

// snapshot writes a configuration, unless it was removed since it was listed.
func (l *leaving) snapshot(workspace string, s api.Snapshot, folder string) (kept bool, err error) {
	if l.dry {
		return true, nil
	}
	which := fmt.Sprint(s.Number)
	path := fmt.Sprintf("%s/%s.tar.gz", folder, which)
	err = l.opened(path, func() (io.ReadCloser, error) { return l.client.OpenArchive(l.ctx, workspace, which) })
	if client.IsCode(err, "snapshot_not_found") {
		l.removed(elsewhere.RemovedFile{Path: path})
		return false, nil
	}
	return err == nil, err
}

func (l *leaving) opened(path string, open func() (io.ReadCloser, error)) error {
	from, err := open()
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return errors.Join(l.file(elsewhere.ExportedFile{Path: path}, from), from.Close())
}

// runs writes each run with what happened to it, and its logs.
func (l *leaving) runs() error {
	for r, err := range l.client.Runs(client.RunsQuery{}).All(l.ctx) {
		if client.IsCode(err, "runs_off") {
			return nil
		}
		if err != nil {
			return err
		}
		if !l.dry {
			err := l.run(r.ID)
			if client.IsCode(err, "run_not_found") {
				l.removed(elsewhere.RemovedFile{Path: "runs/" + elsewhere.FilePaths([]string{r.ID})[r.ID]})
				continue
			}
			if err != nil {
				return fmt.Errorf("the run %s: %w", r.ID, err)
			}
		}
		l.made.Runs++
	}
	return nil
}

func (l *leaving) run(id string) error {
	run, err := l.client.Run(l.ctx, id)
	if err != nil {
		return err
	}
	events := []api.RunEvent{}
	for e, err := range l.client.RunEvents(id, 0).All(l.ctx) {
		if err != nil {
			return err
		}
		events = append(events, e)
	}
	path := "runs/" + elsewhere.FilePaths([]string{id})[id]
	err = l.json(elsewhere.ExportedFile{Path: path + ".json"}, struct {
		Run    api.Run        `json:"run"`
		Events []api.RunEvent `json:"events"`
	}{run, events})
	if err != nil {
		return err
	}
	for _, stream := range []string{"plan", "apply"} {
		log, err := l.client.OpenRunLog(l.ctx, id, client.RunLogQuery{Stream: stream})
		if err != nil {
			return err
		}
		err = l.file(elsewhere.ExportedFile{Path: path + "." + stream + ".log"}, log)
		if err = errors.Join(err, log.Close()); err != nil {
			return err
		}
	}
	return nil
}

// audit writes the log, the newest entry first, as the server lists it.
func (l *leaving) audit() error {
	return l.streamed("audit.ndjson", func(yield func([]byte, error) bool) {
		for e, err := range l.client.Events(client.EventsQuery{}).All(l.ctx) {
			var line []byte
			if err == nil {
				line, err = json.Marshal(e)
			}
			l.made.Events++
			if !yield(append(line, '\n'), err) || err != nil {
				return
			}
		}
	})
}
