package main

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"strconv"
	"sync"
)

// readers read one log as it comes, each over a connection of its own.
type readers struct {
	stop  context.CancelFunc
	group sync.WaitGroup
	mu    sync.Mutex
	errs  []error
}

// follow opens so many streams, and has at called when one of them has all of the log up to an
// offset. It returns when all have been answered.
func follow(ctx context.Context, from source, n int, at func(reader int, offset int64)) (*readers, error) {
	ctx, stop := context.WithCancel(ctx)
	all := &readers{stop: stop}
	sender := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	for i := range n {
		request, err := from.stream(ctx)
		if err != nil {
			return nil, err
		}
		answer, err := sender.Do(request)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode != http.StatusOK {
			return nil, fmt.Errorf("a stream is answered with %s", answer.Status)
		}
		all.group.Go(func() {
			defer answer.Body.Close()
			if err := read(answer, func(offset int64) { at(i, offset) }); ctx.Err() == nil {
				all.mu.Lock()
				defer all.mu.Unlock()
				all.errs = append(all.errs, fmt.Errorf("a stream has ended: %w", err))
			}
		})
	}
	return all, nil
}

// close ends the streams.
func (r *readers) close() {
	r.stop()
	r.group.Wait()
}

// read looks for the events' IDs, and calls at when an event is there whole.
func read(answer *http.Response, at func(int64)) error {
	buffer, kept, offset := make([]byte, 1<<20), 0, int64(-1)
	for {
		n, err := answer.Body.Read(buffer[kept:])
		if err != nil {
			return err
		}
		text := buffer[:kept+n]
		for {
			if offset < 0 {
				_, behind, found := bytes.Cut(text, []byte("\nid: 1:"))
				digits, rest, whole := bytes.Cut(behind, []byte("\n"))
				if !found || !whole {
					break
				}
				if offset, err = strconv.ParseInt(string(digits), 10, 64); err != nil {
					return err
				}
				text = rest
			}
			_, rest, found := bytes.Cut(text, []byte("\n\n"))
			if !found {
				text = text[max(len(text)-1, 0):] // of the event only its end is waited for
				break
			}
			at(offset)
			offset, text = -1, append([]byte(nil), rest...)
		}
		if offset < 0 {
			text = text[max(len(text)-64, 0):]
		}
		kept = copy(buffer, text)
	}
}
