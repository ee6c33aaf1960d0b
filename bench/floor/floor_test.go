package floor_test

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/floor"
	"github.com/holdfast/holdfast/bench/sample"
)

func openLog(t *testing.T) (*floor.Log, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	log, err := floor.OpenLog(path)
	if err != nil {
		t.Fatal(err)
	}
	return log, path
}

// TestFloorsPassTheChecks: what is measured at a server can be measured at its floor, and
// every byte of the answers is right.
func TestFloorsPassTheChecks(t *testing.T) {
	log, path := openLog(t)
	const size, seed = 20_000, 7
	fixed := floor.NewFixed(sample.NewState(size, seed).Bytes())
	for _, test := range []struct {
		mix   bench.Mix
		floor http.Handler
	}{
		{bench.Read, fixed}, {bench.Read, floor.NewStates(log)}, {bench.Cycle, floor.NewStates(log)},
		{bench.Plan, floor.NewStates(log)}, {bench.Upload, floor.NewUploads(log)},
	} {
		server := httptest.NewServer(test.floor)
		t.Cleanup(server.Close)
		load, err := bench.Open(t.Context(), bench.Target{Address: server.URL},
			bench.Options{Mix: test.mix, Size: size, Seed: seed, Connections: 4, Name: "floor"})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(load.Close)
		result, err := load.Run(t.Context(), bench.Window{Duration: 10 * time.Second, Count: 40})
		if err != nil || result.Operations != 40 || result.Failed() != 0 {
			t.Errorf("%s: %+v, %v", test.mix, result, err)
		}
		if err := load.Remove(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	if syncs, found := log.Syncs(), records(t, path); syncs == 0 || int(syncs) > len(found) {
		t.Errorf("%d syncs for %d records", syncs, len(found))
	}
}

func TestLocksHold(t *testing.T) {
	log, _ := openLog(t)
	states := floor.NewStates(log)
	for _, step := range []struct {
		method, query, body string
		want                int
	}{
		{http.MethodGet, "", "", 404},
		{"LOCK", "", `{"ID":"a"}`, 200},
		{"LOCK", "", `{"ID":"b"}`, 409},
		{http.MethodPost, "?ID=b", `{}`, 409},
		{http.MethodPost, "", `{}`, 409},
		{http.MethodPost, "?ID=a", `{"serial":1}`, 200},
		{"UNLOCK", "", `{"ID":"b"}`, 400},
		{"UNLOCK", "", `{"ID":"a"}`, 200},
		{http.MethodPost, "?ID=a", `{}`, 409},
		{http.MethodGet, "", "", 200},
	} {
		answer := httptest.NewRecorder()
		states.ServeHTTP(answer, httptest.NewRequest(step.method, "/api/v1/state/x"+step.query, strings.NewReader(step.body)))
		if answer.Code != step.want {
			t.Errorf("%s%s %s: %d, want %d", step.method, step.query, step.body, answer.Code, step.want)
		}
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
}

// TestLogKeepsEverything: each record that was acknowledged is in the file, whole.
func TestLogKeepsEverything(t *testing.T) {
	log, path := openLog(t)
	var writers sync.WaitGroup
	for i := range 16 {
		writers.Go(func() {
			for k := range 20 {
				big := bytes.Repeat([]byte{byte(i)}, 1+k*30_000)
				if err := log.Append(big[:1], big[1:]); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writers.Wait()
	syncs := log.Syncs() // what was acknowledged is synced already
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	lengths := map[int]int{}
	for _, record := range records(t, path) {
		if bytes.Count(record, record[:1]) != len(record) {
			t.Error("a record is torn")
		}
		lengths[len(record)]++
	}
	for k := range 20 {
		if lengths[1+k*30_000] != 16 {
			t.Errorf("%d records of %d bytes, want 16", lengths[1+k*30_000], 1+k*30_000)
		}
	}
	if syncs < 20 || syncs > 320 {
		t.Errorf("%d syncs for 320 records of 16 writers", syncs)
	}
}

// records reads a log back.
func records(t *testing.T, path string) (all [][]byte) {
	t.Helper()
	rest, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for len(rest) > 0 {
		end := 8 + binary.LittleEndian.Uint64(rest)
		all = append(all, rest[8:end])
		rest = rest[end:]
	}
	return all
}
