package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net/http"
	"strings"
)

// noticeable is how many bytes take long enough for somebody to wonder.
const noticeable = 8 << 20

// measured returns the reader of a transfer that shows how far it has come, if it is long;
// total is its length, below 0 where that is not known. end must follow.
func (a *app) measured(what string, total int64, from io.Reader) (reader io.Reader, end func()) {
	if total >= 0 && total < noticeable || total < 0 && !isTerminal(a.stderr) {
		return from, func() {}
	}
	p := a.startTransfer(what, max(total, 0))
	return io.TeeReader(from, p), p.end
}

// copyExact copies an answer's exact bytes, and checks that they have this digest, if one is
// known.
func (a *app) copyExact(to io.Writer, response *http.Response, want string) error {
	digest := sha256.New()
	from, end := a.measured("Fetching", response.ContentLength, response.Body)
	_, err := io.Copy(io.MultiWriter(to, digest), from)
	end()
	if err != nil {
		return cutOff(err)
	}
	if want != "" && want != hex.EncodeToString(digest.Sum(nil)) {
		return errors.New("the bytes that came are not those that the server keeps: they don't match its digest")
	}
	return nil
}

// etag is the digest in an answer's header, of the bytes as they are without gzip.
func etag(response *http.Response) string {
	return strings.TrimSuffix(strings.Trim(response.Header.Get("ETag"), `"`), "-gzip")
}

// fetch writes an answer's exact bytes to a file of mode 0600, which is there whole or not
// at all, or to stdout.
func (a *app) fetch(response *http.Response, file, digest string) error {
	if file == "" {
		return a.copyExact(a.stdout, response, digest)
	}
	return writeFile(file, func(w io.Writer) error { return a.copyExact(w, response, digest) })
}

// sending is measured for what is sent.
func (a *app) sending(total int64, from io.Reader) (io.Reader, func()) {
	return a.measured("Sending", total, from)
}
