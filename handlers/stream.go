package handlers

import (
	"net/http"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/state"
)

// sendRendered sends an answer that was made, and closes it. One that can't be sent to its
// end is broken off with its connection, so that nobody takes it for whole.
func sendRendered(c *gin.Context, media string, made *state.Rendered) error {
	defer made.Close()
	s := newSender(c, func(header http.Header) {
		header.Set("Content-Type", media)
	})
	_, err := made.WriteTo(streamWriter{s})
	if err == nil {
		err = s.finish()
	}
	if err != nil {
		_ = c.Error(err) // for the request's log line
		panic(http.ErrAbortHandler)
	}
	return nil
}

// streamWriter writes to a sender, which never holds more than two pieces.
type streamWriter struct{ to *sender }

func (w streamWriter) Write(text []byte) (int, error) {
	for rest := text; len(rest) > 0; {
		n := min(len(rest), sendAt)
		w.to.piece, rest = append(w.to.piece, rest[:n]...), rest[n:]
		if err := w.to.sendIfDue(); err != nil {
			return 0, err
		}
	}
	return len(text), nil
}
