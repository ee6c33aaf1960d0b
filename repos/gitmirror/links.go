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
	at, _, err := t.resolve(ctx, name)
	if err != nil {
		return Entry{}, err
	}
	return t.found(at, name)
}

// resolve returns the path that a path leads to, whether there is something or not, and the links that were followed.
func (t *Tree) resolve(ctx context.Context, name string) (to string, followed []string, err error) {
	at, rest := "", name
	for rest != "" {
		var segment string
		segment, rest, _ = strings.Cut(rest, "/")
		next := path.Join(at, segment)
		switch {
		case segment == "" || segment == ".":
			continue
		case segment == "..":
			if at == "" {
				return "", nil, t.leadsOut(name)
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
		if followed = append(followed, next); len(followed) > maxLinks {
			return "", nil, newError(Hostile, "%.200q is a link that leads to itself, or by too many others", name)
		}
		target, err := t.content(ctx, e, maxLinkEnd)
		if err != nil {
			return "", nil, err
		}
		if strings.HasPrefix(string(target), "/") || strings.ContainsRune(string(target), 0) {
			return "", nil, t.leadsOut(name)
		}
		rest = string(target) + "/" + rest // from the folder that the link is in
	}
	return at, followed, nil
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
