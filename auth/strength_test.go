package auth

import (
	"runtime"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
)

// All 256 bits of a secret must be random: each takes both values, and none is a copy of
// another or its opposite.
func TestSecretsAreRandomThroughout(t *testing.T) {
	const keys = 200
	columns := make([]strings.Builder, 256) // what each bit was, in key after key
	digits := make([]map[byte]bool, secretDigits)
	for range keys {
		digit := NewKey(orgA)[keyLength-secretDigits:]
		var secret [32]byte
		if !fromBase62(digit, secret[:]) {
			t.Fatal("not a secret of 32 bytes")
		}
		for i := range columns {
			columns[i].WriteByte('0' + secret[i/8]>>(i%8)&1)
		}
		for i := range digits {
			if digits[i] == nil {
				digits[i] = make(map[byte]bool)
			}
			digits[i][digit[i]] = true
		}
	}
	seen := make(map[string]int)
	opposite := strings.NewReplacer("0", "1", "1", "0")
	for i := range columns {
		bit := columns[i].String()
		if !strings.Contains(bit, "0") || !strings.Contains(bit, "1") {
			t.Errorf("bit %d is always %c", i, bit[0])
		}
		for _, same := range []string{bit, opposite.Replace(bit)} {
			if other, ok := seen[same]; ok && other != i {
				t.Errorf("bit %d follows from bit %d", i, other)
			}
			seen[same] = i
		}
	}
	for i := range digits {
		if len(digits[i]) < 40 { // of 62, and 60 in the first place
			t.Errorf("character %d takes %d values only", i, len(digits[i]))
		}
	}
}

// By default strangers hold half of the cores at most, and never none.
func TestChecksTakeHalfOfTheCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for cores, want := range map[int]int64{1: 1, 2: 1, 3: 1, 8: 4} {
		runtime.GOMAXPROCS(cores)
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, VerifierConfig{})
			release := b.holdUp()
			for i := range 2 * cores {
				go b.try(uuid.New(), "bad"+strconv.Itoa(i))
			}
			synctest.Wait()
			if got := b.compared.Load(); got != want {
				t.Errorf("%d checks at once on %d cores, want %d", got, cores, want)
			}
			release()
		})
	}
}
