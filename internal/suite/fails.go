package suite

import (
	"flag"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// Fails runs one test on the broken store that this line of the environment names,
// and wants it to fail by its own judgement: not by a panic, a data race or a time-out.
func Fails(t *testing.T, environment, test string) {
	t.Helper()
	pattern := "^" + strings.ReplaceAll(test, "/", "$/^") + "$"
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run="+pattern, "-test.timeout=2m")
	if flag.Lookup("rapid.nofailfile") != nil { // the test has properties
		cmd.Args = append(cmd.Args, "-rapid.nofailfile", "-rapid.shrinktime=0s")
	}
	cmd.Env = append(os.Environ(), environment)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("%s passes", test)
	}
	text := string(out)
	if !strings.Contains(text, "--- FAIL: "+test) || strings.Contains(text, "DATA RACE") ||
		strings.Contains(text, "panic: ") {
		t.Errorf("%s went wrong in another way: %v\n%.3000s", test, err, text)
	}
}
