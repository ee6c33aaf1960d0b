package handlers

import (
	"io"

	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/middleware"
)

// pieceBytes is what an answer that is sent piece by piece takes: what is sealed, what it was,
// and what is being sent.
const pieceBytes = 3 << 20

// inPieces is an answer of pieces of a store's, which takes so much memory while it is sent, and
// no place for a request.
func inPieces(r *request, memory *budget.Budget, takes int64, s streamed) answer {
	write := s.write
	s.write = func(to io.Writer) error {
		hold := memory.Hold(budget.Share{Org: r.caller.Org, Holder: r.caller.Run != nil})
		if err := hold.Acquire(r.c.Request.Context(), takes); err != nil {
			return err
		}
		defer hold.Release()
		middleware.Leave(r.c)
		return write(to)
	}
	return s
}
