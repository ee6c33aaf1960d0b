package handlers

import (
	"strconv"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
)

// The media types of records, and of other answers.
const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaCSV    = "text/csv"
	mediaText   = "text/plain"
	mediaHTML   = "text/html"
	mediaBytes  = "application/octet-stream"
	mediaTar    = "application/x-tar"
)

// format writes records one after another, by appending to a buffer.
type format interface {
	// contentType also says whether the extent goes into trailers, because it has no place
	// in the body.
	contentType() (media string, trailers bool)
	begin(dst []byte) []byte
	// record appends the record of this index.
	record(dst []byte, index int, r inventory.Record) []byte
	end(dst []byte, sent extent) []byte
}

// jsonFormat is one object, in which the extent comes last, when it is known.
type jsonFormat struct{ org uuid.UUID }

func (jsonFormat) contentType() (string, bool) { return mediaJSON, false }

func (f jsonFormat) begin(dst []byte) []byte {
	dst = append(dst, `{"org_id":"`...)
	dst = append(dst, f.org.String()...)
	return append(dst, `","data":[`...)
}

func (jsonFormat) record(dst []byte, index int, r inventory.Record) []byte {
	if index > 0 {
		dst = append(dst, ',')
	}
	return r.AppendJSON(dst)
}

func (jsonFormat) end(dst []byte, sent extent) []byte {
	dst = append(dst, `],"count":`...)
	dst = strconv.AppendInt(dst, int64(sent.count), 10)
	dst = appendCursor(append(dst, `,"next":`...), sent.next)
	dst = appendCursor(append(dst, `,"last":`...), sent.last)
	return append(dst, '}')
}

func appendCursor(dst []byte, cursor string) []byte {
	if cursor == "" {
		return append(dst, "null"...)
	}
	return jsonscan.AppendQuote(dst, cursor)
}

// ndjsonFormat is a record in each line.
type ndjsonFormat struct{}

func (ndjsonFormat) contentType() (string, bool) { return mediaNDJSON, true }

func (ndjsonFormat) begin(dst []byte) []byte { return dst }

func (ndjsonFormat) record(dst []byte, _ int, r inventory.Record) []byte {
	return append(r.AppendJSON(dst), '\n')
}

func (ndjsonFormat) end(dst []byte, _ extent) []byte { return dst }

// csvFormat is what the CSV engine keeps, or a form of it that is safe to open in a
// spreadsheet.
type csvFormat struct{ spreadsheet bool }

func (csvFormat) contentType() (string, bool) {
	return mediaCSV + "; charset=utf-8; header=present", true
}

func (csvFormat) begin(dst []byte) []byte { return append(dst, csvrow.Header...) }

func (f csvFormat) record(dst []byte, _ int, r inventory.Record) []byte {
	fields := csvrow.Fields(r)
	if f.spreadsheet {
		fields = csvrow.SpreadsheetSafe(fields)
	}
	return csvrow.AppendRow(dst, fields...)
}

func (csvFormat) end(dst []byte, _ extent) []byte { return dst }
