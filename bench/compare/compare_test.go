package main

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/bench"
)

// TestMain lets the test's own binary be a floor, as the program's is.
func TestMain(m *testing.M) {
	if slices.Contains(os.Args, "-floor") {
		main()
		return
	}
	os.Exit(m.Run())
}

func TestFloorsAreProcesses(t *testing.T) {
	for kind, mix := range map[string]bench.Mix{fixedFloor: bench.Read, durableFloor: bench.Cycle,
		uploadFloor: bench.Upload, openFloor: bench.Read} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			process, err := startFloor(t.Context(), t.TempDir(), floorOptions{kind, size10KB})
			if err != nil {
				t.Fatal(err)
			}
			s := &side{process: process, floor: true}
			if err := s.open(t.Context(), []bench.Identity{{Org: uuid.New(), Key: "anybody"}},
				bench.Options{Mix: mix, Size: size10KB, Connections: 4, Name: "x", Seed: seed}); err != nil {
				t.Fatal(err)
			}
			if err := s.measure(t.Context(), options{duration: 200 * time.Millisecond}); err != nil {
				t.Fatal(err)
			}
			f := s.summary()
			if len(f.PerSecond) != 1 || f.PerSecond[0] <= 0 || f.failed() != 0 || f.Latency.P99 <= 0 {
				t.Errorf("%+v", f)
			}
			if durable := kind == durableFloor || kind == uploadFloor; durable && (f.Syncs <= 0 || f.Syncs > 4000) || !durable &&
				f.Syncs >= 0 {
				t.Errorf("%.1f fsyncs for 1,000 operations", f.Syncs)
			}
			if runtime.GOOS == "linux" && f.Peak < 1<<20 {
				t.Errorf("a peak of %d bytes", f.Peak)
			}
			if err := s.stop(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestUnknownFloor(t *testing.T) {
	if _, err := startFloor(t.Context(), t.TempDir(), floorOptions{"none", 0}); err == nil ||
		!strings.Contains(err.Error(), `there is no floor "none"`) {
		t.Errorf("%v", err)
	}
}

func TestRatiosAreOfPairs(t *testing.T) {
	got := ratios([]float64{50, 120, 90, 10}, []float64{100, 200, 100, 0})
	if want := (spread{Min: 0.5, Median: 0.6, Max: 0.9}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := spreadOf([]float64{4, 1, 2, 3}); got != (spread{1, 2.5, 4}) {
		t.Errorf("%+v", got)
	}
	runs := []measured{{Result: bench.Result{PerSecond: 3}}, {Result: bench.Result{PerSecond: 1}},
		{Result: bench.Result{PerSecond: 2}}}
	if got := middleOf(runs); got.PerSecond != 2 {
		t.Errorf("the run in the middle has %v", got.PerSecond)
	}
}

func TestSummaryIsOfAllRuns(t *testing.T) {
	one := measured{bench.Result{Operations: 100, PerSecond: 10, Errors: map[string]int64{"GET 503": 1}}, 1, 5, 2}
	two := measured{bench.Result{Operations: 300, PerSecond: 30, Errors: map[string]int64{"GET 503": 2}}, 3, 15, 6}
	process, err := startFloor(t.Context(), t.TempDir(), floorOptions{fixedFloor, size10KB})
	if err != nil {
		t.Fatal(err)
	}
	s := &side{process: process, runs: []measured{one, two}}
	if f := s.summary(); f.CPU != 10 || f.Flushes != 50 || f.Syncs != 20 || f.failed() != 3 ||
		!slices.Equal(f.PerSecond, []float64{10, 30}) {
		t.Errorf("%+v", f)
	}
	if err := s.stop(); err != nil {
		t.Error(err)
	}
}

func TestDocsAreUpdated(t *testing.T) {
	path := filepath.Join(t.TempDir(), "results.md")
	write := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("before\n" + docsBegin + "old\n" + docsEnd + "after\n")
	for range 2 {
		if err := updateDocs(path, "| new |\n"); err != nil {
			t.Fatal(err)
		}
	}
	want := "before\n" + docsBegin + "\n| new |\n\n" + docsEnd + "after\n"
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%v, %q", err, text)
	}
	write("no markers")
	if err := updateDocs(path, "x"); err == nil {
		t.Error("a file without markers is no error")
	}
}

func TestReport(t *testing.T) {
	o := outcome{row: rows(false)[1], Ratio: spread{0.5, 0.75, 1}, Server: figures{PerSecond: []float64{750}, Flushes: -1},
		Base: figures{PerSecond: []float64{1000}}}
	text := report{Runs: 3, Seconds: 4, Rows: []outcome{o}}.markdown()
	for _, want := range []string{"| read | 10 KB | 16          | fixed | 0.8      | 0.75  | 0.50 to 1.00 | 750   | 1000 ",
		"| –             | 0 "} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestPages: the page of results has the markers, and the one about measuring names what the
// program calls things.
func TestPages(t *testing.T) {
	if _, _, err := readDocs("../../" + resultsPage); err != nil {
		t.Error(err)
	}
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	floors := []string{"`" + fixedFloor + "`", "`" + durableFloor + "`", "`" + uploadFloor + "`", "`" + openFloor + "`"}
	for _, want := range append(floors, "make bench", "-docs "+resultsPage) {
		if !strings.Contains(string(page), want) {
			t.Errorf("docs/performance.md does not say %s", want)
		}
	}
}

// What is wrong with the flags is said before anything is measured, and nothing that makes no
// sense gets into the results.
func TestFlagsAreChecked(t *testing.T) {
	good := options{only: "^read 10 KB 16$", runs: 1, duration: time.Second}
	if rows, err := good.check(); err != nil || len(rows) != 1 {
		t.Errorf("%v, %v", rows, err)
	}
	unmarked := filepath.Join(t.TempDir(), "unmarked.md")
	if err := os.WriteFile(unmarked, []byte("# Performance"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(*options){
		"-only: ":            func(o *options) { o.only = "[" },
		"names no row":       func(o *options) { o.only = "^read 10 MB" },
		"\"^read 10 KB 1$\"": func(o *options) { o.only, o.quick = "^read 10 KB 1$", true },
		"-runs is at least":  func(o *options) { o.runs = 0 },
		"-duration above 0":  func(o *options) { o.duration = -1 },
		"-warmup at least 0": func(o *options) { o.warmup = -1 },
		"no such file":       func(o *options) { o.docs = unmarked + "x" },
		"no markers":         func(o *options) { o.docs = unmarked },
	} {
		o := good
		change(&o)
		if _, err := o.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want …%s…", o, err, want)
		}
	}
}
