package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const events = `{"Action":"output","Package":"p","Test":"TestGood","Output":"fine\n"}
{"Action":"pass","Package":"p","Test":"TestGood","Elapsed":6}
{"Action":"output","Package":"p","Test":"TestBad","Output":"    bad_test.go:7: broken\n"}
{"Action":"fail","Package":"p","Test":"TestBad","Elapsed":0.1}
{"Action":"output","Package":"p","Output":"FAIL\tp\t6.2s\n"}
{"Action":"fail","Package":"p","Elapsed":6.2}
go: a line that is no event
{"ImportPath":"q","Action":"build-output","Output":"q/q.go:1: no package\n"}
{"Action":"output","Package":"r","Output":"ok  \tr\t(cached)\n"}
{"Action":"pass","Package":"r","Elapsed":0}
`

func TestReport(t *testing.T) {
	var out strings.Builder
	if err := report(strings.NewReader(events), &out); err == nil {
		t.Error("a failed test is no error")
	}
	for _, want := range []string{"bad_test.go:7: broken", "FAIL\tp", "a line that is no event", "q/q.go:1: no package",
		"ok  \tr\t(cached)", "1 tests passed, 1 failed"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the report lacks %q:\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "fine") {
		t.Errorf("the report has the output of a test that passed:\n%s", &out)
	}
	if err := report(strings.NewReader(strings.ReplaceAll(events, `"fail"`, `"pass"`)), &out); err != nil {
		t.Errorf("all tests passed, and the report says %v", err)
	}
}

func TestSlowest(t *testing.T) {
	file := filepath.Join(t.TempDir(), "events.json")
	if err := os.WriteFile(file, []byte(events), 0o600); err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := slowest([]string{file}, &out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"6.2 s  p\n", "6.0 s  p TestGood  over 5 s\n", "0.1 s  p TestBad\n"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the table lacks %q:\n%s", want, &out)
		}
	}
}
