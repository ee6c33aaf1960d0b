package suite

import "testing"

// Deep skips the test under -short, which `make test` sets: the test takes long, or its result changes only when the
// suite that it proves changes. `make deep` runs it, and `make deep-list` lists all calls of this function.
func Deep(t testing.TB) {
	t.Helper()
	if testing.Short() {
		t.Skip("deep: `make deep` runs this test, `make test` does not")
	}
}
