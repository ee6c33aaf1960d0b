package agent

import (
	"os"
	"path/filepath"
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
		if err := sweepKept(work, now, most); err != nil {
			t.Fatal(err)
		}
		left, _ := filepath.Glob(filepath.Join(keptIn(work), "*"))
		for i := range left {
			left[i] = filepath.Base(left[i])
		}
		if got := strings.Join(left, " "); got != want {
			t.Errorf("of at most %d there is left %s, not %s", most, got, want)
		}
	}
}
