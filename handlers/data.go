package handlers

import (
	"context"
	"iter"
	"log/slog"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/inventory"
)

// Trailers of the formats that have no place for it.
const (
	countTrailer = "X-Holdfast-Count"
	nextTrailer  = "X-Holdfast-Next"
	lastTrailer  = "X-Holdfast-Last"
)

// data gives back what was uploaded.
type data struct {
	service *inventory.Service
	memory  *budget.Budget // nil for no bound
	lists   lists
	log     *slog.Logger
}

func (d data) records(_ context.Context, r *request) (answer, error) {
	return d.answer(r, d.service.Records, r.records())
}

// latest takes no cursor: what came before it would have to be read again anyway.
func (d data) latest(_ context.Context, r *request) (answer, error) {
	return d.answer(r, func(ctx context.Context, p auth.Principal,
		query inventory.Query) iter.Seq2[inventory.Positioned, error] {
		return withoutCursors(d.service.Latest(ctx, p, query))
	}, r.filters())
}

func withoutCursors(records iter.Seq2[inventory.Positioned, error]) iter.Seq2[inventory.Positioned, error] {
	return func(yield func(inventory.Positioned, error) bool) {
		for record, err := range records {
			record.Next, record.Later = "", ""
			if !yield(record, err) {
				return
			}
		}
	}
}

// answer is the records that find finds, in the form that the reader takes.
func (d data) answer(r *request, find find, ask reading) (answer, error) {
	form := formatFor(r.header.Get("Accept"), r.caller.Org, ask.spreadsheet)
	if _, isCSV := form.(csvFormat); ask.spreadsheet && !isCSV {
		r.invalid("the query's escape goes with Accept: text/csv only")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	return records{d, r.caller, find, ask, form}, nil
}

func formatFor(accept string, org uuid.UUID, spreadsheet bool) format {
	switch negotiate(accept, mediaJSON, mediaNDJSON, mediaCSV) {
	case mediaNDJSON:
		return ndjsonFormat{}
	case mediaCSV:
		return csvFormat{spreadsheet}
	default:
		return jsonFormat{org}
	}
}

// find is what finds the records of an answer.
type find func(context.Context, auth.Principal, inventory.Query) iter.Seq2[inventory.Positioned, error]

// records is an answer that is sent while it is found.
type records struct {
	data
	caller auth.Principal
	find   find
	ask    reading
	form   format
}

// send sends the records as they come. What is in memory for them is acquired, however slowly
// the reader takes them. An answer that has begun and can't be finished is broken off with its
// connection, so that nobody takes it for whole.
func (r records) send(c *gin.Context) error {
	taken := taking{hold: r.memory.Hold(budget.Share{Org: r.caller.Org})}
	defer taken.hold.Release()
	r.ask.Memory = taken.store
	media, trailers := r.form.contentType()
	s := newSender(c, func(header http.Header) { announce(header, media, trailers) })
	s.piece = r.form.begin(s.piece)
	all, err := fill(s, r.form, r.find(c.Request.Context(), r.caller, r.ask.Query), r.ask, &taken)
	if err == nil {
		s.piece = r.form.end(s.piece, all)
		err = s.finish()
	}
	switch {
	case err == nil && trailers:
		setTrailers(c.Writer.Header(), all)
	case err != nil && s.started():
		r.breakOff(c, s.lost, all.count, err)
	}
	return err
}

func (d data) breakOff(c *gin.Context, readerLeft bool, count int, err error) {
	ctx, level := c.Request.Context(), slog.LevelError
	if readerLeft || ctx.Err() != nil {
		level = slog.LevelInfo
	}
	d.log.Log(ctx, level, "an answer was broken off", "path", c.FullPath(), "records", count, "error", err)
	panic(http.ErrAbortHandler)
}

// extent is what an answer says of itself behind its records. The cursors are empty for
// what there is not.
type extent struct {
	count int
	next  string // continues, if more follows now
	last  string // continues, in ascending order, behind the newest record of the answer
}

// fill sends the records, up to the limit, and looks whether one more follows. Where there
// is none, the place is where the reader was already. The newest record is the last one, or
// the first one of all in descending order.
func fill(s *sender, form format, records iter.Seq2[inventory.Positioned, error], ask reading,
	taken *taking) (extent, error) {
	var sent extent
	place, ascending := ask.After, ask.Order == inventory.Ascending
	if ascending {
		sent.last = place
	}
	for record, err := range records {
		if err != nil {
			return sent, err
		}
		if ask.limit > 0 && sent.count == ask.limit {
			sent.next = place
			break
		}
		if err := taken.piece(len(s.piece) + len(record.Attributes)); err != nil {
			return sent, err
		}
		s.piece = form.record(s.piece, sent.count, record.Record)
		if err := taken.piece(cap(s.piece)); err != nil { // quotes and room make it larger
			return sent, err
		}
		sent.count++
		if place = record.Next; ascending {
			sent.last = place
		} else if record.Later != "" {
			sent.last = record.Later
		}
		if err := s.sendIfDue(); err != nil {
			return sent, err
		}
	}
	return sent, nil
}

func announce(header http.Header, media string, trailers bool) {
	header.Set("Content-Type", media)
	if trailers {
		header.Set("Trailer", countTrailer+", "+nextTrailer+", "+lastTrailer)
	}
}

func setTrailers(header http.Header, sent extent) {
	header.Set(countTrailer, strconv.Itoa(sent.count))
	if sent.next != "" {
		header.Set(nextTrailer, sent.next)
	}
	if sent.last != "" {
		header.Set(lastTrailer, sent.last)
	}
}
