package main

import (
	"context"
	"encoding/json"
	"time"

	"github.com/holdfast/holdfast/client"
)

// tailing is one run of tail.
type tailing struct {
	a        *app
	client   *client.Client      // that repeats nothing: try has a patience of its own
	query    client.RecordsQuery // with the cursor once there is one
	show     shower
	interval time.Duration
	answered bool // at least once
	away     int  // questions in a row without an answer
}

func (t *tailing) follow(ctx context.Context, lines int) error {
	t.query.Limit = tailPage
	if t.query.Since.IsZero() {
		if err := t.begin(ctx, lines); err != nil {
			return err
		}
	}
	for {
		err := t.read(ctx, func(page []json.RawMessage) error {
			for _, raw := range page {
				if err := t.show.record(raw); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := client.Pause(ctx, t.interval); err != nil {
			return err
		}
	}
}

// begin shows the newest records, and places the cursor behind them. A cursor goes with
// one order only, so it looks for the time of the oldest to show, newest first, and reads
// from there on.
func (t *tailing) begin(ctx context.Context, lines int) error {
	since, err := t.oldestOf(ctx, t.query, max(lines, 1))
	if err == nil && since.IsZero() {
		// Nothing matches: whatever will is not older than the newest there is.
		since, err = t.oldestOf(ctx, client.RecordsQuery{}, 1)
	}
	if err != nil || since.IsZero() {
		return err
	}
	t.query.Since = since
	var newest []json.RawMessage
	err = t.read(ctx, func(page []json.RawMessage) error {
		newest = append(newest, page...)
		newest = newest[max(0, len(newest)-lines):]
		return nil
	})
	for _, raw := range newest {
		if err == nil {
			err = t.show.record(raw)
		}
	}
	return err
}

// oldestOf returns when the oldest of the newest records was recorded; zero without any.
func (t *tailing) oldestOf(ctx context.Context, q client.RecordsQuery, newest int) (oldest time.Time, err error) {
	q.Descending, q.Limit = true, newest
	err = t.try(ctx, func() error {
		for record, err := range t.client.Records(q).All(ctx) {
			if err == nil {
				oldest, err = time.Parse(time.RFC3339Nano, record.Timestamp)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	return oldest, err
}

// read hands on, page by page, what there is behind the cursor now. A page is complete
// before it is handed on: one that broke off is asked for again.
func (t *tailing) read(ctx context.Context, each func(page []json.RawMessage) error) error {
	for more := true; more; {
		var page []json.RawMessage
		err := t.try(ctx, func() error {
			page = nil
			records := t.client.Records(t.query)
			for record, err := range records.Raw(ctx) {
				if err != nil {
					return err
				}
				page = append(page, record)
			}
			end := records.End()
			if more = end.Next != nil; end.Last != nil {
				t.query.Cursor = *end.Last
			}
			return nil
		})
		if err != nil {
			return err
		}
		if err := each(page); err != nil {
			return err
		}
	}
	return nil
}
