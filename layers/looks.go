package layers

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"sync"

	"github.com/google/uuid"
	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/holdfast/holdfast/layers/relevance"
)

// looks are the indexes of the branches that were looked at last: they are made anew from the repositories.
type looks struct {
	mu  sync.Mutex
	all *lru.Cache[branch, *look]
}

type branch struct {
	org              uuid.UUID
	repository, name string
}

// look is what is known of a branch. Who uses it holds it.
type look struct {
	mu     sync.Mutex
	head   Commit
	index  *relevance.Index
	layers map[string]relevance.Layer // that the index is of, by name
	// commits are those from another commit on, with their verdicts.
	commits map[string][]judged
}

// judged is a commit with how many paths it changes, and the layers that these change.
type judged struct {
	Commit
	subject string
	paths   int
	found   map[string]relevance.Verdict
}

// maxLooks is how many branches are remembered: an index may take some tens of MiB.
const maxLooks = 8

func newLooks() *looks {
	all, _ := lru.New[branch, *look](maxLooks) // it fails for a size below 1
	return &looks{all: all}
}

func (l *looks) of(b branch) *look {
	l.mu.Lock()
	defer l.mu.Unlock()
	found, ok := l.all.Get(b)
	if !ok {
		found = &look{}
		l.all.Add(b, found)
	}
	return found
}

// news is what a branch has for a layer since the layer was looked at.
type news struct {
	head     Commit
	relevant Commit // the newest that is; empty for none
	why      string // head is, or is not, relevant
	commits  []CommitVerdict
	trouble  string // why there may be newer ones that nobody knows of; empty for nothing
	gone     bool   // the relevant commit, or one behind it, has taken the layer's configuration away
}

// look finds what a branch has for a layer.
func (s *Service) look(ctx context.Context, l Layer) (news, error) {
	head, trouble, err := s.Repositories.Head(ctx, l.Org, l.Settings.Repository, l.Settings.Branch)
	if err != nil || head.ID == l.Facts.Branch.ID {
		return news{head: head, trouble: trouble}, err
	}
	n, err := s.between(ctx, l, head)
	if err == nil && n.relevant.ID != "" {
		err = s.Repositories.Read(ctx, l.Org, l.Settings.Repository, head.ID, func(tree fs.FS) error {
			n.gone = !isLayer(tree, l.Settings.Path)
			return nil
		})
	}
	n.trouble = trouble
	return n, err
}

// between finds what the commits have for a layer since it was looked at, up to the head.
func (s *Service) between(ctx context.Context, l Layer, head Commit) (n news, err error) {
	n = news{head: head}
	if l.Facts.Branch.ID == "" {
		n.relevant, n.why = head, "it is the first commit that was looked at"
		n.commits = []CommitVerdict{{Commit: head, Relevant: true, Why: n.why}}
		return n, nil
	}
	k := s.looks.of(branch{l.Org, l.Settings.Repository, l.Settings.Branch})
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := s.refresh(ctx, k, l, head); err != nil {
		return news{}, err
	}
	all, err := s.since(ctx, k, l, head)
	if errors.Is(err, ErrApart) {
		n.relevant, n.why = head, "what it changes can't be told: the history was written anew, or it is far away"
		n.commits = []CommitVerdict{{Commit: head, Relevant: true, Why: n.why}}
		return n, nil
	}
	if err != nil {
		return news{}, err
	}
	for _, c := range all {
		v, ok := c.found[l.Name]
		if !ok {
			v.Why = relevance.Irrelevant(c.paths)
		}
		if v.Relevant && n.relevant.ID == "" {
			n.relevant, n.why = c.Commit, v.Why
		}
		n.commits = append(n.commits, CommitVerdict{c.Commit, c.subject, v.Relevant, v.Why})
	}
	if n.relevant.ID == "" && len(all) > 0 {
		n.why = n.commits[0].Why
	}
	return n, nil
}

// since returns the commits from the layer's on, judged.
func (s *Service) since(ctx context.Context, k *look, l Layer, head Commit) ([]judged, error) {
	from := l.Facts.Branch.ID
	if all, ok := k.commits[from]; ok {
		return all, nil
	}
	commits, err := s.Repositories.Between(ctx, l.Org, l.Settings.Repository, from, head.ID)
	if err != nil {
		return nil, err
	}
	all := make([]judged, len(commits))
	for i, c := range commits {
		all[i] = judged{c.Commit, c.Subject, len(c.Paths), k.index.Relevant(c.Paths)}
	}
	k.commits[from] = all
	return all, nil
}

// refresh makes the index that of the head, for the layers that there are. They are read once for a head, and again for
// a layer that is not as it was then: what a layer's step reads does not grow with how many others there are. Those
// that have changed meanwhile have it refreshed in their own steps.
func (s *Service) refresh(ctx context.Context, k *look, l Layer, head Commit) error {
	if k.index != nil && k.head == head && k.has(relevanceOf(l)) {
		return nil
	}
	layers, err := s.layersOf(ctx, l)
	if err != nil {
		return err
	}
	from, changed := k.index, []string(nil)
	if from != nil && k.head != head {
		if changed, err = s.Repositories.Differences(ctx, l.Org, l.Settings.Repository, k.head.ID, head.ID); err != nil {
			from = nil // it is read anew
		}
	}
	if from == nil {
		from = &relevance.Index{}
	}
	return s.Repositories.Read(ctx, l.Org, l.Settings.Repository, head.ID, func(tree fs.FS) error {
		index, err := from.Advance(ctx, tree, layers, changed)
		if err == nil {
			k.head, k.index, k.commits, k.layers = head, index, map[string][]judged{}, map[string]relevance.Layer{}
			for _, one := range layers {
				k.layers[one.Name] = one
			}
		}
		return err
	})
}

// has reports whether the index is of the layer as it is now.
func (k *look) has(l relevance.Layer) bool {
	was, there := k.layers[l.Name]
	return there && was.Path == l.Path && slices.Equal(was.Triggers, l.Triggers)
}

func relevanceOf(l Layer) relevance.Layer {
	return relevance.Layer{Name: l.Name, Path: l.Settings.Path, Triggers: l.Settings.Triggers}
}

// layersOf returns the layers of a layer's branch.
func (s *Service) layersOf(ctx context.Context, l Layer) (all []relevance.Layer, err error) {
	for after := ""; ; {
		page, err := s.Store.Layers(ctx, Query{Org: l.Org, Repository: l.Settings.Repository, After: after, Limit: 500})
		if err != nil {
			return nil, err
		}
		for _, one := range page {
			if one.Settings.Branch == l.Settings.Branch {
				all = append(all, relevanceOf(one))
			}
		}
		if len(page) < 500 {
			return all, nil
		}
		after = page[len(page)-1].Name
	}
}

// reads returns the folders and files of a commit that a layer's configuration is made of.
func (s *Service) reads(ctx context.Context, l Layer, commit string) (folders, files []string, err error) {
	err = s.Repositories.Read(ctx, l.Org, l.Settings.Repository, commit, func(tree fs.FS) error {
		index, err := relevance.Build(ctx, tree, []relevance.Layer{{Name: l.Name, Path: l.Settings.Path}})
		if err != nil {
			return err
		}
		for _, source := range index.Sources(l.Name) {
			if source.Linked() {
				continue
			}
			at := path.Clean(source.Path)
			info, err := fs.Stat(tree, at)
			switch {
			case err != nil: // what is named is not always there
			case info.IsDir():
				folders = append(folders, at)
			default:
				files = append(files, at)
			}
		}
		return nil
	})
	slices.Sort(folders)
	slices.Sort(files)
	return outermost(slices.Compact(folders)), slices.Compact(files), err
}

// outermost leaves out folders that are in others; they are sorted.
func outermost(folders []string) (all []string) {
	for _, dir := range folders {
		if dir == "." {
			return []string{"."}
		}
		if len(all) == 0 || !(relevance.Source{Kind: relevance.Under, Path: all[len(all)-1]}).Has(dir) {
			all = append(all, dir)
		}
	}
	return all
}
