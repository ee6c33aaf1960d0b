package gitmirror

import (
	"context"
	"path"
	"strings"
)

const (
	maxLinks   = 32      // that are followed for one path
	maxLinkEnd = 4 << 10 // bytes of what a link says
)

// follow returns what is at a path, with links in any of its folders followed. Nothing outside of the commit is
// ever looked at. A folder is an Entry with only Path and Mode.
func (t *Tree) follow(ctx context.Context, name string) (Entry, error) {
	at, rest, links := "", name, 0
	for rest != "" {
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		next := path.Join(at, segment)
		switch {
		case segment == "" || segment == ".":
			continue
		case segment == "..":
			if at == "" {
				return Entry{}, t.leadsOut(name)
			}
			if at = path.Dir(at); at == "." {
				at = ""
			}
			continue
		}
		e, ok := t.Entry(next)
		if !ok || e.Mode&typeBits != Symlink {
			at = next
			continue
		}
		if links++; links > maxLinks {
			return Entry{}, newError(Hostile, "%.200q is a link that leads to itself, or by too many others", name)
		}
		to, err := t.content(ctx, e, maxLinkEnd)
		if err != nil {
			return Entry{}, err
		}
		if strings.HasPrefix(string(to), "/") || strings.ContainsRune(string(to), 0) {
			return Entry{}, t.leadsOut(name)
		}
		rest = string(to) + "/" + rest // from the folder that the link is in
	}
	return t.found(at, name)
}

func (t *Tree) found(at, name string) (Entry, error) {
	if e, ok := t.Entry(at); ok {
		return e, nil
	}
	if at == "" || len(t.Under(at)) > 0 {
		return Entry{Path: at, Mode: Folder}, nil
	}
	return Entry{}, newError(NotThere, "there is no %.200q in the commit", name)
}

func (t *Tree) leadsOut(name string) error {
	return newError(Hostile, "%.200q is a link that leads out of the repository", name)
}
