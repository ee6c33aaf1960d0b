//go:build e2e

package test

import (
	"bytes"
	"cmp"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// atOnce is how many senders throw the same bomb together.
const atOnce = 4

// bomb is a request that is meant to cost the server more than its sender.
type bomb struct {
	target  string   // method and path
	headers []string // without a length or coding, Content-Length is the body's
	body    string
	rest    io.Reader // follows the body; nil is that its sender breaks off
}

// throwBomb sends a bomb several times at once, wants this status and text in the answer,
// and that somebody else is answered meanwhile.
func throwBomb(w *world, ts *testscript.TestScript, args []string) error {
	if err := wantArgs(args, 2, 3); err != nil {
		return err
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		return err
	}
	if _, err := w.bomb(args[1]); err != nil {
		return err
	}
	identity := fmt.Sprintf("X-Org-ID: %s\r\nX-API-Key: %s\r\n", ts.Getenv("ORG"), ts.Getenv("KEY"))
	results := make([]error, atOnce+1)
	var all sync.WaitGroup
	for i := range atOnce {
		all.Go(func() {
			b, _ := w.bomb(args[1]) // its rest is read once
			results[i] = b.hit(w.server.address, identity, want, slices.Concat(args[2:]))
		})
	}
	all.Go(func() {
		answer, err := send(ts, "GET", "/api/v1/state/honest", nil)
		if err == nil && answer.StatusCode != http.StatusNotFound {
			err = errors.New(answer.Status)
		}
		if err != nil {
			results[atOnce] = fmt.Errorf("an honest client: %w", err)
		}
	})
	all.Wait()
	return errors.Join(results...)
}

func (b bomb) hit(address, identity string, status int, texts []string) error {
	request := io.MultiReader(strings.NewReader(b.head(identity)+b.body), cmp.Or(b.rest, io.Reader(strings.NewReader(""))))
	statuses, said, err := rawAnswer(address, request, b.rest == nil)
	if err != nil {
		return err
	}
	if len(statuses) == 0 || statuses[0] != status {
		return fmt.Errorf("%v, not %d: %.2000s", statuses, status, said)
	}
	for _, text := range texts {
		if !strings.Contains(said, text) {
			return fmt.Errorf("%q is not in %.2000s", text, said)
		}
	}
	return nil
}

func (b bomb) head(identity string) string {
	headers := strings.Join(append(b.headers, ""), "\r\n")
	if !strings.Contains(headers, "Content-Length:") && !strings.Contains(headers, "Transfer-Encoding:") {
		headers += fmt.Sprintf("Content-Length: %d\r\n", len(b.body))
	}
	return b.target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n" + identity + headers + "\r\n"
}

// endless repeats a text for as long as somebody reads.
type endless struct {
	text string
	at   int // what comes next
}

func (e *endless) Read(p []byte) (n int, err error) {
	for n < len(p) {
		copied := copy(p[n:], e.text[e.at:])
		n, e.at = n+copied, (e.at+copied)%len(e.text)
	}
	return n, nil
}

// member is the gzip of a text that is repeated until it has this length.
func member(text string, length int) string {
	var b bytes.Buffer
	w, _ := gzip.NewWriterLevel(&b, gzip.BestCompression)
	_, _ = io.CopyN(w, &endless{text: text}, int64(length)) // a buffer takes everything
	_ = w.Close()
	return b.String()
}
