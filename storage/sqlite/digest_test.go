package sqlite

import (
	"bytes"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// TestDigestGuardsLengthKeepingDamage damages bytes so that no length can tell: the body is stored uncompressed and
// stays as long as it was.
func TestDigestGuardsLengthKeepingDamage(t *testing.T) {
	for name, damage := range map[string]func([]byte){
		"first bit":       func(b []byte) { b[0] ^= 1 },
		"bit within":      func(b []byte) { b[len(b)/2] ^= 0x80 },
		"last bit":        func(b []byte) { b[len(b)-1] ^= 1 },
		"bytes swapped":   func(b []byte) { copy(b, append(bytes.Clone(b[100:200]), b[:100]...)) },
		"sector of zeros": func(b []byte) { clear(b[512:1024]) },
	} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref, body := newRef("damaged"), noise(5000)
			mustPut(t, s, ref, body)
			var stored []byte
			row := s.session.conn.QueryRowContext(t.Context(), "SELECT bytes FROM bodies WHERE id = 1 AND encoding = 'raw'")
			if err := row.Scan(&stored); err != nil || len(stored) != len(body)+seal.Overhead {
				t.Fatalf("%d bytes are stored, %v", len(stored), err)
			}
			damage(stored)
			execFile(t, filepath.Dir(s.path), fmt.Sprintf(`UPDATE bodies SET bytes = x'%x' WHERE id = 1`, stored))
			wantDamaged(t, s, ref)
			mustPut(t, s, ref, body) // heals: a new version
			wantBody(t, s, ref, body)
		})
	}
}

// TestDigestGuardsAnotherBody has what is whole in itself stand in the wrong place.
func TestDigestGuardsAnotherBody(t *testing.T) {
	for name, body := range map[string][]byte{"raw": noise(5000), "zstd": realState(10_000)} {
		t.Run(name, func(t *testing.T) {
			s, _ := opened(t)
			ref := newRef("damaged")
			mustPut(t, s, ref, body)
			other := bytes.Clone(body)
			other[len(other)/2] ^= 1
			mustPut(t, s, newRef("other"), other)
			execFile(t, filepath.Dir(s.path),
				fmt.Sprintf(`UPDATE bodies SET bytes = (SELECT bytes FROM bodies WHERE id = 2) WHERE id = 1 AND encoding = '%s'`,
					name))
			wantDamaged(t, s, ref)
		})
	}
}

func wantDamaged(t *testing.T, s *Store, ref state.Ref) {
	t.Helper()
	got, err := s.Current(t.Context(), ref)
	wantFault(t, err, fault.StateCorrupt)
	if got.Body != nil {
		t.Error("there are bytes beside the error")
	}
	got, err = s.Version(t.Context(), ref, 1)
	wantFault(t, err, fault.StateCorrupt)
	if got.Body != nil {
		t.Error("there are bytes beside the error")
	}
}
