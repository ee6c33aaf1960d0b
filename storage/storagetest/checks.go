package storagetest

import (
	"flag"
	"os"
)

// FewChecks is for the TestMain of an engine with files or a server: it has rapid try each
// property 25 times in this process, not 100, of some fifty calls each. The suites notice
// every broken store of this package's own tests with that many. HOLDFAST_TORTURE=1 leaves
// rapid its own number, and -rapid.checks on the command line goes before both.
func FewChecks() {
	if os.Getenv("HOLDFAST_TORTURE") == "1" {
		return
	}
	if err := flag.Set("rapid.checks", "25"); err != nil {
		panic(err) // rapid has such a flag
	}
}
