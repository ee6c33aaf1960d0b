package backup

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"filippo.io/age"
)

// Verify reads archives, the oldest first, and says what the last one has. Nothing is written: it keeps books
// of what Restore would have made of them. Of what only changed since the first, digests are compared as far
// as the archives have the bytes.
func Verify(archives []Archive, who []age.Identity) (last Manifest, err error) {
	kept := books{}
	for i, one := range archives {
		m, err := readOne(one, who, func(b Begin) (keep, error) { return kept.put, follows(i, last.Begin, b) })
		if err == nil {
			kept, err = kept.settle(m)
		}
		if err != nil {
			return last, fmt.Errorf("archive %d: %w", i+1, err)
		}
		last = m
	}
	return last, nil
}

// books say which files there are.
type books map[string]entry

type entry struct {
	size int64
	sum  string // of the content; empty where nobody knows
}

// put does what restorer.put does.
func (b books) put(file string, at int64, whole bool, _ int64, content io.Reader) error {
	was, there := b[file]
	switch {
	case there == whole:
		return errTwice(file)
	case at > was.size:
		return errBehind(file)
	}
	sum := sha256.New()
	n, err := io.Copy(sum, content)
	if err != nil {
		return errors.Join(ErrDamaged, err)
	}
	now := entry{size: max(was.size, at+n)}
	if whole {
		now.sum = hex.EncodeToString(sum.Sum(nil))
	}
	b[file] = now
	return nil
}

// settle returns the books after an archive's end: what its manifest has, and nothing else.
func (b books) settle(m Manifest) (books, error) {
	next := books{}
	for _, d := range m.Files {
		f, there := b[d.Name]
		switch {
		case !there:
			return nil, errMissing(d.Name)
		case f.size < d.Size:
			return nil, errShort(d.Name)
		case f.size == d.Size && f.sum != "" && f.sum != d.SHA256:
			return nil, errOther(d.Name)
		}
		next[d.Name] = entry{d.Size, d.SHA256}
	}
	return next, nil
}
