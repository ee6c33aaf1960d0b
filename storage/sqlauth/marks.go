package sqlauth

import (
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/storage/sqldb"
)

// What marks are for.
const (
	markRevision = "holdfast auth 1: revision"
	markCopy     = "holdfast auth 1: copy"
)

// revisionParts are what the mark of a revision is of. The time is the database's to say.
func revisionParts(number uint64, digest, by string) []string {
	return []string{strconv.FormatUint(number, 10), digest, by}
}

func copyParts(c copies.Copy) []string {
	return []string{c.Node, c.Name, strconv.FormatUint(c.Revision, 10), c.Digest, c.Shredded,
		strconv.FormatInt(c.At.UnixMicro(), 10)}
}

func markOfRevision(number uint64) string { return "revision " + strconv.FormatUint(number, 10) }

// markOfCopies begins the names of nodes' marks.
const markOfCopies = "node "

// mark writes down that who has the master key writes this; nothing without one.
func (s *Store) mark(tx sqldb.Tx, what, purpose string, parts []string) error {
	if s.master == nil {
		return nil
	}
	_, err := tx.Exec(tx.Dialect().Upsert("auth_marks", []string{"what"}, []string{"mark"}), what,
		s.master.Mark(purpose, parts...))
	return err
}

// proven reports whether somebody with the master key has written this. Without one all is.
func (s *Store) proven(mark []byte, purpose string, parts []string) bool {
	return s.master == nil || s.master.IsMark(mark, purpose, parts...)
}

// mayAdd refuses to put a revision without a mark behind one that has one: no node would take it.
func (s *Store) mayAdd(tx sqldb.Tx, after uint64) error {
	if s.master != nil || after == 0 {
		return nil
	}
	var mark []byte
	found, err := sqldb.One(tx, []any{&mark}, "SELECT mark FROM auth_marks WHERE what = ?", markOfRevision(after))
	if err == nil && found {
		err = authfile.ErrNoMaster
	}
	return err
}

// unmark forgets the marks of revisions up to a number.
func unmark(tx sqldb.Tx, upTo uint64) error {
	marks, err := sqldb.All(tx, scanText, "SELECT what FROM auth_marks")
	for _, what := range marks {
		of, isRevision := strings.CutPrefix(what, "revision ")
		number, wrong := strconv.ParseUint(of, 10, 64)
		if err != nil || !isRevision || wrong != nil || number > upTo {
			continue
		}
		_, err = tx.Exec("DELETE FROM auth_marks WHERE what = ?", what)
	}
	return err
}
