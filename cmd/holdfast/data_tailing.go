package main

import (
	"context"
	"encoding/json"
	"net/url"
	"strconv"
	"time"
)

// tailing is one run of tail.
type tailing struct {
	a        *app
	client   *client
	values   url.Values // of the question, with the cursor once there is one
	show     shower
	interval time.Duration
	answered bool // at least once
	away     int  // questions in a row without an answer
}

func (t *tailing) follow(ctx context.Context, lines int) error {
	t.values.Set("limit", strconv.Itoa(tailPage))
	if !t.values.Has("since") {
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
		if err := pause(ctx, t.interval); err != nil {
			return err
		}
	}
}

// begin shows the newest records, and places the cursor behind them. A cursor goes with
// one order only, so it looks for the time of the oldest to show, newest first, and reads
// from there on.
func (t *tailing) begin(ctx context.Context, lines int) error {
	since, err := t.oldestOf(ctx, t.values, max(lines, 1))
	if err == nil && since == "" {
		// Nothing matches: whatever will is not older than the newest there is.
		since, err = t.oldestOf(ctx, url.Values{}, 1)
	}
	if err != nil || since == "" {
		return err
	}
	t.values.Set("since", since)
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

// oldestOf returns the timestamp of the oldest of the newest records; empty without any.
func (t *tailing) oldestOf(ctx context.Context, filters url.Values, newest int) (oldest string, err error) {
	values := url.Values{}
	for name := range filters {
		values.Set(name, filters.Get(name))
	}
	values.Set("order", "desc")
	values.Set("limit", strconv.Itoa(newest))
	err = t.try(ctx, func() error {
		_, err := t.client.records(ctx, values, func(raw json.RawMessage) error {
			var r struct{ Timestamp string }
			err := json.Unmarshal(raw, &r)
			oldest = r.Timestamp
			return err
		})
		return err
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
			sent, err := t.client.records(ctx, t.values, func(raw json.RawMessage) error {
				page = append(page, raw)
				return nil
			})
			if more = sent.next != ""; err == nil && sent.last != "" {
				t.values.Set("cursor", sent.last)
			}
			return err
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
