package csv

import (
	"context"
	"crypto/aes"
	"encoding/base64"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// readAll returns the records with their cursors.
func readAll(t *testing.T, s *Store, org uuid.UUID, query inventory.Query) (all []inventory.Positioned) {
	t.Helper()
	for record, err := range s.Records(t.Context(), org, query) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, record)
	}
	return all
}

func both() []inventory.Order { return []inventory.Order{inventory.Ascending, inventory.Descending} }

// threeSegments uploads until there are three segments, and returns the cursors of each
// order with the names that are to follow.
func threeSegments(t *testing.T, s *Store, org uuid.UUID) map[inventory.Order][]inventory.Positioned {
	t.Helper()
	for range 3 {
		b := newBatch(org, 5)
		b.Resources[1].Attributes = []byte(`{"large":"` + strings.Repeat("x", segmentSize) + `"}`)
		upload(t, s, b)
	}
	given := map[inventory.Order][]inventory.Positioned{}
	for _, order := range both() {
		given[order] = readAll(t, s, org, inventory.Query{Order: order})
	}
	return given
}

// TestCursorsSurviveANewIndex makes the index again from the files, as operators are told
// to: every cursor goes on where it did.
func TestCursorsSurviveANewIndex(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	given := threeSegments(t, s, org)
	shut(t, s)
	removeIndex(t, dir)
	s = openDir(t, dir)
	for _, order := range both() {
		all := given[order]
		for i, record := range all {
			rest := readAll(t, s, org, inventory.Query{Order: order, After: record.Next})
			if len(rest) != len(all)-i-1 || len(rest) > 0 && rest[0].Next != all[i+1].Next {
				t.Fatalf("descending %v: behind record %d come %d of %d", order, i, len(rest), len(all))
			}
		}
	}
}

// TestCursorsNoticeAChangedFile takes a row out of the file before the index is made again:
// cursors behind it are refused, rather than skip a record or repeat one; those before it
// go on.
func TestCursorsNoticeAChangedFile(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	for range 3 {
		upload(t, s, newBatch(org, 3)) // rows of one length: a place in the new file is one in the old
	}
	given := map[inventory.Order][]inventory.Positioned{}
	for _, order := range both() {
		given[order] = readAll(t, s, org, inventory.Query{Order: order})
	}
	shut(t, s)
	lines := strings.SplitAfter(contents(t, s.path(org)), "\r\n")
	write(t, s.path(org), strings.Join(append(lines[:5:5], lines[6:]...), "")) // without the fifth record
	removeIndex(t, dir)
	s = openDir(t, dir)
	for i := range 9 {
		up, down := given[inventory.Ascending][i], given[inventory.Descending][8-i]
		for order, after := range map[inventory.Order]string{inventory.Ascending: up.Next, inventory.Descending: down.Next} {
			err := firstError(t, s, org, inventory.Query{Order: order, After: after})
			if stays := i < 4; stays && err != nil || !stays && !fault.Is(err, fault.CursorInvalid) {
				t.Errorf("descending %v, record %d: %v", order, i+1, err)
			}
		}
	}
}

// TestCursorsOfOlderVersions go on, as long as the index is the one that they came from.
func TestCursorsOfOlderVersions(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	s := openDir(t, dir)
	given := threeSegments(t, s, org)
	for _, order := range both() {
		for i, record := range given[order] {
			p, err := newCursors(s.index.Key(), org, order).decode(record.Next)
			if err != nil {
				t.Fatal(err)
			}
			older := base64.RawURLEncoding.EncodeToString(func() []byte {
				var b [aes.BlockSize]byte
				binary.BigEndian.PutUint64(b[:], uint64(p.offset))
				blockOf(s.index.Key(), org, order).Encrypt(b[:], b[:])
				return b[:]
			}())
			if rest := readAll(t, s, org, inventory.Query{Order: order, After: older}); len(rest) != len(given[order])-i-1 {
				t.Errorf("descending %v: behind record %d come %d", order, i, len(rest))
			}
		}
	}
}

// TestCursorReadsOneSegment: to find a cursor's place costs no second reading of the piece
// that has it, however long the file is.
func TestCursorReadsOneSegment(t *testing.T) {
	dir, org := t.TempDir(), uuid.New()
	reads := 0
	s := openIn(t, Options{Dir: dir, openRead: func(path string) (readFile, error) {
		reads++
		return os.Open(path)
	}})
	given := threeSegments(t, s, org)
	all := given[inventory.Ascending]
	for i, record := range all[:len(all)-1] {
		reads = 0
		for _, err := range s.Records(context.Background(), org, inventory.Query{After: record.Next}) {
			if err != nil {
				t.Fatal(err)
			}
			break
		}
		if reads > 2 { // the row and the one behind it are in two pieces, at most
			t.Errorf("behind record %d: %d pieces were read", i, reads)
		}
	}
}
