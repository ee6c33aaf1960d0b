package bucket

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/cenkalti/backoff/v5"
)

const (
	// partSize is how much is sent at once. There are at most 10,000 parts, so an object has 320 GB at most.
	partSize = 32 << 20
	// partTime bounds one request, and tries how often it is made.
	partTime = 10 * time.Minute
	tries    = 4
	// maxAnswer bounds what is read of an answer.
	maxAnswer = 1 << 20
)

// Put makes an object of what write writes, whose length nobody knows before. It is there whole or not at all.
func (b Bucket) Put(ctx context.Context, key string, write func(io.Writer) error) (err error) {
	var begun struct {
		UploadID string `xml:"UploadId"`
	}
	if err := b.call(ctx, http.MethodPost, key, url.Values{"uploads": {""}}, nil, &begun); err != nil {
		return err
	}
	if begun.UploadID == "" {
		return errors.New("the storage's answer names no upload")
	}
	u := &upload{ctx: ctx, bucket: b, key: key, id: begun.UploadID}
	defer func() {
		if err != nil { // what was sent costs its owner money as long as it is there
			abort := b.call(context.WithoutCancel(ctx), http.MethodDelete, key, url.Values{"uploadId": {u.id}}, nil, nil)
			err = errors.Join(err, abort)
		}
	}()
	if err := write(u); err != nil {
		return err
	}
	return u.finish()
}

// upload gathers what is written to parts.
type upload struct {
	ctx     context.Context
	bucket  Bucket
	key, id string
	pending []byte
	done    []part
}

type part struct {
	PartNumber int
	ETag       string
}

// Write implements io.Writer.
func (u *upload) Write(piece []byte) (n int, err error) {
	for len(piece) > 0 {
		some := min(len(piece), partSize-len(u.pending))
		u.pending = append(u.pending, piece[:some]...)
		piece, n = piece[some:], n+some
		if len(u.pending) == partSize {
			if err := u.send(); err != nil {
				return n, err
			}
		}
	}
	return n, nil
}

func (u *upload) send() error {
	p := part{PartNumber: len(u.done) + 1}
	query := url.Values{"partNumber": {strconv.Itoa(p.PartNumber)}, "uploadId": {u.id}}
	header, err := u.bucket.retried(u.ctx, http.MethodPut, u.key, query, u.pending, nil)
	if err != nil {
		return err
	}
	p.ETag = header.Get("ETag")
	u.done, u.pending = append(u.done, p), u.pending[:0]
	return nil
}

func (u *upload) finish() error {
	if len(u.pending) > 0 || len(u.done) == 0 {
		if err := u.send(); err != nil {
			return err
		}
	}
	text, err := xml.Marshal(struct {
		XMLName xml.Name `xml:"CompleteMultipartUpload"`
		Part    []part
	}{Part: u.done})
	if err != nil {
		return err
	}
	var made struct {
		XMLName xml.Name
		Message string
		ETag    string
	}
	// It may say 200 and be an error: the status is sent before it is tried.
	err = u.bucket.call(u.ctx, http.MethodPost, u.key, url.Values{"uploadId": {u.id}}, text, &made)
	if err == nil && made.XMLName.Local == "Error" {
		err = fmt.Errorf("the storage did not make the object: %.200q", made.Message)
	}
	return err
}

// Open returns an object, which the caller closes.
func (b Bucket) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	response, err := b.do(ctx, http.MethodGet, key, nil, nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Has reports whether an object is there, as far as the credentials may know: without the right to list a
// bucket, S3 says of one that is not there that it may not be seen.
func (b Bucket) Has(ctx context.Context, key string) (bool, error) {
	_, err := b.retried(ctx, http.MethodHead, key, nil, nil, nil)
	refused, some := errors.AsType[*refusal](err)
	if some && (refused.status == http.StatusNotFound || refused.status == http.StatusForbidden) {
		return false, nil
	}
	return err == nil, err
}

func (b Bucket) call(ctx context.Context, method, key string, query url.Values, body []byte, into any) error {
	_, err := b.retried(ctx, method, key, query, body, into)
	return err
}

func (b Bucket) retried(ctx context.Context, method, key string, query url.Values, body []byte, into any) (http.Header,
	error) {
	return backoff.Retry(ctx, func() (http.Header, error) {
		ctx, cancel := context.WithTimeout(ctx, partTime)
		defer cancel()
		response, err := b.do(ctx, method, key, query, body)
		if err != nil {
			return nil, err
		}
		defer response.Body.Close()
		text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
		if err == nil && into != nil {
			err = xml.Unmarshal(text, into)
		}
		return response.Header, err
	}, backoff.WithMaxTries(tries))
}

// refusal is an answer that is none of success.
type refusal struct {
	method, what string
	status       int
}

// Error implements error.
func (r *refusal) Error() string { return fmt.Sprintf("%s %s: HTTP %d", r.method, r.what, r.status) }

// do asks once. It follows no redirect: one could lead the credentials elsewhere.
func (b Bucket) do(ctx context.Context, method, key string, query url.Values, body []byte) (*http.Response, error) {
	request, err := b.Request(ctx, method, key, query, body)
	if err != nil {
		return nil, backoff.Permanent(err)
	}
	client := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode/100 == 2 {
		return response, nil
	}
	_ = response.Body.Close()
	err = &refusal{method, b.Name + "/" + key, response.StatusCode}
	if response.StatusCode/100 != 5 && response.StatusCode != http.StatusTooManyRequests {
		err = backoff.Permanent(err)
	}
	return nil, err
}
