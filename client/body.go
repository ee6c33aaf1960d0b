package client

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
)

// body is what a request brings: nothing, bytes that can be sent again, or a stream that can't.
type body struct {
	at          io.ReaderAt
	start, size int64
	stream      io.Reader
}

// seekable are bytes.Reader, strings.Reader, os.File of a regular file and the like.
type seekable interface {
	io.ReaderAt
	io.Seeker
}

// bodyOf is what is left to read. It is read at its offsets, so that a try that was given up
// and is still being read can't disturb the next one.
func bodyOf(from io.Reader) body {
	s, ok := from.(seekable)
	if !ok {
		return body{stream: from}
	}
	start, err := s.Seek(0, io.SeekCurrent)
	if err != nil {
		return body{stream: from} // a pipe is a file too
	}
	end, err := s.Seek(0, io.SeekEnd)
	if err != nil {
		return body{stream: from}
	}
	return body{at: s, start: start, size: end - start}
}

func jsonBody(v any) (body, error) {
	raw, err := json.Marshal(v)
	return bodyOf(bytes.NewReader(raw)), err
}

// set gives a request its body, and reports whether there is any.
func (b body) set(r *http.Request) bool {
	switch {
	case b.stream != nil:
		r.Body, r.ContentLength = io.NopCloser(b.stream), -1
		return true
	case b.size == 0:
		return false
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(io.NewSectionReader(b.at, b.start, b.size)), nil }
	r.Body, _ = r.GetBody() // can't fail
	r.ContentLength = b.size
	return true
}

// with is the request with a body in JSON.
func (r request) with(v any) request {
	made, err := jsonBody(v)
	if r.body = made; r.err == nil {
		r.err = err
	}
	return r
}
