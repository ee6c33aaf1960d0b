package handlers

import (
	"io"
	"net/http"

	"github.com/gin-gonic/gin"
)

// stream answers with what write writes, as it comes. What fails before anything was sent
// is an ordinary error; later, the connection is broken off, so that nobody takes the
// answer for whole.
func stream(c *gin.Context, media string, write func(io.Writer) error) error {
	s := newSender(c, func(header http.Header) {
		header.Set("Content-Type", media)
	})
	err := write(streamWriter{s})
	if err == nil {
		err = s.finish()
	}
	if err != nil && s.started() {
		_ = c.Error(err) // for the request's log line
		panic(http.ErrAbortHandler)
	}
	return err
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
