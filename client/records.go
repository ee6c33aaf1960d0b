package client

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"net/http"
	"strconv"
	"time"

	"github.com/holdfast/holdfast/api"
)

// recordsPage is how many records are asked for at once. A server ends answers that take too
// long, however many records there are.
const recordsPage = 20_000

// Upload records what a provider reports: whole or, on any error, nothing. With a key of 1 to
// 255 visible characters it is recorded once, however often it is sent.
func (c *Client) Upload(ctx context.Context, u api.Upload, key string) (api.Receipt, error) {
	r := request{method: http.MethodPost, path: base + "upload", header: map[string]string{"Idempotency-Key": key}}
	sender := c
	if key == "" {
		sender = c.Once() // another try could record it twice
	}
	return ask[api.Receipt](ctx, sender, r.with(u))
}

// RecordsQuery selects records; what is empty selects nothing.
type RecordsQuery struct {
	Provider, Category, ResourceType, ResourceName string

	Attributes   map[string]string // at the top level, with their texts
	Since, Until time.Time         // recorded then or later, before then
	Descending   bool              // the newest first; not for Latest
	Cursor       string            // continue there; not for Latest
	Limit        int               // at most so many; 0 for all
}

// Records is what was uploaded, in the order in which it was recorded. It is not safe for
// concurrent use.
type Records struct {
	client *Client
	path   string
	query  RecordsQuery
	page   int // records of one answer; 0 for any number
	end    api.RecordsEnd
}

// Records returns records in pages.
func (c *Client) Records(q RecordsQuery) *Records {
	return &Records{client: c, path: "data", query: q, page: recordsPage}
}

// Latest returns the newest record of each resource, in one answer.
func (c *Client) Latest(q RecordsQuery) *Records {
	return &Records{client: c, path: "data/latest", query: q}
}

// Summary returns what was uploaded in numbers.
func (c *Client) Summary(ctx context.Context) (api.Summary, error) {
	return ask[api.Summary](ctx, c, get("data/summary", nil))
}

// All hands on the records one by one, as they come. It ends with the first error, which is
// ErrCutOff for an answer that broke off.
func (r *Records) All(ctx context.Context) iter.Seq2[api.Record, error] {
	return func(yield func(api.Record, error) bool) {
		for raw, err := range r.Raw(ctx) {
			var record api.Record
			if err == nil && json.Unmarshal(raw, &record) != nil {
				err = fmt.Errorf("a record can't be read: %w", api.ErrForeign)
			}
			if !yield(record, err) || err != nil {
				return
			}
		}
	}
}

// Raw is All for records byte for byte as the server sends them.
func (r *Records) Raw(ctx context.Context) iter.Seq2[json.RawMessage, error] {
	return func(yield func(json.RawMessage, error) bool) {
		r.end = api.RecordsEnd{}
		for cursor := r.query.Cursor; ; cursor = *r.end.Next {
			before := r.end.Count
			err := r.readPage(ctx, cursor, yield)
			if errors.Is(err, errStopped) {
				return
			}
			if err == nil && r.end.Next != nil && *r.end.Next == cursor {
				err = ErrNoFurther
			}
			if err != nil {
				yield(nil, err)
				return
			}
			r.end.Count += before
			if r.end.Next == nil || r.query.Limit > 0 && r.end.Count >= r.query.Limit {
				return
			}
		}
	}
}

// errStopped says that whoever reads wants no more.
var errStopped = errors.New("stopped")

func (r *Records) readPage(ctx context.Context, cursor string, yield func(json.RawMessage, error) bool) error {
	response, err := r.client.send(ctx, r.request(cursor))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	r.end, err = api.ReadRecords(response.Body, func(record json.RawMessage) error {
		if !yield(record, nil) {
			return errStopped
		}
		return nil
	})
	return cutOff(err)
}

// request asks for JSON: unlike a trailer, its end passes every proxy.
func (r *Records) request(cursor string) request {
	query := map[string]string{
		"provider": r.query.Provider, "category": r.query.Category,
		"resource_type": r.query.ResourceType, "resource_name": r.query.ResourceName,
		"since": moment(r.query.Since), "until": moment(r.query.Until), "cursor": cursor,
	}
	if r.query.Descending {
		query["order"] = "desc"
	}
	page := r.page
	if left := r.query.Limit - r.end.Count; r.query.Limit > 0 && (page == 0 || left < page) {
		page = left
	}
	if page > 0 {
		query["limit"] = strconv.Itoa(page)
	}
	asked := get(r.path, query)
	asked.attributes = r.query.Attributes
	return asked
}

// End says, after All or Raw, how many records there were, and where to go on: behind a limit,
// and behind the newest record for what is recorded later.
func (r *Records) End() api.RecordsEnd { return r.end }
