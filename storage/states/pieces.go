package states

import (
	"database/sql"

	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/storage/mysqldb"
	"github.com/holdfast/holdfast/storage/stateengine"
)

// pieceFields are those of a row of a piece behind its mark: its own and a version's.
var pieceFields = 5 + len(new(stateengine.VersionRow).Fields())

// pieces are a body that is put together, in a buffer of its own size.
type pieces struct {
	encoding string
	on       int64 // number of the version that it is a delta of; 0 for none
	buffer   []byte
	there    int64
	base     *pieces // where to put those of that one; nil for nowhere
}

// scan puts the pieces of rows together, each of which ends with the same fields, and reports
// whether there were any rows.
func (p *pieces) scan(rows *sql.Rows, fields []any) (some bool, err error) {
	defer rows.Close()
	for ; rows.Next(); some = true {
		var (
			part, stored, on int64
			encoding         string
			piece            sql.NullInt64
			bytes            sql.RawBytes
		)
		if err := rows.Scan(append([]any{&part, &encoding, &stored, &on, &piece, &bytes}, fields...)...); err != nil {
			return some, err
		}
		if part == isDemoted {
			return some, mysqldb.ErrDemoted
		}
		if part == 0 {
			p.add(encoding, stored, on, piece, bytes)
		} else if p.base != nil {
			p.base.add(encoding, stored, on, piece, bytes)
		}
	}
	return some, rows.Err()
}

func (p *pieces) add(encoding string, stored, on int64, piece sql.NullInt64, bytes []byte) {
	p.encoding, p.on = encoding, on
	if encoding != "" {
		stored += int64(seal.Overhead)
	}
	if p.buffer == nil && stored >= 0 && stored <= stateengine.MaxBody+int64(seal.Overhead) {
		p.buffer = make([]byte, stored)
	}
	at := piece.Int64 * pieceBytes
	if !piece.Valid || at < 0 || at+int64(len(bytes)) > int64(len(p.buffer)) {
		return
	}
	p.there += int64(copy(p.buffer[at:], bytes))
}

// body returns what was put together; nothing when some of it is missing.
func (p *pieces) body() stateengine.Stored {
	if p.there != int64(len(p.buffer)) {
		return stateengine.Stored{}
	}
	return stateengine.Stored{Encoding: p.encoding, Bytes: p.buffer, Base: stateengine.BaseID{Number: uint64(p.on)}}
}
