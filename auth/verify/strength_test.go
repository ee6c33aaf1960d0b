package verify

import (
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"
)

// By default strangers hold half of the cores at most, and never none.
func TestChecksTakeHalfOfTheCores(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for cores, want := range map[int]int64{1: 1, 2: 1, 3: 1, 8: 4} {
		runtime.GOMAXPROCS(cores)
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, Config{})
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
