package handlers_test

import (
	"compress/gzip"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage/memory"
	"github.com/holdfast/holdfast/storage/readmap"
)

// packing serves states as a durable store does: through the map that keeps them packed.
func packing(t *testing.T) caller {
	deps := testDeps(t)
	store := readmap.New(memory.New(64<<20), 64<<20)
	deps.States = state.NewService(store, state.DefaultPolicies{}, time.Now, slog.New(slog.DiscardHandler))
	deps.Resources = nil
	deps.MaxStateBytes = 4 << 20
	c := newCaller(t, startServer(t, deps), acme, acmeKey)
	c.client.Transport = &http.Transport{DisableCompression: true} // shows answers as they are sent
	t.Cleanup(c.client.CloseIdleConnections)
	return c
}

// largeJSON is a state of about that size that compresses well.
func largeJSON(serial string, size int) string {
	return `{"version":4,"serial":` + serial + `,"lineage":"5ad8","filler":"` +
		strings.Repeat("0123456789abcdef", size/16) + `"}`
}

func TestPackedStates(t *testing.T) {
	c := packing(t)
	const get, large = "GET /api/v1/state/x", 1 << 20
	for _, serial := range []string{"1", "2", "3"} { // no version is answered with another one's bytes
		whole := largeJSON(serial, large)
		c.converse([]step{{"POST /api/v1/state/x", whole, 200, ""}})
		plain := c.do(get, "")
		wantSent(t, plain, whole, false)
		for range 2 {
			packed := c.do(get, "", "Accept-Encoding: gzip")
			wantSent(t, packed, whole, true)
			if packed.header.Get("ETag") == plain.header.Get("ETag") || len(packed.body) > large/10 {
				t.Errorf("%d bytes in gzip, tagged as the others: %s", len(packed.body), packed.header.Get("ETag"))
			}
			wantKnown(t, c, get, plain, packed)
		}
	}
}

// Either tag stands for the same state, whatever the reader takes now.
func wantKnown(t *testing.T, c caller, get string, had ...answer) {
	t.Helper()
	for _, one := range had {
		for _, accepts := range []string{"gzip", "identity"} {
			tag := one.header.Get("ETag")
			got := c.do(get, "", "Accept-Encoding: "+accepts, "If-None-Match: "+tag)
			if got.status != http.StatusNotModified || got.header.Get("ETag") != tag || got.body != "" ||
				got.header.Get("Vary") != "Accept-Encoding" {
				t.Errorf("%s, accepting %s: %d %v", tag, accepts, got.status, got.header)
			}
		}
	}
}

// wantSent wants these bytes, packed or as they are.
func wantSent(t *testing.T, got answer, whole string, packed bool) {
	t.Helper()
	if got.status != http.StatusOK || got.header.Get("Vary") != "Accept-Encoding" ||
		got.header.Get("Content-Type") != "application/json" {
		t.Errorf("%d %v", got.status, got.header)
	}
	text := got.body
	if is := got.header.Get("Content-Encoding") == "gzip"; is != packed {
		t.Errorf("packed is %t, want %t", is, packed)
	} else if is {
		text = unzipped(t, got.body)
	}
	if text != whole {
		t.Errorf("%d other bytes, want %d", len(text), len(whole))
	}
}

func unzipped(t *testing.T, text string) string {
	t.Helper()
	reader, err := gzip.NewReader(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	all, err := io.ReadAll(reader)
	if err != nil {
		t.Fatal(err)
	}
	return string(all)
}

// What is small, what does not get smaller, and older versions come as they are.
func TestStatesThatAreNotPacked(t *testing.T) {
	c := packing(t)
	noise := `{"serial":1,"lineage":"a","filler":"` + randomText(200_000) + `"}`
	old := largeJSON("1", 100_000)
	c.converse([]step{
		{"POST /api/v1/state/small", body(1), 200, ""},
		{"POST /api/v1/state/noise", noise, 200, ""},
		{"POST /api/v1/state/old", old, 200, ""},
		{"POST /api/v1/state/old", largeJSON("2", 100_000), 200, ""},
	})
	for path, whole := range map[string]string{"small": body(1), "noise": noise, "old?version=1": old,
		"old/versions/1": old} {
		wantSent(t, c.do("GET /api/v1/state/"+path, "", "Accept-Encoding: gzip"), whole, false)
	}
	wantSent(t, c.do("GET /api/v1/state/old", "", "Accept-Encoding: gzip;q=0, br"), largeJSON("2", 100_000), false)
	wantSent(t, c.do("GET /api/v1/state/old?version=2", "", "Accept-Encoding: br, gzip"), largeJSON("2", 100_000), true)
}

// randomText is JSON text that doesn't compress below three quarters.
func randomText(n int) string {
	const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/!#$%&()*,-.:;<=>?@[]^_{|}~"
	text, x := make([]byte, n), uint64(88172645463325252)
	for i := range text {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		text[i] = digits[x%uint64(len(digits))]
	}
	return string(text)
}
