// Fuzzkeep moves the seeds that go test -fuzz has left as files, below the current folder, into
// the archives of their targets: go run ./internal/fuzzkeep, or make fuzz-keep.
package main

import (
	"fmt"
	"os"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func main() {
	if err := keep(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func keep() error {
	folders, err := fuzzseeds.Loose(".")
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if err := fuzzseeds.Keep(folder); err != nil {
			return err
		}
		fmt.Println(folder)
	}
	return nil
}
