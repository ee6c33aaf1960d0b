package linear

import (
	"time"

	"github.com/anishathalye/porcupine"
)

// Compare counts the states of which the search and Porcupine, without its help, have found out whether
// there is an order, and of how many they say the same.
func (h *History) Compare(patience time.Duration) (both, alike int) {
	for _, calls := range h.calls {
		found, _ := orderOf(calls, patience)
		result := porcupine.CheckOperationsTimeout(model(), calls, patience)
		if found == undecided || result == porcupine.Unknown {
			continue
		}
		both++
		if (found == ordered) == (result == porcupine.Ok) {
			alike++
		}
	}
	return both, alike
}

// Undecided counts the states of which the search does not find out.
func (h *History) Undecided(patience time.Duration) (n int) {
	for _, calls := range h.calls {
		if found, _ := orderOf(calls, patience); found == undecided {
			n++
		}
	}
	return n
}
