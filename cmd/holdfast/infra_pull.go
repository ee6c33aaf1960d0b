package main

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/ignore"
	"github.com/holdfast/holdfast/internal/printable"
)

func newInfraPullCommand(a *app) *cobra.Command {
	return a.ofInfra(&cobra.Command{
		Use:   "pull",
		Short: "Bring a project's files into the folder",
		Long: `Compare the folder with the project by checksums, and write the files that differ or are missing.
It asks before it writes over files; elsewhere than on a terminal that needs --yes. Files that are
only in the folder stay.`,
		Example: "  holdfast infra pull\n  holdfast infra pull --project-id prod/network --yes",
	}, func(ctx context.Context, w *infraWork) error { return w.pull(ctx) })
}

// pulledProject is what a pull did, as JSON shows it.
type pulledProject struct {
	Downloaded []string `json:"downloaded"`
	Skipped    []string `json:"skipped"`
	LocalOnly  []string `json:"local_only"`
}

func (w *infraWork) pull(ctx context.Context) error {
	contents, err := w.download(ctx)
	if err != nil {
		return err
	}
	files, err := w.compareContents(contents)
	if err != nil {
		return err
	}
	w.show(pullText(files, w.a.paint))
	if n := countFiles(files, modified); n > 0 {
		question := fmt.Sprintf("Write over %s in %s?", counted(int64(n), "file"), w.flags.folder)
		if err := w.a.confirm(ctx, w.flags.yes, question); err != nil {
			return err
		}
	}
	if err := w.write(files, contents); err != nil {
		return err
	}
	w.a.remember(w.flags.folder, w.named)
	w.show("\n" + downloadedText(files))
	if w.flags.asJSON {
		return showJSON(w.a.stdout, pulledOf(files))
	}
	return nil
}

func pulledOf(files []projectFile) pulledProject {
	said := pulledProject{Downloaded: []string{}, Skipped: []string{}, LocalOnly: []string{}}
	for _, f := range files {
		switch f.how {
		case added:
			said.LocalOnly = append(said.LocalOnly, f.name)
		case unchanged:
			said.Skipped = append(said.Skipped, f.name)
		default:
			said.Downloaded = append(said.Downloaded, f.name)
		}
	}
	return said
}

// download returns the project's files, short of those that no configuration has: what git and the
// tools keep for themselves is not for a server to write.
func (w *infraWork) download(ctx context.Context) (map[string]string, error) {
	pulled, err := w.client.PullProject(ctx, w.project)
	if err != nil {
		return nil, w.explain(err)
	}
	contents, own := map[string]string{}, ignore.Standard()
	for _, f := range pulled.Files {
		if !filepath.IsLocal(filepath.FromSlash(f.Name)) || f.Name == projectFileName || inOwn(own, f.Name) {
			w.a.note("%s%s is not written: it is no place for a project's file", warning, f.Name)
			continue
		}
		if contents[f.Name], err = contentOf(f); err != nil {
			return nil, err
		}
	}
	return contents, nil
}

// inOwn reports whether a file, or a folder that it is in, is on the list.
func inOwn(own *ignore.List, name string) bool {
	for i, r := range name {
		if r == '/' && own.Match(name[:i], true) {
			return true
		}
	}
	return own.Match(name, false)
}

func contentOf(f api.ProjectPulled) (string, error) {
	if f.Base64 == "" {
		return f.Content, nil
	}
	content, err := base64.StdEncoding.DecodeString(f.Base64)
	if err != nil {
		return "", fmt.Errorf("%s: %w", printable.Text(f.Name), api.ErrForeign)
	}
	return string(content), nil
}

// compareContents says how the folder differs from what was downloaded. What stands in the place of
// a file, whatever it is, would be written over.
func (w *infraWork) compareContents(contents map[string]string) ([]projectFile, error) {
	there := map[string]string{}
	for name, content := range contents {
		there[name] = sumOf(content)
	}
	here, _, err := projectSums(w.flags.folder, there)
	if err != nil {
		return nil, err
	}
	root, err := w.openFolder()
	if err != nil {
		return nil, err
	}
	defer root.Close()
	files := compareProject(here, there)
	for i, f := range files {
		if f.how != onlyThere {
			continue
		}
		if _, err := root.Lstat(filepath.FromSlash(f.name)); err == nil {
			files[i].how = modified
		}
	}
	slices.SortStableFunc(files, func(a, b projectFile) int { // what stays as it is comes last
		return cmp.Compare(countFiles([]projectFile{a}, added), countFiles([]projectFile{b}, added))
	})
	return files, nil
}

func (w *infraWork) write(files []projectFile, contents map[string]string) error {
	root, err := w.openFolder()
	if err != nil {
		return err
	}
	defer root.Close()
	done := 0
	for _, f := range files {
		if f.how != modified && f.how != onlyThere {
			continue
		}
		if err := writeText(root, f.name, contents[f.name]); err != nil {
			return fmt.Errorf("after %s: %w", counted(int64(done), "file"), err)
		}
		done++
	}
	return nil
}
