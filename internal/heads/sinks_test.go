package heads_test

import (
	"bytes"
	"crypto/ed25519"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/internal/heads"
)

// TestCutOffLine: a line of which the disk has only a part hides none that come behind it, and what was changed in a
// line is found all the same.
func TestCutOffLine(t *testing.T) {
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	line := func(place uint64) []byte {
		return heads.Sign(key, uuid.New(), audit.Chain{Head: audit.Mark{Sequence: place}, Place: place}, time.Now()).Line()
	}
	path := filepath.Join(t.TempDir(), "heads")
	for i, half := range [][]byte{line(1), line(2)[:40], line(3), []byte("{"), line(4)} {
		if i%2 == 1 {
			f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := f.Write(half); err != nil {
				t.Fatal(err)
			}
			_ = f.Close()
			continue
		}
		if err := heads.File(path).Send(t.Context(), [][]byte{half}); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	all, err := heads.Read(bytes.NewReader(text))
	if err != nil || len(all) != 3 || all[2].Entries != 4 {
		t.Errorf("%+v, %v", all, err)
	}
	changed := strings.Replace(string(text), `"entries":3`, `"entries":9`, 1)
	if _, err := heads.Read(strings.NewReader(changed)); err == nil {
		t.Error("a line that was changed is passed over")
	}
}
