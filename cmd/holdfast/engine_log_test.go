package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"
)

// A command is one operation, whose ID is in every line of its log. The log goes to stderr, and only where it is asked
// for.
func TestEnginesCommandsLogWithOneID(t *testing.T) {
	s := newShell(t)
	dir := t.TempDir()
	writeConfiguration(t, dir, map[string]string{"main.tf": "resource \"terraform_data\" \"box\" {\n  input = \"hush\"\n}\n"})
	line := []string{"engine", "apply", "--auto-approve", "--dir", dir, "--state", filepath.Join(dir, "terraform.tfstate")}
	code, out, errs := s.run(append(line, "--log-level", "debug", "--log-format", "json")...)
	if code != exitOK || !strings.Contains(out, "Apply complete!") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	ids, operations := map[string]bool{}, map[string]bool{}
	for text := range strings.Lines(errs) {
		var l struct {
			ID        string `json:"correlation_id"`
			Operation string `json:"operation"`
		}
		if err := json.Unmarshal([]byte(text), &l); err != nil || len(l.ID) != 8 {
			t.Fatalf("%v: %s", err, text)
		}
		ids[l.ID], operations[l.Operation] = true, true
	}
	if len(ids) != 1 || !operations["plan"] || !operations["apply"] || strings.Contains(errs, "hush") {
		t.Errorf("IDs %v, operations %v, log:\n%s", ids, operations, errs)
	}
	if _, _, errs := s.run(line...); errs != "" {
		t.Errorf("without being asked it logs %s", errs)
	}
	s.environ = append(s.environ, "HOLDFAST_ENGINE_LOG_LEVEL=info")
	if _, _, errs := s.run(line...); !strings.Contains(errs, "] INFO engine.plan: ") {
		t.Errorf("the log is %s", errs)
	}
	writeConfiguration(t, dir, map[string]string{"more.tf": "output \"o\" {\n  value = var.none\n}\n"})
	_, _, errs = s.run(append(line, "--log-format", "json")...)
	if !strings.Contains(errs, `"exception":"ERROR: `) || !strings.HasPrefix(errs, "{") {
		t.Errorf("a configuration that can't be planned is logged as %s", errs)
	}
	for _, wrong := range [][]string{{"--log-level", "loud"}, {"--log-format", "xml"}} {
		if code, _, errs := s.run(append(line, wrong...)...); code != exitUsage || !strings.Contains(errs, wrong[0]+" is") {
			t.Errorf("%q: exit %d, %s", wrong, code, errs)
		}
	}
}
