package bench_test

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/middleware"
)

func TestMixes(t *testing.T) {
	steps := map[bench.Mix]string{
		bench.Cycle: "GET LOCK POST UNLOCK", bench.Plan: "GET LOCK UNLOCK", bench.Read: "GET", bench.Write: "POST",
		bench.Upload: "UPLOAD",
	}
	target := listen(t, serve(t, middleware.Limits{}))
	for mix, want := range steps {
		t.Run(string(mix), func(t *testing.T) {
			load := open(t, target, bench.Options{Mix: mix, Connections: 3, MD5: true})
			result := measure(t, load, 30)
			if result.Operations != 30 || result.Failed() != 0 || result.PerSecond <= 0 {
				t.Errorf("%+v", result)
			}
			if l := result.Latency; l.P50 <= 0 || l.P50 > l.P95 || l.P95 > l.P99 || l.P99 > l.Max*1.01 {
				t.Errorf("latencies %+v", l)
			}
			for step := range strings.FieldsSeq(want) {
				if _, ok := result.Steps[step]; !ok || len(result.Steps) != len(strings.Fields(want)) {
					t.Errorf("steps %v, want %s", result.Steps, want)
				}
			}
			if err := load.Remove(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// deletions starts a server that counts the states that are taken away.
func deletions(t *testing.T) (bench.Target, *atomic.Int64) {
	var found atomic.Int64
	router := serve(t, middleware.Limits{})
	return listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		watched := httptest.NewRecorder()
		router.ServeHTTP(watched, r)
		if r.Method == http.MethodDelete && watched.Code == http.StatusOK {
			found.Add(1)
		}
		w.WriteHeader(watched.Code)
		_, _ = watched.Body.WriteTo(w)
	})), &found
}

// A load that some of the keys can't be used for leaves nothing of the others, and says so
// once, however many connections there are.
func TestFailedOpenLeavesNoStates(t *testing.T) {
	target, found := deletions(t)
	target.Identities[1].Key = "wrong"
	_, err := bench.Open(t.Context(), target, bench.Options{Mix: bench.Cycle, Size: 10_000, Connections: 6, Name: "bench"})
	if err == nil || strings.Count(err.Error(), "POST 401") != 1 || strings.Contains(err.Error(), "DELETE") {
		t.Errorf("%v", err)
	}
	if found.Load() != 3 {
		t.Errorf("%d states were removed, want the 3 that were written", found.Load())
	}
}

// A state that the server has taken is removed, though its answer never came.
func TestUnansweredWritesLeaveNoStates(t *testing.T) {
	router := serve(t, middleware.Limits{})
	var left atomic.Int64
	target := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.Method {
		case http.MethodPost:
			left.Add(1)
			router.ServeHTTP(httptest.NewRecorder(), r)
			panic(http.ErrAbortHandler)
		case http.MethodDelete:
			left.Add(-1)
		}
		router.ServeHTTP(w, r)
	}))
	_, err := bench.Open(t.Context(), target, bench.Options{Mix: bench.Cycle, Size: 10_000, Connections: 3, Name: "bench"})
	if err == nil || left.Load() != 0 {
		t.Errorf("%d states are left, %v", left.Load(), err)
	}
}

// A load that spares its organization ends while a quarter of the limit is left.
func TestSparingLeavesAShare(t *testing.T) {
	const limit = 200
	router := serve(t, middleware.Limits{States: limit})
	var asked atomic.Int64
	target := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		router.ServeHTTP(w, r)
	}))
	target.Identities = target.Identities[:1]
	load := open(t, target, bench.Options{Mix: bench.Read, Connections: 4, Sparing: true})
	result := measure(t, load, 10*limit)
	if !result.Spent || result.Failed() > 0 || result.Operations < limit/2 {
		t.Errorf("%+v", result)
	}
	if n := asked.Load(); n > limit*3/4+8 {
		t.Errorf("%d of %d requests were sent", n, limit)
	}
	if err := load.Remove(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestRemoveLeavesNoStates(t *testing.T) {
	target, found := deletions(t)
	load := open(t, target, bench.Options{Mix: bench.Cycle, Connections: 3})
	measure(t, load, 5)
	if err := load.Remove(t.Context()); err != nil || found.Load() != 3 {
		t.Errorf("%d states were removed, %v", found.Load(), err)
	}
}

// damaging changes one byte in the middle of the nth answer to a GET.
func damaging(handler http.Handler, nth int64, damage func([]byte) []byte) http.Handler {
	var seen atomic.Int64
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet || seen.Add(1) != nth {
			handler.ServeHTTP(w, r)
			return
		}
		whole := httptest.NewRecorder()
		handler.ServeHTTP(whole, r)
		w.WriteHeader(whole.Code)
		_, _ = w.Write(damage(whole.Body.Bytes()))
	})
}

func TestDamageIsNoticed(t *testing.T) {
	for name, damage := range map[string]func([]byte) []byte{
		"flipped": func(b []byte) []byte { b[len(b)/2] ^= 1; return b },
		"last":    func(b []byte) []byte { b[len(b)-1] ^= 1; return b },
		"short":   func(b []byte) []byte { return b[:len(b)-1] },
		"long":    func(b []byte) []byte { return append(b, '\n') },
		"empty":   func([]byte) []byte { return nil },
		"older":   func(b []byte) []byte { return bytes.Replace(b, []byte(`"serial": 1`), []byte(`"serial": 2`), 1) },
	} {
		for _, mix := range []bench.Mix{bench.Cycle, bench.Read} {
			t.Run(name+"/"+string(mix), func(t *testing.T) {
				t.Parallel()
				target := listen(t, damaging(serve(t, middleware.Limits{}), 4, damage))
				result := measure(t, open(t, target, bench.Options{Mix: mix, Size: 200_000, Connections: 1}), 10)
				if result.Errors["GET "+bench.Differs] != 1 || result.Failed() != 1 || result.Operations != 10 {
					t.Errorf("%d operations, errors %v", result.Operations, result.Errors)
				}
			})
		}
	}
}

func TestCompressedAnswers(t *testing.T) {
	for _, damaged := range []bool{false, true} {
		var compressed atomic.Int64
		target := listen(t, compressing(serve(t, middleware.Limits{}), func(packed []byte) []byte {
			if compressed.Add(1) == 4 && damaged {
				packed[len(packed)/2] ^= 1
			}
			return packed
		}))
		load := open(t, target, bench.Options{Mix: bench.Read, Connections: 1, Gzip: true})
		result := measure(t, load, 10)
		if failed := result.Failed(); (failed == 1) != damaged || compressed.Load() < 10 || !result.Gzip {
			t.Errorf("damaged %v: %d compressed, errors %v", damaged, compressed.Load(), result.Errors)
		}
	}
}

func TestLimitsAreTold(t *testing.T) {
	target := listen(t, serve(t, middleware.Limits{States: 20}))
	target.Identities = target.Identities[:1]
	load := open(t, target, bench.Options{Mix: bench.Read, Connections: 2})
	result, err := load.Run(t.Context(), bench.Window{Duration: 200 * time.Millisecond})
	if err != nil || !result.Limited() || result.Errors["GET 429"] == 0 ||
		!strings.Contains(result.Examples["GET 429"], "rate_limited") {
		t.Errorf("%+v, %v", result, err)
	}
	if result.Operations < 15 || result.Operations > 25 {
		t.Errorf("%d operations", result.Operations)
	}
}

// TestFailuresAreOvercome: what fails halfway leaves no lock and no doubt behind.
func TestFailuresAreOvercome(t *testing.T) {
	for _, method := range []string{"LOCK", http.MethodPost, "UNLOCK"} {
		for _, applied := range []bool{false, true} {
			var seen atomic.Int64
			router := serve(t, middleware.Limits{})
			target := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != method || seen.Add(1) != 3 {
					router.ServeHTTP(w, r)
					return
				}
				if applied {
					router.ServeHTTP(httptest.NewRecorder(), r)
				}
				panic(http.ErrAbortHandler)
			}))
			result := measure(t, open(t, target, bench.Options{Mix: bench.Cycle, Connections: 1}), 5)
			if result.Errors[method+" connection"] != 1 || result.Failed() != 1 {
				t.Errorf("%s, applied %v: %v", method, applied, result.Errors)
			}
		}
	}
}

func TestSlowOperationsGetTheirTime(t *testing.T) {
	router := serve(t, middleware.Limits{})
	target := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			time.Sleep(20 * time.Millisecond)
		}
		router.ServeHTTP(w, r)
	}))
	load := open(t, target, bench.Options{Mix: bench.Read, Connections: 1})
	result, err := load.Run(t.Context(), bench.Window{Duration: 10 * time.Millisecond, Least: 2})
	if err != nil || result.Operations < 1 || result.Seconds < 0.02 {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestPatience: a load that waits for a crowded server counts that, and nothing fails.
func TestPatience(t *testing.T) {
	for _, patient := range []bool{true, false} {
		var seen atomic.Int64
		router := serve(t, middleware.Limits{})
		target := listen(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method == http.MethodPost && seen.Add(1) == 2 {
				http.Error(w, "too much at once", http.StatusServiceUnavailable)
				return
			}
			router.ServeHTTP(w, r)
		}))
		result := measure(t, open(t, target, bench.Options{Mix: bench.Cycle, Connections: 1, Patient: patient}), 3)
		if patient && (result.Waits != 1 || result.Failed() != 0) || !patient && (result.Waits != 0 || result.Failed() != 1) {
			t.Errorf("patient %v: %d waits, %v", patient, result.Waits, result.Errors)
		}
	}
}

func TestRunEnds(t *testing.T) {
	load := open(t, listen(t, serve(t, middleware.Limits{})), bench.Options{Mix: bench.Plan, Connections: 2})
	ctx, cancel := context.WithCancel(t.Context())
	_, err := load.Run(ctx, bench.Window{Duration: time.Hour, Begin: cancel})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

func TestOpenRefuses(t *testing.T) {
	target := listen(t, serve(t, middleware.Limits{}))
	if _, err := bench.Open(t.Context(), target, bench.Options{Mix: "walk"}); err == nil {
		t.Error("an unknown mix is no error")
	}
	if _, err := bench.Open(t.Context(), bench.Target{Address: "127.0.0.1:1"},
		bench.Options{Mix: bench.Read}); err == nil {
		t.Error("an address that is no URL is no error")
	}
	target.Identities = []bench.Identity{{Key: "wrong"}}
	if _, err := bench.Open(t.Context(), target,
		bench.Options{Mix: bench.Read, Connections: 1, Size: 10_000}); err == nil ||
		!strings.Contains(err.Error(), "POST 401") {
		t.Errorf("with a wrong key: %v", err)
	}
}
