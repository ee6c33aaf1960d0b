package config

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/holdfast/holdfast/engine/diag"
)

// Fetcher brings modules that aren't in local folders.
type Fetcher interface {
	// Fetch returns a folder with the commit that a source names, which nobody changes while it is used.
	// What was fetched once is kept: a commit stays what it is.
	Fetch(source GitSource) (dir string, err error)
}

// GitSource is a module in a git repository, at one commit.
type GitSource struct {
	Repository string // the address to clone
	Ref        string // a commit by its whole name, or a tag
	Folder     string // within the repository, empty for its root
}

// ParseGit reads a module's source of the form git::ADDRESS//FOLDER?ref=REF. The ref is pinned: a commit or
// a tag has to be named.
func ParseGit(text string) (GitSource, error) {
	var g GitSource
	address, ok := strings.CutPrefix(text, "git::")
	if !ok {
		return g, fmt.Errorf("the source %q isn't supported", text)
	}
	u, err := url.Parse(address)
	if err != nil || u.Scheme == "" {
		return g, fmt.Errorf("the address of the repository can't be read: it is git::https://HOST/PATH?ref=TAG")
	}
	if u.User != nil && u.Scheme != "ssh" {
		return g, fmt.Errorf("the address of a repository has no credentials in it")
	}
	query := u.Query()
	g.Ref = query.Get("ref")
	query.Del("ref")
	if len(query) > 0 {
		return g, fmt.Errorf("of a git source only ref can be said")
	}
	if g.Ref == "" {
		return g, fmt.Errorf("the source %q isn't pinned", text)
	}
	if strings.HasPrefix(g.Ref, "-") || !regexp.MustCompile(`^[A-Za-z0-9._/+-]{1,200}$`).MatchString(g.Ref) {
		return g, fmt.Errorf("%.100q is no ref", g.Ref)
	}
	u.RawQuery = ""
	repository, folder, _ := strings.Cut(u.Path, "//")
	if folder != "" && (path.Clean(folder) != folder || strings.HasPrefix(folder, "../") || folder == "..") {
		return g, fmt.Errorf("the folder %q leads out of the repository", folder)
	}
	u.Path, g.Folder = repository, folder
	g.Repository = u.String()
	return g, nil
}

// fetch brings the module of a call that isn't in a local folder.
func (l *loader) fetch(call *Call) (string, error) {
	source, err := ParseGit(call.Source)
	if err != nil {
		hint := "modules come from local folders, whose sources begin with ./ or ../, and from git, with a pinned ref: " +
			"git::https://HOST/PATH//FOLDER?ref=TAG"
		return "", callError(call.Range, call, err).WithHint("%s", hint)
	}
	if l.fetcher == nil {
		return "", callError(call.Range, call, fmt.Errorf("modules of git can't be fetched here"))
	}
	dir, err := l.fetcher.Fetch(source)
	if err != nil {
		return "", callError(call.Range, call, fmt.Errorf("the module can't be fetched: %w", err))
	}
	return dir, nil
}

func callError(at hcl.Range, call *Call, err error) *diag.Error {
	e := diag.At(at, `module "`+call.Name+`"`, "%v", err)
	e.Err = err
	return e
}
