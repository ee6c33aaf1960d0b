package handlers

import (
	"strconv"

	"github.com/google/uuid"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/jsonscan"
)

// The media types of records.
const (
	mediaJSON   = "application/json"
	mediaNDJSON = "application/x-ndjson"
	mediaCSV    = "text/csv"
)

// format writes records one after another, by appending to a buffer.
type format interface {
	// contentType also says whether count and next go into trailers, because they have no
	// place in the body.
	contentType() (media string, trailers bool)
	begin(dst []byte) []byte
	// record appends the record of this index.
	record(dst []byte, index int, r inventory.Record) []byte
	// end takes the cursor that continues, empty when nothing follows.
	end(dst []byte, count int, next string) []byte
}

// jsonFormat is one object, in which count and next come last, when they are known.
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

func (jsonFormat) end(dst []byte, count int, next string) []byte {
	dst = append(dst, `],"count":`...)
	dst = strconv.AppendInt(dst, int64(count), 10)
	dst = append(dst, `,"next":`...)
	if next == "" {
		dst = append(dst, `null`...)
	} else {
		dst = jsonscan.AppendQuote(dst, next)
	}
	return append(dst, '}')
}

// ndjsonFormat is a record in each line.
type ndjsonFormat struct{}

func (ndjsonFormat) contentType() (string, bool) { return mediaNDJSON, true }

func (ndjsonFormat) begin(dst []byte) []byte { return dst }

func (ndjsonFormat) record(dst []byte, _ int, r inventory.Record) []byte {
	return append(r.AppendJSON(dst), '\n')
}

func (ndjsonFormat) end(dst []byte, _ int, _ string) []byte { return dst }

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

func (csvFormat) end(dst []byte, _ int, _ string) []byte { return dst }
