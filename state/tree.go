package state

import (
	"context"
	"strings"

	"github.com/holdfast/holdfast/auth"
)

// Folder is a segment of names that others have behind it.
type Folder struct {
	Name   string // with the prefix before it and the "/" at its end, such as prod/eu/
	States int    // that exist, on any level below
	More   bool   // there are others, which were not counted
}

// FoldersQuery selects folders.
type FoldersQuery struct {
	Prefix string // empty, or with a "/" at its end
	After  Name   // continue behind this one, as Folders returned it; empty begins
	Limit  int    // above zero
}

const (
	// namesPage is how many names are read at once.
	namesPage = 5000
	// namesLooked is how many are read for one answer: all that most organizations have.
	namesLooked = 20_000
	// mostCounted is how many states are counted for one answer.
	mostCounted = 100_000
)

// NamesBytes is what Folders and Count take at most in memory beside what they return.
const NamesBytes = namesPage * 288

// Folders lists the folders of the caller's states below a prefix, by name, with how many states
// are in each, on any level. What it reads is bounded: a page may have fewer folders than the
// limit, or none, and be followed by more, and a folder with very many states says that it has
// more. next continues, as After; empty at the end. It names nothing that the caller may not see.
func (s *Service) Folders(ctx context.Context, p auth.Principal, q FoldersQuery) (found []Folder, next Name,
	err error) {
	if err := s.gate.Authorize(ctx, p, auth.ReadMetadata); err != nil {
		return nil, "", err
	}
	after, err := s.seals.open(p.Org, q.After)
	if err != nil {
		return nil, "", err
	}
	if strings.HasSuffix(string(after), "/") {
		after += "\x7f" // behind every name in the folder
	}
	t := tree{prefix: q.Prefix, limit: q.Limit, states: p.States}
	for looked := 0; !t.full; looked += namesPage {
		if looked == namesLooked {
			return t.folders, s.sealed(p, t.cut(after)), nil
		}
		names, goOn, err := s.store.Names(ctx, p.Org, q.Prefix, after, namesPage)
		if err != nil {
			return nil, "", err
		}
		for _, name := range names {
			t.add(name)
		}
		if after = goOn; after == "" && !t.full {
			return t.folders, "", nil
		}
	}
	return t.folders, s.sealed(p, Name(t.folders[len(t.folders)-1].Name)), nil
}

// sealed hides where a list goes on from who may not see every name.
func (s *Service) sealed(p auth.Principal, next Name) Name {
	if p.States == nil {
		return next
	}
	return s.seals.seal(p.Org, next)
}

// tree gathers folders of names that come in order.
type tree struct {
	prefix  string
	limit   int
	states  *auth.Patterns
	folders []Folder
	full    bool // a folder has come beyond the limit
}

func (t *tree) add(name Name) {
	segment, _, some := strings.Cut(string(name[len(t.prefix):]), "/")
	if t.full || !some || !t.states.Match(string(name)) {
		return
	}
	folder := t.prefix + segment + "/"
	if last := len(t.folders) - 1; last >= 0 && t.folders[last].Name == folder {
		t.folders[last].States++
		return
	}
	if len(t.folders) == t.limit {
		t.full = true
		return
	}
	t.folders = append(t.folders, Folder{Name: folder, States: 1})
}

// cut says where to go on when no more names are read: behind the folder that they ended in, whose
// other states are not counted, or behind the last of them.
func (t *tree) cut(last Name) Name {
	if n := len(t.folders); n > 0 && strings.HasPrefix(string(last), t.folders[n-1].Name) {
		t.folders[n-1].More = true
		return Name(t.folders[n-1].Name)
	}
	return last
}

// Count counts the caller's states; more says that there are others, which were not counted.
func (s *Service) Count(ctx context.Context, p auth.Principal) (states int, more bool, err error) {
	if err := s.gate.Authorize(ctx, p, auth.ReadMetadata); err != nil {
		return 0, false, err
	}
	var after Name
	for looked := 0; looked < mostCounted; looked += namesPage {
		names, next, err := s.store.Names(ctx, p.Org, "", after, namesPage)
		if err != nil {
			return 0, false, err
		}
		for _, name := range names {
			if p.States.Match(string(name)) {
				states++
			}
		}
		if after = next; after == "" {
			return states, false, nil
		}
	}
	return states, true, nil
}
