package tools

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/go-version"

	"github.com/holdfast/holdfast/fault"
)

// rules collects what limits the version.
func (w Want) rules() ([]Rule, error) {
	var rules []Rule
	if w.Constraint != "" {
		rule, err := constraintRule("the workspace", w.Constraint)
		if err != nil {
			return nil, err
		}
		rules = append(rules, rule)
	}
	if w.Files == nil {
		return rules, nil
	}
	dir := path.Clean(w.Directory)
	if !fs.ValidPath(dir) {
		return nil, fault.New(fault.ToolConstraintInvalid, "%.255q is no directory of a configuration", w.Directory)
	}
	if rule, found, err := versionFile(w.Files, dir, w.Tool.versionFile()); err != nil {
		return nil, err
	} else if found {
		rules = append(rules, rule)
	}
	if w.Tool == Terragrunt {
		return rules, nil // required_version is about the tool that it calls
	}
	required, err := requiredVersions(w.Files, dir, w.Tool)
	return append(rules, required...), err
}

// versionFile reads the version file of a directory, or else of the nearest one above it.
func versionFile(files fs.FS, dir, name string) (Rule, bool, error) {
	for {
		file := path.Join(dir, name)
		data, err := readSmall(files, file, maxVersionFile)
		switch {
		case err == nil:
			rule, found, err := versionFileRule(file, data)
			return rule, found, err
		case !errors.Is(err, fs.ErrNotExist):
			return Rule{}, false, err
		case dir == ".":
			return Rule{}, false, nil
		}
		dir = path.Dir(dir)
	}
}

const (
	maxVersionFile = 4 << 10
	latest         = "latest"
	latestAllowed  = "latest-allowed"
)

// versionFileRule understands what version managers do: a version, a constraint, latest,
// latest-allowed, and latest: followed by a regular expression. Comments begin with #.
func versionFileRule(file string, data []byte) (Rule, bool, error) {
	text := firstLine(data)
	pattern, isPattern := strings.CutPrefix(text, latest+":")
	switch {
	case text == "" || text == latest || text == latestAllowed:
		return Rule{}, false, nil
	case isPattern && len(pattern) > maxConstraint:
		return Rule{}, false, fault.New(fault.ToolConstraintInvalid, "%s: the expression is longer than %d characters", file,
			maxConstraint)
	case isPattern:
		expression, err := regexp.Compile(pattern)
		if err != nil {
			return Rule{}, false, fault.New(fault.ToolConstraintInvalid, "%s: %q is no regular expression", file, pattern)
		}
		return Rule{Source: file, Text: text,
			fits: func(v *version.Version) bool { return expression.MatchString(v.String()) }}, true, nil
	}
	rule, err := constraintRule(file, strings.TrimPrefix(text, "v"))
	return rule, true, err
}

func firstLine(data []byte) string {
	lines := bufio.NewScanner(bytes.NewReader(data))
	for lines.Scan() {
		text, _, _ := strings.Cut(lines.Text(), "#")
		if text = strings.TrimSpace(text); text != "" {
			return text
		}
	}
	return ""
}

// readSmall reads a file of a configuration. One larger than limit is a fault.
func readSmall(files fs.FS, name string, limit int64) (data []byte, err error) {
	info, err := fs.Lstat(files, name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err != nil || !info.Mode().IsRegular() { // nor a link: it may lead elsewhere
		return nil, fault.Wrap(err, fault.ToolConstraintInvalid, "%s is no file", name)
	}
	f, err := files.Open(name)
	if err != nil {
		return nil, fault.Wrap(err, fault.ToolConstraintInvalid, "%s can't be read", name)
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	data, err = io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s of the configuration: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, fault.New(fault.ToolConstraintInvalid, "%s is larger than %d bytes", name, limit)
	}
	return data, nil
}
