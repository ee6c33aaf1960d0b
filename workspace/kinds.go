package workspace

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
)

// FileKind is how many files there are whose names have an end.
type FileKind struct {
	Kind  string // what stands behind the first dot of a name, such as tf or tf.json; other for nothing
	Files int
}

const (
	// kindsRead is how many snapshots are read for one answer, beside those that are known.
	kindsRead = 200
	// kindsKept is how many snapshots' kinds are kept in memory.
	kindsKept = 5000
	// longestKind is how long the end of a name may be; longer ones are other.
	longestKind = 16
)

// kinds remembers the kinds of files of snapshots, which never change.
type kinds struct {
	mu    sync.Mutex
	known map[Digest]map[string]int
}

// Kinds counts the files of snapshots of an organization by kind, the most frequent first; more says
// that some of the snapshots were not counted, because too many are to be read.
func (s *Service) Kinds(ctx context.Context, org uuid.UUID, all []Entry) (found []FileKind, more bool, err error) {
	counts, read := map[string]int{}, 0
	for _, e := range all {
		if e.Number == 0 {
			continue
		}
		of, known := s.kinds.of(e.ID)
		if !known && read == kindsRead {
			more = true
			continue
		}
		if !known {
			read++
			of, err = s.readKinds(ctx, org, e)
			switch {
			case fault.Is(err, fault.SnapshotNotFound): // another one has taken its place meanwhile
			case err != nil:
				return nil, false, err
			}
		}
		for kind, files := range of {
			counts[kind] += files
		}
	}
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		found = append(found, FileKind{kind, counts[kind]})
	}
	slices.SortStableFunc(found, func(a, b FileKind) int { return cmp.Compare(b.Files, a.Files) })
	return found, more, nil
}

// readKinds reads a snapshot's list, and remembers its kinds.
func (s *Service) readKinds(ctx context.Context, org uuid.UUID, e Entry) (map[string]int, error) {
	hold := s.hold(org)
	if err := hold.Acquire(ctx, bytesToList(e)); err != nil {
		return nil, err
	}
	defer hold.Release()
	snapshot, err := s.Store.Files(ctx, org, e.ID)
	if err != nil {
		return nil, err
	}
	of := map[string]int{}
	for _, f := range snapshot.Files {
		of[kindOf(f.Path)]++
	}
	s.kinds.keep(e.ID, of)
	return of, nil
}

func kindOf(file string) string {
	_, end, _ := strings.Cut(strings.TrimPrefix(path.Base(file), "."), ".")
	if end == "" || len(end) > longestKind {
		return "other"
	}
	return strings.ToLower(end)
}

func (k *kinds) of(id Digest) (map[string]int, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	of, known := k.known[id]
	return of, known
}

// keep forgets all when there is no room: what is shown again is soon known again.
func (k *kinds) keep(id Digest, of map[string]int) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.known == nil || len(k.known) >= kindsKept {
		k.known = map[Digest]map[string]int{}
	}
	k.known[id] = of
}
