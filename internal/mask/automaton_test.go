package mask

import (
	"encoding/hex"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// steps is how many states are looked at for a text.
func steps(a *automaton, text string) (n int) {
	at := int32(0)
	for i := range len(text) {
		for from := at; int(from) >= len(a.rows) && a.longer(from, text[i]) == 0; n++ {
			from = a.states[from].shorter
		}
		at = a.next(at, text[i])
		n++
	}
	return n
}

// A text costs at most two looks a byte, whatever it has in common with the secrets.
func TestWorkIsLinear(t *testing.T) {
	var nested []string
	for n := 3; n < 300; n++ {
		nested = append(nested, strings.Repeat("a", n)+"b")
	}
	all := patterns{}
	for _, secret := range append(nested, nasty, pem) {
		all.addSecret(secret)
	}
	a := newAutomaton(all)
	for _, text := range []string{
		strings.Repeat("a", 100_000), strings.Repeat(strings.Repeat("a", 299)+"c", 300),
		strings.Repeat(pem[:len(pem)-1], 200),
		strings.Repeat(nasty[:10], 5000), strings.Repeat("YWFh", 20_000),
	} {
		if n := steps(a, text); n > 2*len(text) {
			t.Errorf("%.20q… of %d bytes takes %d steps", text, len(text), n)
		}
	}
}

// A large secret takes room in proportion to its length, whatever it has to be escaped to.
func TestRoomIsLinear(t *testing.T) {
	random := rand.NewChaCha8([32]byte{7})
	raw := make([]byte, 64<<10)
	_, _ = random.Read(raw)
	for name, secret := range map[string]string{
		"bytes":   string(raw),
		"one row": hex.EncodeToString(raw),
		"lines":   strings.Join(slices.Collect(chunksOf(hex.EncodeToString(raw), 20)), "\n"),
	} {
		states := len(New([]string{secret}).automaton.states)
		if most := 60 * len(secret); states > most {
			t.Errorf("%s: a secret of %d bytes has %d states, want at most %d", name, len(secret), states, most)
		}
	}
}

func chunksOf(text string, size int) iter.Seq[string] {
	return func(yield func(string) bool) {
		for chunk := range slices.Chunk([]byte(text), size) {
			if !yield(string(chunk)) {
				return
			}
		}
	}
}

func BenchmarkWriter(b *testing.B) {
	line := "aws_instance.web[3]: Still creating... [id=i-0a1b2c3d4e5f60718, 2m10s elapsed]\n"
	text := []byte(strings.Repeat(line, 1000))
	for _, count := range []int{1, 20, 500} {
		var secrets []string
		random := rand.New(rand.NewPCG(1, 2))
		for range count {
			secret := make([]byte, 24)
			for i := range secret {
				secret[i] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789!$/"[random.IntN(65)]
			}
			secrets = append(secrets, string(secret))
		}
		b.Run(fmt.Sprint(count, " secrets"), func(b *testing.B) {
			w := New(secrets).Writer(io.Discard)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = w.Write(text)
			}
		})
	}
}
