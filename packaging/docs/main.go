// Docs copies what there is to read into a folder, as it is packed with the program:
//
//	docs SOURCES FOLDER VERSION
//
// Links that lead to what is not packed, such as sources, lead into the repository of that version.
package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
)

const repository = "https://github.com/holdfast/holdfast/"

// packed are the files and folders, beside those that scripts/packages.sh brings itself.
func packed() []string {
	return []string{"README.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "LICENSE", "docs", "packaging/nodes",
		"packaging/systemd", "api/openapi.json", "configs/holdfast.cfg.example", "auth.cfg.example"}
}

func main() {
	if len(os.Args) != 4 {
		fail(fmt.Errorf("usage: docs SOURCES FOLDER VERSION"))
	}
	sources, folder, version := os.Args[1], os.Args[2], os.Args[3]
	for _, name := range packed() {
		fail(filepath.WalkDir(filepath.Join(sources, name), func(from string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			relative, err := filepath.Rel(sources, from)
			if err != nil {
				return err
			}
			return copyFile(from, folder, filepath.ToSlash(relative), version)
		}))
	}
}

func copyFile(from, folder, name, version string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	if path.Ext(name) == ".md" {
		text = []byte(linked(string(text), name, version))
	}
	to := filepath.Join(folder, name)
	if err := os.MkdirAll(filepath.Dir(to), 0o755); err != nil {
		return err
	}
	return os.WriteFile(to, text, 0o644)
}

// linked has the links of a page that lead out of what is packed lead into the repository.
func linked(text, name, version string) string {
	return regexp.MustCompile(`\]\([^)\s]+\)`).ReplaceAllStringFunc(text, func(link string) string {
		target := link[len("](") : len(link)-1]
		file, section, _ := strings.Cut(target, "#")
		if file == "" || strings.Contains(file, ":") {
			return link
		}
		file = path.Join(path.Dir(name), file)
		for _, known := range packed() {
			if file == known || strings.HasPrefix(file, known+"/") {
				return link
			}
		}
		if section != "" {
			section = "#" + section
		}
		return "](" + repository + "blob/" + version + "/" + file + section + ")"
	})
}

func fail(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "docs:", err)
		os.Exit(1)
	}
}
