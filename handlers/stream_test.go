package handlers_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
)

// generated is a store of records that are made up as they are read.
type generated struct {
	inventory.Off
	count int
	// After the records comes this error.
	err error
	// each is called before each record.
	each func(index int)
}

func (g generated) Records(_ context.Context, org uuid.UUID, _ inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return func(yield func(inventory.Positioned, error) bool) {
		for i := range g.count {
			if g.each != nil {
				g.each(i)
			}
			record := inventory.Record{Timestamp: time.Unix(int64(i), 0), Org: org, Resource: inventory.Resource{
				Provider: "aws", Category: "compute", ResourceType: "vm", ResourceName: fmt.Sprintf("vm-%d", i%1000),
				Attributes: fmt.Appendf(nil, `{"index":%d,"text":"%0100d"}`, i, i),
			}}
			if !yield(inventory.Positioned{Record: record, Next: "n"}, nil) {
				return
			}
		}
		if g.err != nil {
			yield(inventory.Positioned{}, g.err)
		}
	}
}

func serveGenerated(t *testing.T, store generated) caller {
	return newCaller(t, startGenerated(t, store, io.Discard), acme, acmeKey)
}

func startGenerated(t *testing.T, store generated, log io.Writer) *httptest.Server {
	t.Helper()
	deps, _, _ := testDepsWithoutResources(t)
	deps.Inventory = inventory.NewService(store)
	deps.Log = slog.New(slog.NewTextHandler(log, nil))
	return startServer(t, deps)
}

// open sends a GET, and leaves the body to be read.
func (c caller) open(path string, headers ...string) *http.Response {
	c.t.Helper()
	r, err := http.NewRequest("GET", c.url+path, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	r.SetBasicAuth(c.user, c.key)
	for _, header := range headers {
		name, value, _ := strings.Cut(header, ": ")
		r.Header.Set(name, value)
	}
	response, err := c.client.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = response.Body.Close() })
	return response
}

// Records pass through without being held, in every format; a million of them in the plainest.
func TestMillionRecords(t *testing.T) {
	for _, test := range []struct {
		path, accept, encoding string
		count                  int
	}{
		{"/api/v1/data", "application/json", "identity", 100_000},
		{"/api/v1/data", "application/json", "gzip", 100_000},
		{"/api/v1/data", "application/x-ndjson", "identity", 100_000},
		{"/api/v1/data?escape=spreadsheet", "text/csv", "identity", 100_000},
		{"/api/v1/data/latest", "application/json", "identity", 100_000},
		{"/api/v1/data", "application/json", "identity", 1_000_000},
	} {
		t.Run(fmt.Sprint(test.count, " ", test.path, " ", test.accept, " ", test.encoding), func(t *testing.T) {
			if test.count > 100_000 || test.encoding == "gzip" {
				suite.Deep(t)
			}
			if test.count > 100_000 && suite.UnderRace {
				t.Skip("make deep runs it without the detector")
			}
			var first, most atomic.Uint64
			store := generated{count: test.count, each: func(i int) {
				if i%(test.count/10) != 0 {
					return
				}
				runtime.GC()
				var stats runtime.MemStats
				runtime.ReadMemStats(&stats)
				if most.Store(max(most.Load(), stats.HeapAlloc)); i == 0 {
					first.Store(stats.HeapAlloc)
				}
			}}
			c := serveGenerated(t, store)
			response := c.open(test.path, "Accept: "+test.accept, "Accept-Encoding: "+test.encoding)
			n, err := io.Copy(io.Discard, response.Body)
			if err != nil {
				t.Fatal(err)
			}
			t.Logf("%+v: %d MB, heap grew by %d KB", test, n>>20, (most.Load()-first.Load())>>10)
			if grown := most.Load() - first.Load(); grown > 8<<20 {
				t.Errorf("%+v: the heap grew by %d MB", test, grown>>20)
			}
		})
	}
}

// Scenario: the store fails when half of the answer is out. Check: no reader can take the
// half for the whole.
func TestDataBrokenOff(t *testing.T) {
	gone := fault.New(fault.StoreUnavailable, "the disk is gone")
	for _, accept := range []string{"application/json", "application/x-ndjson", "text/csv"} {
		for _, encoding := range []string{"identity", "gzip"} {
			var log bytes.Buffer
			server := startGenerated(t, generated{count: 1000, err: gone}, &log)
			response := newCaller(t, server, acme, acmeKey).open("/api/v1/data", "Accept: "+accept, "Accept-Encoding: "+encoding)
			_, err := io.Copy(io.Discard, response.Body)
			server.Close() // what is logged is logged after the client has seen the end
			if response.StatusCode != 200 || err == nil || len(response.Trailer.Get("X-Holdfast-Count")) > 0 {
				t.Errorf("%s %s: %d, read with %v, trailer %v", accept, encoding, response.StatusCode, err, response.Trailer)
			}
			if line := log.String(); !strings.Contains(line, "the disk is gone") || !strings.Contains(line, "records=1000") {
				t.Errorf("log: %s", line)
			}
			if access := regexp.MustCompile(`msg=request method=GET path=/api/v1/data status=200 bytes=[1-9].* aborted=true`); !access.MatchString(log.String()) {
				t.Errorf("log: %s", &log)
			}
		}
	}
}

// As long as nothing is out, an error is an answer like any other.
func TestDataFailsBeforeItBegins(t *testing.T) {
	gone := fault.New(fault.StoreUnavailable, "the disk is gone")
	for _, count := range []int{0, 1, 50} {
		c := serveGenerated(t, generated{count: count, err: gone})
		got := c.do("GET /api/v1/data", "", "Accept: text/csv")
		if got.status != 503 || !json.Valid([]byte(got.body)) ||
			got.header.Get("Content-Type") != "application/json; charset=utf-8" || got.header.Get("Trailer") != "" {
			t.Errorf("after %d: %d %v %s", count, got.status, got.header, got.body)
		}
	}
}

// What comes slowly is not held back until a piece is full.
func TestDataDoesNotWait(t *testing.T) {
	t.Parallel() // it waits
	for _, encoding := range []string{"identity", "gzip"} {
		resume := make(chan struct{})
		store := generated{count: 5, each: func(i int) {
			switch i {
			case 2:
				time.Sleep(1100 * time.Millisecond)
			case 3:
				<-resume
			}
		}}
		c := serveGenerated(t, store)
		response := c.open("/api/v1/data", "Accept: application/x-ndjson", "Accept-Encoding: "+encoding)
		body := io.Reader(response.Body)
		if encoding == "gzip" {
			unzipped, err := gzip.NewReader(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = unzipped
		}
		decoder := json.NewDecoder(body)
		for i := range 5 {
			if i == 3 {
				close(resume)
			}
			var record json.RawMessage
			if err := decoder.Decode(&record); err != nil {
				t.Fatalf("%s: record %d: %v", encoding, i, err)
			}
		}
	}
}

func TestDataGzip(t *testing.T) {
	for _, test := range []struct {
		count    int
		encoding string
		want     string
	}{
		{100, "gzip", "gzip"}, {100, "br, GZIP;q=0.1", "gzip"}, {3000, "gzip", "gzip"},
		{1, "gzip", ""}, {100, "gzip;q=0", ""}, {100, "br", ""}, {100, "x-gzip", ""}, {100, "gzip;q=x", ""},
	} {
		c := serveGenerated(t, generated{count: test.count})
		response := c.open("/api/v1/data", "Accept-Encoding: "+test.encoding, "Accept: application/x-ndjson")
		body := io.Reader(response.Body)
		if response.Header.Get("Content-Encoding") == "gzip" {
			unzipped, err := gzip.NewReader(response.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = unzipped
		}
		text, err := io.ReadAll(body)
		_, _ = io.Copy(io.Discard, response.Body)
		if err != nil || response.Header.Get("Content-Encoding") != test.want ||
			bytes.Count(text, []byte("\n")) != test.count {
			t.Errorf("%+v: %v, %d lines (%v)", test, response.Header, bytes.Count(text, []byte("\n")), err)
		}
		if response.Trailer.Get("X-Holdfast-Count") != fmt.Sprint(test.count) ||
			response.Header.Get("Vary") != "Accept, Accept-Encoding" {
			t.Errorf("%+v: %v %v", test, response.Header, response.Trailer)
		}
	}
}

// Scenario: a reader goes away. Check: the store is not read any further.
func TestDataStopsWhenTheReaderLeaves(t *testing.T) {
	var read int
	done := make(chan struct{})
	deps := testDeps(t)
	store := generated{count: 1 << 30, each: func(i int) { read = i }}
	deps.Inventory = inventory.NewService(store)
	server := startServer(t, deps)
	handler := server.Config.Handler
	server.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(done)
		handler.ServeHTTP(w, r)
	})
	c := newCaller(t, server, acme, acmeKey)
	response := c.open("/api/v1/data")
	_, _ = io.CopyN(io.Discard, response.Body, 100<<10)
	_ = response.Body.Close()
	select {
	case <-done:
		t.Logf("stopped after %d records", read)
	case <-time.After(20 * time.Second):
		t.Error("the store is still being read")
	}
}
