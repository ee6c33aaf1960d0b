package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

const (
	// projectFileName is the file in a folder that remembers which project the folder is of.
	projectFileName = ".infra"
	envProject      = "HOLDFAST_PROJECT_ID"
	// maxProjectFile bounds what is read of it.
	maxProjectFile = 64 << 10
)

// project is what a folder belongs to, and who has said so.
type project struct {
	id string
	// from is the file or the variable that names it; empty for the command line.
	from string
}

// projectOf returns the project of a folder: what the flag says, else the environment, else the
// folder's own file.
func (a *app) projectOf(folder, flag string) (project, error) {
	if flag != "" {
		return project{id: flag}, nil
	}
	if id := a.getenv(envProject); id != "" {
		return project{id: id, from: envProject}, nil
	}
	file := filepath.Join(folder, projectFileName)
	id, err := readProjectFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return project{}, usagef("which project? Say --project-id ID once, which %s then remembers, or set %s",
			file, envProject)
	}
	return project{id: id, from: file}, err
}

// readProjectFile reads the one line of the file that counts; a shell can read the same file.
func readProjectFile(file string) (id string, err error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxProjectFile))
	if err != nil {
		return "", err
	}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if !ok || name != envProject {
			return "", usagef("%s:%d: not %s=…", file, number, envProject)
		}
		id = strings.Trim(value, `"'`)
	}
	if id == "" {
		return "", usagef("%s: there is no line %s=…", file, envProject)
	}
	return id, nil
}

// remember notes a project that the command line has named in the folder's file, unless there is
// one already. It is for the next time, so that it fails is said and no more.
func (a *app) remember(folder string, p project) {
	if p.from != "" || strings.ContainsAny(p.id, "\r\n\"'") {
		return
	}
	file := filepath.Join(folder, projectFileName)
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return
	}
	if err == nil {
		_, err = fmt.Fprintf(f, "%s=%s\n", envProject, p.id)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		a.note("%s can't be written, so say --project-id next time too: %v", file, err)
		return
	}
	a.note("%s remembers the project %s.", file, p.id)
}
