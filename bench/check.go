package bench

import (
	"bytes"
	"errors"
	"io"
	"net/http"

	"github.com/klauspost/compress/gzip"
)

// succeeded wants the answer to a write: 200, and that it says so.
func (s *session) succeeded(answer *http.Response) error {
	if err := wantStatus(answer, http.StatusOK); err != nil {
		return err
	}
	n, err := io.ReadFull(answer.Body, s.conn.buffer)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && err != io.EOF {
		return err
	}
	if text := s.conn.buffer[:n]; !bytes.Contains(text, []byte(`"status":"success"`)) {
		return differs("%.100q does not say success", text)
	}
	return nil
}

// exactly wants 200 and these bytes.
func (s *session) exactly(want []byte) func(*http.Response) error {
	return func(answer *http.Response) error {
		if err := wantStatus(answer, http.StatusOK); err != nil {
			return err
		}
		if answer.Header.Get("Content-Encoding") == "gzip" {
			return s.unpacked(answer.Body, want)
		}
		return compare(answer.Body, want, s.conn.buffer)
	}
}

// compare reads all of in, by pieces, and wants it to be want.
func compare(in io.Reader, want, buffer []byte) error {
	at := 0
	for {
		n, err := in.Read(buffer)
		if n > len(want)-at || !bytes.Equal(buffer[:n], want[at:at+n]) {
			return differs("the answer differs within the %d bytes behind %d", n, at)
		}
		at += n
		if err == io.EOF {
			break
		}
		if err != nil {
			return err
		}
	}
	if at != len(want) {
		return differs("the answer has %d of %d bytes", at, len(want))
	}
	return nil
}

// unpacked wants a compressed answer to be want. The compressed bytes that were good once
// are compared as they are, as long as they stand for the same state: to expand each
// answer would measure the client.
func (s *session) unpacked(in io.Reader, want []byte) error {
	packed, err := io.ReadAll(in)
	if err != nil {
		return err
	}
	if s.packed != nil && s.packedOf == s.state.Serial() && bytes.Equal(packed, s.packed) {
		return nil
	}
	expanded, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return differs("%v", err)
	}
	if err := compare(expanded, want, s.conn.buffer); err != nil {
		return differs("%v", err)
	}
	s.packed, s.packedOf = packed, s.state.Serial()
	return nil
}
