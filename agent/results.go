package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/api"
)

// resultsFolder is where, within the folder that the tool works in, other programs leave what they have found: steps of
// the plan, or whoever has pushed the configuration.
const resultsFolder = "holdfast-results"

const (
	maxResultFiles   = 20
	maxResultBytes   = 4 << 20 // of all of them
	maxResultEntries = 1000    // that are looked at
)

// keepResults brings what other programs have found to the server, masked, and what Infracost has said, if anything. It
// returns what keeps it from that: findings that are lost would let a plan through.
func (s *stage) keepResults(held context.Context, costs *api.OtherFile) *api.PhaseReport {
	found, err := s.results()
	if err != nil {
		r := failed(config, "what other programs have found can't be read: "+reason(err))
		return &r
	}
	if costs != nil {
		found.Files = append(found.Files, *costs)
	}
	if len(found.Files) == 0 {
		return nil
	}
	path := scratchIn(s.folder, artefactResults)
	err = writeFile(path, func(to *os.File) error { return json.NewEncoder(to).Encode(found) })
	if err == nil {
		err = s.upload(held, artefactResults, path)
	}
	if err != nil {
		r := refused(held, "the artefact "+artefactResults, err)
		return &r
	}
	return nil
}

// results reads the files of other programs.
func (s *stage) results() (found api.OtherResults, err error) {
	w, err := s.work()
	if err != nil {
		return found, err
	}
	left := int64(maxResultBytes)
	for _, within := range slices.Compact([]string{w.unit, w.tool}) { // Terragrunt's tool and steps may work in the second
		folder := filepath.Join(configIn(s.folder), filepath.FromSlash(within))
		names, err := s.resultNames(folder)
		if err != nil {
			return found, err
		}
		for _, name := range names {
			text, err := s.readResult(filepath.Join(folder, resultsFolder, name), left)
			if err != nil {
				return found, err
			}
			left -= int64(len(text))
			file := api.OtherFile{Name: name, Text: string(s.masker.Bytes(text))}
			if !slices.Contains(found.Files, file) { // it has copied what was pushed
				found.Files = append(found.Files, file)
			}
		}
	}
	return found, nil
}

// resultNames are the files that are read of a folder's, in their order. A folder that is a link is none.
func (s *stage) resultNames(folder string) (names []string, err error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	info, err := root.Lstat(resultsFolder)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, &unusable{resultsFolder + " is no folder"}
	}
	opened, err := root.Open(resultsFolder)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	entries, err := opened.ReadDir(maxResultEntries)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	for _, entry := range entries {
		if isResult(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	if len(entries) == maxResultEntries || len(names) > maxResultFiles {
		return nil, &unusable{fmt.Sprintf("%s has more than %d files", resultsFolder, maxResultFiles)}
	}
	slices.Sort(names)
	return names, nil
}

// isResult reports whether a file is one that is read, by its name.
func isResult(name string) bool {
	return strings.HasSuffix(name, ".sarif") || strings.HasSuffix(name, ".sarif.json") ||
		strings.HasPrefix(name, "infracost") && strings.HasSuffix(name, ".json")
}

// readResult reads a file of at most so many bytes.
func (s *stage) readResult(path string, most int64) ([]byte, error) {
	f, err := openRegular(s.folder, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = &unusable{fmt.Sprintf("the files in %s have more than %d MiB together", resultsFolder, maxResultBytes>>20)}
	}
	return text, err
}
