package seal_test

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/seal/sealtest"
)

func randomBytes(n int) []byte {
	out := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(out)
	return out
}

func sealPieces(t testing.TB, s *seal.Sealer, org uuid.UUID, name string, plain []byte) (pieces [][]byte) {
	t.Helper()
	must(t, s.SealPieces(t.Context(), org, "plan", name, bytes.NewReader(plain), func(i int, sealed []byte) error {
		if i != len(pieces) {
			t.Errorf("piece %d comes after %d others", i, len(pieces))
		}
		pieces = append(pieces, sealed)
		return nil
	}))
	return pieces
}

func openPieces(t testing.TB, s *seal.Sealer, org uuid.UUID, name string, pieces [][]byte) io.Reader {
	return s.OpenPieces(t.Context(), org, "plan", name, func(i int) ([]byte, error) {
		if i >= len(pieces) {
			return nil, fs.ErrNotExist
		}
		return pieces[i], nil
	})
}

func TestPieces(t *testing.T) {
	s, org := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New()
	const mib = seal.PieceBytes
	for size, want := range map[int]int{0: 1, 1: 1, mib - 1: 1, mib: 1, mib + 1: 2, 2 * mib: 2, 3*mib - 1: 3} {
		plain := randomBytes(size)
		pieces := sealPieces(t, s, org, "a", plain)
		if len(pieces) != want {
			t.Errorf("%d bytes are %d pieces, want %d", size, len(pieces), want)
		}
		got, err := io.ReadAll(openPieces(t, s, org, "a", pieces))
		if err != nil || !bytes.Equal(got, plain) {
			t.Errorf("of %d bytes %d came back, %v", size, len(got), err)
		}
	}
}

func TestPiecesReadLikeAFile(t *testing.T) {
	s, org := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New()
	plain := randomBytes(seal.PieceBytes + 1000)
	if err := iotest.TestReader(openPieces(t, s, org, "a", sealPieces(t, s, org, "a", plain)), plain); err != nil {
		t.Error(err)
	}
}

func TestPiecesThatDoNotBelong(t *testing.T) {
	s, org := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New()
	plain := randomBytes(2*seal.PieceBytes + 5)
	good, again, other := sealPieces(t, s, org, "a", plain), sealPieces(t, s, org, "a", plain),
		sealPieces(t, s, org, "b", plain)
	whole := mustSeal(t, s, org, "plan", "a", string(plain))
	for name, pieces := range map[string][][]byte{
		"none":             {},
		"the last dropped": good[:2],
		"the first only":   good[:1],
		"one dropped":      {good[0], good[2]},
		"one twice":        {good[0], good[0], good[1], good[2]},
		"other order":      {good[1], good[0], good[2]},
		"another name":     {good[0], other[1], good[2]},
		"an older sealing": {good[0], again[1], good[2]},
		"its older end":    {good[0], good[1], again[2]},
		"no piece":         {whole},
		"cut off":          {good[0], good[1][:1000], good[2]},
	} {
		got, err := io.ReadAll(openPieces(t, s, org, "a", pieces))
		wantCode(t, err, fault.SealCorrupt)
		if !bytes.HasPrefix(plain, got) {
			t.Errorf("%s: read something else", name)
		}
		if len(got) == len(plain) {
			t.Errorf("%s: read everything", name)
		}
	}
	if _, err := s.Open(t.Context(), org, "plan", "a", good[0]); err == nil {
		t.Error("a piece opens as a whole")
	}
	_, err := io.ReadAll(openPieces(t, s, org, "b", good))
	wantCode(t, err, fault.SealCorrupt)
}

// What fails on the way is reported, and nothing after it is put or read.
func TestPiecesFail(t *testing.T) {
	s, org, broken := seal.New(newMaster(t), &sealtest.Memory{}), uuid.New(), errors.New("broken")
	var put []int
	keep := func(i int, _ []byte) error { put = append(put, i); return nil }
	source := io.MultiReader(bytes.NewReader(randomBytes(seal.PieceBytes+1)), iotest.ErrReader(broken))
	if err := s.SealPieces(t.Context(), org, "plan", "a", source, keep); !errors.Is(err, broken) {
		t.Error(err)
	}
	if !slices.Equal(put, []int{0}) {
		t.Errorf("put %v", put)
	}
	err := s.SealPieces(t.Context(), org, "plan", "a", strings.NewReader("x"), func(int, []byte) error { return broken })
	if !errors.Is(err, broken) {
		t.Error(err)
	}
	r := s.OpenPieces(t.Context(), org, "plan", "a", func(int) ([]byte, error) { return nil, broken })
	for range 2 {
		if _, err := r.Read(make([]byte, 1)); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}
