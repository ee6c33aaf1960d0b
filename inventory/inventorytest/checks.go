package inventorytest

import (
	"flag"

	"github.com/holdfast/holdfast/internal/killtest"
)

// FewChecks is for the TestMain of an inventory with files or a server: it has rapid try each
// property 25 times in this process, not 100. One try of Model notices each broken store of
// this package's own tests in two of five cases or more, so 25 miss it once in 300,000. That
// does not go for the suites of state.Store: there is one that a try of Rules notices in one
// of fifteen. HOLDFAST_TORTURE=1 leaves rapid its own number, and -rapid.checks on the
// command line goes before both.
func FewChecks() {
	if killtest.Tortures() {
		return
	}
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err) // rapid has such a flag
	}
}
