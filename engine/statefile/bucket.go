package statefile

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"github.com/holdfast/holdfast/internal/outbound"
)

// Dialect says by which headers an object store takes conditions.
type Dialect string

// The dialects: S3 has entity tags, GCS numbers of generations.
const (
	S3  Dialect = "s3"
	GCS Dialect = "gcs"
)

// Bucket is a bucket of an object store that is spoken to over HTTP. Its Client signs what it sends, if
// that is wanted.
type Bucket struct {
	Address string // of the bucket
	Dialect Dialect
	Client  *http.Client
}

// Get implements Objects.
func (b *Bucket) Get(ctx context.Context, key string) ([]byte, string, error) {
	return b.do(ctx, http.MethodGet, key, nil, nil)
}

// Put implements Objects.
func (b *Bucket) Put(ctx context.Context, key string, body []byte, tag string) (string, error) {
	_, now, err := b.do(ctx, http.MethodPut, key, body, b.condition(tag))
	return now, err
}

// Delete implements Objects.
func (b *Bucket) Delete(ctx context.Context, key, tag string) error {
	_, _, err := b.do(ctx, http.MethodDelete, key, nil, b.condition(tag))
	return err
}

// condition is the header that has a request done only to the version that a tag stands for.
func (b *Bucket) condition(tag string) http.Header {
	h := http.Header{}
	switch {
	case b.Dialect == GCS && tag == "":
		h.Set("X-Goog-If-Generation-Match", "0")
	case b.Dialect == GCS:
		h.Set("X-Goog-If-Generation-Match", tag)
	case tag == "":
		h.Set("If-None-Match", "*")
	default:
		h.Set("If-Match", tag)
	}
	return h
}

func (b *Bucket) do(ctx context.Context, method, key string, body []byte, header http.Header) ([]byte, string, error) {
	address := strings.TrimSuffix(b.Address, "/") + "/" + (&url.URL{Path: key}).EscapedPath()
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, "", fmt.Errorf("the address of the bucket can't be read")
	}
	for name, values := range header {
		request.Header[name] = values
	}
	client := b.Client
	if client == nil {
		client = http.DefaultClient
	}
	answer, err := client.Do(request)
	if err != nil {
		return nil, "", outbound.WithoutAddress(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(io.LimitReader(answer.Body, maxState+1))
	switch {
	case err != nil:
		return nil, "", err
	case len(text) > maxState:
		return nil, "", fmt.Errorf("the object is larger than %d bytes", maxState)
	case answer.StatusCode == http.StatusNotFound && method == http.MethodPut,
		answer.StatusCode == http.StatusPreconditionFailed, answer.StatusCode == http.StatusConflict:
		return nil, "", ErrChanged
	case answer.StatusCode == http.StatusNotFound:
		return nil, "", ErrNoObject
	case answer.StatusCode/100 != 2:
		return nil, "", fmt.Errorf("the object store answered %d: %.300s", answer.StatusCode, text)
	}
	tag := answer.Header.Get("ETag")
	if b.Dialect == GCS {
		tag = answer.Header.Get("X-Goog-Generation")
	}
	if tag == "" && method != http.MethodDelete {
		return nil, "", fmt.Errorf("the object store doesn't say which version it has: it can't be written to safely")
	}
	return text, tag, nil
}
