package agent

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Where there is too much, logs go before states, the oldest first, and the newest file stays.
func TestTooMuchThatIsKept(t *testing.T) {
	for most, want := range map[int64]string{
		400: "a-errored.tfstate b.log c-errored.tfstate d.log", 300: "a-errored.tfstate c-errored.tfstate d.log",
		200: "c-errored.tfstate d.log", 100: "d.log", 0: "d.log",
	} {
		work := t.TempDir()
		if err := os.Mkdir(keptIn(work), 0o700); err != nil {
			t.Fatal(err)
		}
		now := time.Now()
		for i, name := range []string{"a-errored.tfstate", "b.log", "c-errored.tfstate", "d.log"} {
			path, at := filepath.Join(keptIn(work), name), now.Add(time.Duration(i-9)*time.Hour)
			if err := os.WriteFile(path, make([]byte, 100), 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, at, at); err != nil {
				t.Fatal(err)
			}
		}
		told := map[string]bool{}
		if err := sweepKept(work, now, most, func(info fs.FileInfo) { told[info.Name()] = true }); err != nil {
			t.Fatal(err)
		}
		left, _ := filepath.Glob(filepath.Join(keptIn(work), "*"))
		for i := range left {
			left[i] = filepath.Base(left[i])
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("of at most %d there is left %s, not %s", most, got, want)
		}
		if len(told)+len(left) != 4 || slices.ContainsFunc(left, func(name string) bool { return told[name] }) {
			t.Errorf("there is left %v, and removed, as it says, %v", left, told)
		}
	}
}

// Vulnerability: a run may leave states behind that no server takes, as large as it likes, and
// executors have runs of several organizations. Check: its own are removed, and not those of others.
func TestLargeStatesDontDriveOutOthers(t *testing.T) {
	work, now := t.TempDir(), time.Now()
	if err := os.Mkdir(keptIn(work), 0o700); err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"others", "large1", "large2", "large3"} {
		path, at := filepath.Join(keptIn(work), name+"-1-errored.tfstate"), now.Add(time.Duration(i-9)*time.Hour)
		if err := os.WriteFile(path, make([]byte, 10+190*min(i, 1)), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
		if err := sweepKept(work, now, 100, func(fs.FileInfo) {}); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(filepath.Join(keptIn(work), "others-1-errored.tfstate")); err != nil {
			t.Fatal(err)
		}
		if left, _ := filepath.Glob(filepath.Join(keptIn(work), "*")); len(left) > 2 {
			t.Errorf("there is left %v", left)
		}
	}
}
