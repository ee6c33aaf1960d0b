package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/bench"
)

func TestPointsAreLines(t *testing.T) {
	var out strings.Builder
	p := point{Curve: "versions", X: 10, Result: bench.Result{PerSecond: 250, Latency: bench.Latency{P50: 1, P99: 2},
		Steps: map[string]bench.Latency{"POST": {P50: 0.5, P99: 1.5}, "GET": {P50: 0.25, P99: 1}}, Waits: 7,
		Errors: map[string]int64{"GET 503": 3}},
		CPU: 0.5, Resident: 1 << 20, Peak: 2 << 20, Disk: 3 << 20, Start: 0.125}
	p.print(&out)
	want := `versions,10,all,250.0,1.000,2.000,3,7,0.500,1.0,2.0,3.0,0.125
versions,10,GET,250.0,0.250,1.000,3,7,0.500,1.0,2.0,3.0,0.125
versions,10,POST,250.0,0.500,1.500,3,7,0.500,1.0,2.0,3.0,0.125
`
	if out.String() != want {
		t.Errorf("printed\n%swant\n%s", &out, want)
	}
	if columns := strings.Count(csvHeader, ","); columns != strings.Count(strings.SplitN(want, "\n", 2)[0], ",") {
		t.Errorf("the header has %d commas", columns)
	}
}

func TestSizeOf(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a", "b"} {
		if err := os.WriteFile(filepath.Join(dir, name), make([]byte, 100), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := sizeOf(dir); err != nil || got != 200 {
		t.Errorf("%d bytes, %v", got, err)
	}
	if got, err := sizeOf(filepath.Join(dir, "nowhere")); err != nil || got != 0 {
		t.Errorf("a folder that is not there has %d bytes, %v", got, err)
	}
}

// TestCurvesAreDocumented: every curve is in the page's table.
func TestCurvesAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../../docs/performance.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range curves() {
		if !strings.Contains(string(page), "| "+c.name) && !strings.Contains(string(page), ", "+c.name+" |") {
			t.Errorf("docs/performance.md does not say what %q is", c.name)
		}
	}
}

func TestFlagsAreChecked(t *testing.T) {
	good := options{only: "^versions", limit: time.Second, duration: time.Second}
	if wanted, err := good.check(); err != nil || len(wanted) != 2 {
		t.Errorf("%d curves, %v", len(wanted), err)
	}
	for want, o := range map[string]options{
		"-only: ":         {only: "[", limit: 1, duration: 1},
		"names no curve":  {only: "none", limit: 1, duration: 1},
		"are above 0":     {duration: 1},
		"-duration are a": {limit: 1},
	} {
		if _, err := o.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%+v: %v, want …%s…", o, err, want)
		}
	}
}
