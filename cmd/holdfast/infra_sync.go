package main

import (
	"context"
	"fmt"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/printable"
)

// syncedProject is what a sync did, as JSON shows it.
type syncedProject struct {
	Uploaded  []string `json:"uploaded"`
	Skipped   []string `json:"skipped"`
	CloudOnly []string `json:"cloud_only"`
}

// compare says how the folder differs from the project.
func (w *infraWork) compare(ctx context.Context) ([]projectFile, error) {
	there, err := w.client.ProjectChecksums(ctx, w.project)
	if err != nil {
		return nil, w.explain(err)
	}
	here, links, err := projectSums(w.flags.folder, there)
	if err != nil {
		return nil, err
	}
	for _, link := range links {
		w.a.note("%s%s is passed over: it is no regular file, or a link that leads out of the folder or in a circle", warning, link)
	}
	return compareProject(here, there), nil
}

// explain says of a project that is not there who has named it.
func (w *infraWork) explain(err error) error {
	if w.named.from != "" && client.IsCode(err, "workspace_not_found", "state_not_found") {
		return fmt.Errorf("the project %s, which %s names: %w", printable.Text(w.project), w.named.from, err)
	}
	return err
}

// sync brings the project what is new or other in the folder.
func (w *infraWork) sync(ctx context.Context) (syncedProject, error) {
	files, err := w.compare(ctx)
	if err != nil {
		return syncedProject{}, err
	}
	if len(files) == 0 {
		return syncedProject{}, errNothingHere
	}
	w.show(syncText(files, w.a.paint))
	w.tell(compareText(files))
	if err := w.upload(ctx, files); err != nil {
		return syncedProject{}, err
	}
	w.a.remember(w.flags.folder, w.named)
	w.show("\n" + uploadedText(files))
	w.tell(onlyThereText(files, w.program, w.paintBeside))
	said := syncedProject{Uploaded: []string{}, Skipped: []string{}, CloudOnly: []string{}}
	for _, f := range files {
		switch f.how {
		case onlyThere:
			said.CloudOnly = append(said.CloudOnly, f.name)
		case unchanged:
			said.Skipped = append(said.Skipped, f.name)
		default:
			said.Uploaded = append(said.Uploaded, f.name)
		}
	}
	return said, nil
}

// upload sends what differs. All of it is read before anything is sent, so that a file that can't
// be read leaves the project as it is.
func (w *infraWork) upload(ctx context.Context, files []projectFile) error {
	root, err := w.openFolder()
	if err != nil {
		return err
	}
	defer root.Close()
	var orders []api.ProjectFileOrder
	for _, f := range files {
		if f.how != modified && f.how != added {
			continue
		}
		content, err := readText(root, f.name)
		if err != nil {
			return err
		}
		orders = append(orders, api.ProjectFileOrder{Name: f.name, Content: content})
	}
	for i, order := range orders {
		if _, err := w.client.PutProjectFile(ctx, w.project, order); err != nil {
			return fmt.Errorf("%s, after %s of %d were uploaded: %w", printable.Text(order.Name),
				counted(int64(i), "file"), len(orders), err)
		}
	}
	return nil
}
