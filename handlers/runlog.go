package handlers

import (
	"context"
	"io"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/internal/ansi"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

// logPiece is how much of a log is read at once: a reader's events are of as much at most.
const logPiece = 256 << 10

// wanted is what a reader of a log asks for.
type wanted struct {
	id      string
	stream  runs.Stream
	attempt int // 0 for the newest
	offset  int64
}

// wanted reads it from the query.
func (r *request) wanted() wanted {
	id := r.run()
	stream := r.choice("stream", string(runs.PlanStage), string(runs.ApplyStage))
	return wanted{id, runs.Stream(stream), int(min(r.number("attempt"), 1<<30)), r.offset()}
}

// text sends a log from an offset to where it ends now.
func (h runHandlers) text(ctx context.Context, r *request) (answer, error) {
	want := r.wanted()
	strip, download := r.choice("ansi", "keep", "strip") == "strip", r.flag("download")
	if err := r.err(); err != nil {
		return nil, err
	}
	first, err := h.piece(ctx, r.caller, want)
	if err != nil {
		return nil, err
	}
	want.attempt = first.Attempt
	return h.pieces(r, streamed{"text/plain; charset=utf-8", func(to io.Writer) error {
		if strip {
			to = ansi.NewStripper(to)
		}
		return h.copyLog(ctx, r, want, first, to)
	}, func(header http.Header) {
		header.Set("X-Holdfast-Attempt", strconv.Itoa(want.attempt))
		if download {
			header.Set("Content-Disposition", `attachment; filename="`+want.id+"-"+string(want.stream)+`.log"`)
		}
	}}), nil
}

func (h runHandlers) piece(ctx context.Context, p auth.Principal, want wanted) (runs.Log, error) {
	return h.service.ReadLog(ctx, p, want.id, want.stream, want.attempt, want.offset, logPiece)
}

// copyLog writes a log up to its end, of which one piece was read already.
func (h runHandlers) copyLog(ctx context.Context, r *request, want wanted, piece runs.Log, to io.Writer) (err error) {
	for len(piece.Text) > 0 {
		if _, err := to.Write(piece.Text); err != nil {
			return err
		}
		middleware.GoOn(r.c)
		want.offset = piece.End
		if piece, err = h.piece(ctx, r.caller, want); err != nil {
			return err
		}
	}
	return nil
}
