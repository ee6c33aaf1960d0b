package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// A mistake is answered with what may have been meant.
func TestMistakes(t *testing.T) {
	s := newShell(t)
	for line, want := range map[string]string{
		"stat":                    `unknown command "stat" for "holdfast"; did you mean seal or state?`,
		"state lst":               `did you mean list?`,
		"state nonsense":          "unknown command \"nonsense\" for \"holdfast state\"\n",
		"serve --sotrage-path x":  "unknown flag: --sotrage-path; did you mean --storage-path?",
		"serve --max-bytes 1":     "did you mean --state-max-bytes?",
		"serve --quite-unrelated": "unknown flag: --quite-unrelated\n",
		"state show":              "it is `holdfast state show NAME`, and got 0 arguments\n",
		"run show a b":            "it is `holdfast run show RUN`, and got 2 arguments\n",
	} {
		code, out, errs := s.run(strings.Fields(line)...)
		if code != exitUsage || out != "" || !strings.Contains(errs, want) ||
			!strings.Contains(errs, "--help` shows how it is used") {
			t.Errorf("%s: exit %d, %s%s; want %s", line, code, out, errs, want)
		}
	}
}

// Who asks for JSON gets the error as JSON too, where errors go.
func TestFailuresAsJSON(t *testing.T) {
	s := newShell(t)
	s.serving(reports(t))
	for line, want := range map[string]api.ErrorCode{
		"state show --json":                          "usage",
		"run show 01JD8X6Q4ZK4T1M5S0R9V7E2WB --json": "runs_off",
		"key list --json --auth-file none":           "failed",
	} {
		code, out, errs := s.run(strings.Fields(line)...)
		var failure api.Failure
		if err := json.Unmarshal([]byte(errs), &failure); err != nil || failure.Code != want || failure.Message == "" ||
			code == exitOK || out != "" {
			t.Errorf("%s: exit %d, %s%s; want %s, %v", line, code, out, errs, want, err)
		}
		if (want == "runs_off") != (failure.RequestID != "") {
			t.Errorf("%s: the request is %q", line, failure.RequestID)
		}
	}
}

func TestVersionFlag(t *testing.T) {
	s := newShell(t)
	if flag, command := s.must("--version"), s.must("version"); flag != command || !strings.HasPrefix(flag, "holdfast ") {
		t.Errorf("%q and %q", flag, command)
	}
}
