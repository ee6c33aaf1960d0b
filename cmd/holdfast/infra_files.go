package main

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/internal/folder"
)

// compareProject says how the files of a folder differ from those of a project, by their SHA-256.
// Those that the project has come first, then the new ones, then those that only it has.
func compareProject(here, there map[string]string) []projectFile {
	var files []projectFile
	for name, sum := range here {
		f := projectFile{name: name}
		if was, known := there[name]; !known {
			f.how = added
		} else if was != sum {
			f.how = modified
		}
		files = append(files, f)
	}
	for name := range there {
		if _, known := here[name]; !known {
			files = append(files, projectFile{name: name, how: onlyThere})
		}
	}
	order := map[change]int{added: 1, onlyThere: 2}
	slices.SortFunc(files, func(a, b projectFile) int {
		return cmp.Or(cmp.Compare(order[a.how], order[b.how]), strings.Compare(a.name, b.name))
	})
	return files
}

// configurationEndings are those of the files that a project consists of.
var configurationEndings = [...]string{".tf", ".tf.json", ".tofu", ".tofu.json"}

// isConfiguration reports whether a file is synced though the project doesn't have it yet.
func isConfiguration(name string) bool {
	return slices.ContainsFunc(configurationEndings[:], func(end string) bool { return strings.HasSuffix(name, end) })
}

// projectSums are the SHA-256 of a folder's files that belong to a project: those of the tools'
// languages, and what the project has beside them. links are the files that were passed over,
// because they are not regular.
func projectSums(dir string, there map[string]string) (sums map[string]string, links []string, err error) {
	files, links, err := folder.Read(dir)
	if err != nil {
		return nil, nil, err
	}
	sums = map[string]string{}
	for _, f := range files {
		if _, known := there[f.Path]; known || isConfiguration(f.Path) {
			sums[f.Path] = f.SHA256
		}
	}
	links = slices.DeleteFunc(links, func(name string) bool { return !isConfiguration(name) })
	return sums, links, nil
}

// maxProjectText is more than the file of a project may have; the server says how much that is.
const maxProjectText = 64 << 20

// readText reads a file of a project, which has to be text.
func readText(root *os.Root, name string) (string, error) {
	f, err := root.Open(filepath.FromSlash(name))
	if err != nil {
		return "", err
	}
	defer f.Close()
	content, err := io.ReadAll(io.LimitReader(f, maxProjectText+1))
	if err != nil {
		return "", err
	}
	if len(content) > maxProjectText {
		return "", fmt.Errorf("%s is too large for a file of a project", name)
	}
	if !utf8.Valid(content) {
		return "", fmt.Errorf("%s is no text, and this command brings text only: see `holdfast config push`", name)
	}
	return string(content), nil
}

// writeText writes a file beside its place first, so that it is there whole or as it was.
func writeText(root *os.Root, name, content string) error {
	name = filepath.FromSlash(name)
	if dir := filepath.Dir(name); dir != "." {
		if err := root.MkdirAll(dir, 0o755); err != nil {
			return err
		}
	}
	mode := fs.FileMode(0o644)
	if info, err := root.Stat(name); err == nil {
		mode = info.Mode().Perm()
	}
	temporary := name + ".holdfast-pull"
	err := root.WriteFile(temporary, []byte(content), mode)
	if err == nil {
		err = root.Rename(temporary, name)
	}
	if err != nil {
		return errors.Join(err, ignoreMissing(root.Remove(temporary)))
	}
	return nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// sumOf is the SHA-256 of a content, as projects have it.
func sumOf(content string) string {
	sum := sha256.Sum256([]byte(content))
	return hex.EncodeToString(sum[:])
}
