package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/holdfast/holdfast/bench/local"
)

// The offsets that a reader sees are those of events that are there whole, however they arrive.
func TestReadOffsets(t *testing.T) {
	text := "event: status\ndata: {}\n\nevent: log\nid: 1:5\ndata: {\"bytes\":\"aGVsbG8=\"}\n\n: still there\n\nevent: " +
		"log\nid: 1:12\ndata: x\n\nevent: log\nid: 1:20\ndata: cut"
	for name, from := range map[string]io.Reader{"at once": strings.NewReader(text),
		"byte by byte": iotest.OneByteReader(strings.NewReader(text))} {
		var got []int64
		err := read(&http.Response{Body: io.NopCloser(from)}, func(offset int64) { got = append(got, offset) })
		if err != io.EOF || len(got) != 2 || got[0] != 5 || got[1] != 12 {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
}

// The floor sends what is written to it, to all.
func TestFloor(t *testing.T) {
	server := httptest.NewServer(newFloor())
	defer server.Close()
	ctx, f := t.Context(), target{server.URL, func() (local.Usage, error) { return local.Usage{}, nil }, new(int)}
	o := options{readers: 3, bytes: 3 << 20, lines: 5}
	if took, err := lines(ctx, o, f); err != nil || len(took) != 15 {
		t.Errorf("%d lines, %v", len(took), err)
	}
	if _, _, err := transfer(ctx, o, f); err != nil {
		t.Error(err)
	}
}
