package gitmirror

import (
	"context"
	"path"
	"strings"
)

const (
	// maxSubmodules is how many a commit may have, with those within one another, and maxNesting how deep that goes.
	maxSubmodules = 100
	maxNesting    = 5
	// maxGitmodules is how large a .gitmodules may be.
	maxGitmodules = 256 << 10
)

// Module is another repository that a commit has at a path.
type Module struct {
	Path   string // from the root of the commit
	Commit string
	Remote Remote
}

// WithSubmodules returns the mirror as one whose trees, archives and changes go on in the submodules that
// FetchSubmodule has brought. It is there to be read: fetch into the mirror itself.
func (m *Mirror) WithSubmodules() *Mirror {
	o := m.o
	o.inside = true
	return &Mirror{folder: m.folder, o: o, one: m.one}
}

// Lacks returns the submodules of a commit that were not fetched yet, of a mirror with submodules. Those that are
// within others are known when these are there. at is where the repository itself is, which relative URLs go from.
// Kinds: those of Tree, AddressInvalid for a URL that can't be fetched from, and TooLarge for too many.
func (m *Mirror) Lacks(ctx context.Context, commit string, at Remote) ([]Module, error) {
	t, err := m.Tree(ctx, commit)
	if err != nil {
		return nil, err
	}
	defer func() { _ = t.Close() }()
	n := &nesting{t: t, remotes: map[string]Remote{"": at}, urls: map[string]map[string]string{}}
	var all []Module
	for _, e := range t.entries {
		if e.Mode&typeBits != Submodule {
			continue
		}
		remote, known, err := n.remote(ctx, e.Path)
		switch {
		case err != nil:
			return nil, inSubmodule(e.Path, err)
		case !known:
			continue // whoever reads it is told so
		case len(all)+len(t.roots) >= maxSubmodules:
			return nil, newError(TooLarge, "the commit has more than %d submodules, which is the limit", maxSubmodules)
		}
		all = append(all, Module{e.Path, e.Blob, remote})
	}
	return all, nil
}

// nesting knows where the submodules of a tree are.
type nesting struct {
	t       *Tree
	remotes map[string]Remote            // by the path of a submodule; that of the commit is empty
	urls    map[string]map[string]string // by the same path: what its .gitmodules says, by path
}

// remote returns where a submodule is, by what the repository says that it is in.
func (n *nesting) remote(ctx context.Context, at string) (Remote, bool, error) {
	if r, ok := n.remotes[at]; ok {
		return r, true, nil
	}
	root := n.t.rootOf(at)
	from, ok, err := n.remote(ctx, root)
	if err != nil || !ok {
		return Remote{}, false, err
	}
	urls, ok := n.urls[root]
	if !ok {
		if urls, err = n.t.gitmodules(ctx, root); err != nil {
			return Remote{}, false, err
		}
		n.urls[root] = urls
	}
	url, ok := urls[strings.TrimPrefix(strings.TrimPrefix(at, root), "/")]
	if !ok {
		return Remote{}, false, nil
	}
	r, err := from.follow(url, n.t.m.o.AllowHTTP)
	n.remotes[at] = r
	return r, err == nil, err
}

// rootOf is the path of the submodule that a path is in; empty for the commit itself.
func (t *Tree) rootOf(at string) string {
	for dir := path.Dir(at); dir != "."; dir = path.Dir(dir) {
		if t.roots[dir] {
			return dir
		}
	}
	return ""
}

// gitmodules reads the URLs of submodules by their paths. git itself reads the file, which includes no other there.
func (t *Tree) gitmodules(ctx context.Context, root string) (map[string]string, error) {
	e, ok := t.Entry(path.Join(root, ".gitmodules"))
	switch {
	case !ok || !e.Mode.IsFile():
		return nil, nil
	case e.Size > maxGitmodules:
		return nil, newError(TooLarge, "%.200q has %d bytes, and at most %d are read", e.Path, e.Size, maxGitmodules)
	}
	ctx, cancel := t.m.reading(ctx)
	defer cancel()
	out, err := t.m.output(ctx, "config", "--blob="+e.Blob, "--no-includes", "--null", "--list")
	if err != nil {
		return nil, newError(Hostile, "%.200q can't be read", e.Path)
	}
	paths, urls := map[string]string{}, map[string]string{}
	for entry := range strings.SplitSeq(out, "\x00") {
		key, value, _ := strings.Cut(entry, "\n")
		if name, ok := strings.CutSuffix(key, ".path"); ok && strings.HasPrefix(name, "submodule.") {
			paths[name] = strings.Trim(value, "/")
		} else if name, ok := strings.CutSuffix(key, ".url"); ok {
			urls[name] = value
		}
	}
	found := map[string]string{}
	for name, at := range paths {
		if url := urls[name]; url != "" {
			found[at] = url
		}
	}
	return found, nil
}

// follow returns where a submodule's URL leads, which may be relative.
func (r Remote) follow(url string, allowHTTP bool) (Remote, error) {
	if !strings.HasPrefix(url, "./") && !strings.HasPrefix(url, "../") {
		return ParseURL(url, allowHTTP)
	}
	r.Path = path.Join(r.Path, url)
	return r, r.check()
}

// SameServer says whether two addresses lead to the same server, by the same protocol: then the credentials of one may
// be shown for the other.
func (r Remote) SameServer(other Remote) bool {
	return r.Scheme == other.Scheme && r.Host == other.Host && r.Port == other.Port && r.User == other.User
}

// inSubmodule says of an error which submodule it is of.
func inSubmodule(at string, err error) error {
	kind := KindOf(err)
	if kind == "" {
		return err
	}
	return newError(kind, "the submodule %.200q: %s", at, err.Error())
}

// Inside returns the paths, and where one is that of a submodule all that is in it.
func (t *Tree) Inside(paths []string) []string {
	all := paths
	for _, p := range paths {
		if t.roots[p] {
			for _, e := range t.Under(p) {
				all = append(all, e.Path)
			}
		}
	}
	return all
}
