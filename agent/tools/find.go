package tools

import (
	"context"
	"errors"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/fault"
)

// Finding is one program that FindOnPath came across.
type Finding struct {
	Path string
	Tool Tool  // as it is in the store now, unless Err says why it isn't
	Err  error // a *fault.Error
}

// FindOnPath adds the tools that stand in the folders of a PATH, each under the version that
// it tells. Of programs with one name, each is looked at: version managers put several there.
// It fails only where the store does; a program that can't be added has its own error.
func (s *Store) FindOnPath(ctx context.Context, searched string) ([]Finding, error) {
	var all []Finding
	seen := map[string]bool{}
	for _, dir := range filepath.SplitList(searched) {
		if !filepath.IsAbs(dir) {
			continue // whatever folder the server runs in
		}
		for _, name := range Names() {
			path, err := filepath.EvalSymlinks(filepath.Join(dir, name.Binary()))
			if err != nil || seen[path] || !isProgram(path) {
				continue
			}
			seen[path] = true
			finding := s.find(ctx, name, path)
			if fault.Is(finding.Err, fault.StoreFull) || fault.Is(finding.Err, fault.StoreUnavailable) || ctx.Err() != nil {
				return all, errors.Join(finding.Err, ctx.Err())
			}
			all = append(all, finding)
		}
	}
	return all, nil
}

func (s *Store) find(ctx context.Context, name Name, path string) Finding {
	v, err := identify(ctx, path, name)
	if err != nil {
		return Finding{Path: path, Err: err}
	}
	tool, err := s.addFile(ctx, name, v, path, FromPath)
	return Finding{path, tool, err}
}

func isProgram(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0
}
