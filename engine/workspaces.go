package engine

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/internal/durable"
)

// DefaultWorkspace is the workspace that is always there.
const DefaultWorkspace = "default"

// Where the states of other workspaces are, and which one is selected, as the clients have it.
const (
	workspaceFolder = "terraform.tfstate.d"
	selectedFile    = ".terraform/environment"
)

// Workspaces lists the workspaces of a folder's local backend.
func Workspaces(dir string) ([]string, error) {
	all := []string{DefaultWorkspace}
	entries, err := os.ReadDir(filepath.Join(dir, workspaceFolder))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() && checkWorkspace(e.Name()) == nil {
			all = append(all, e.Name())
		}
	}
	return all, nil
}

// Selected is the workspace that is worked in.
func Selected(dir string) (string, error) {
	if name := os.Getenv("TF_WORKSPACE"); name != "" {
		return name, checkWorkspace(name)
	}
	text, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(selectedFile)))
	name := strings.TrimSpace(string(text))
	if errors.Is(err, fs.ErrNotExist) || err == nil && name == "" {
		return DefaultWorkspace, nil
	}
	if err != nil {
		return "", err
	}
	return name, checkWorkspace(name)
}

// Select has a workspace worked in from now on. A new one is made, one that is there is selected.
func Select(dir, name string, isNew bool) error {
	if err := checkWorkspace(name); err != nil {
		return err
	}
	all, err := Workspaces(dir)
	if err != nil {
		return err
	}
	switch there := slices.Contains(all, name); {
	case there && isNew:
		return &diag.Error{Category: diag.State, Summary: fmt.Sprintf("there is a workspace %q already", name)}
	case !there && !isNew:
		return &diag.Error{Category: diag.State, Summary: fmt.Sprintf("there is no workspace %q", name),
			Hint: "there are " + strings.Join(all, ", ")}
	}
	if isNew {
		if err := os.MkdirAll(filepath.Join(dir, workspaceFolder, name), 0o700); err != nil {
			return err
		}
	}
	path := filepath.Join(dir, filepath.FromSlash(selectedFile))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return durable.Write(path, name)
}

func checkWorkspace(name string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]{0,89}$`).MatchString(name) {
		return &diag.Error{Category: diag.Configuration, Summary: fmt.Sprintf("%.100q is no name of a workspace", name),
			Hint: "it is up to 90 letters, digits and . _ -, and begins with a letter, a digit or _"}
	}
	return nil
}
