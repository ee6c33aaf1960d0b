package killtest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
)

// Child is for the first lines of a TestMain. It returns at once, unless this process is a
// child that Kill started with this variable: then it works on the folder that the variable
// names, until the process dies.
func Child[S any](variable string, open func(dir string) (S, error), work func(store S, seed uint64)) {
	dir := os.Getenv(variable)
	if dir == "" {
		return
	}
	go func() {
		// The parent writes nothing: the end of its pipe is its own end.
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(1)
	}()
	store, err := open(dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	seed, _ := strconv.ParseUint(os.Getenv(seedVariable), 10, 64) // the parent wrote it
	work(store, seed)
}

// Tell writes a line in one piece: the kill never leaves half of one behind.
func Tell(e Told) {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = os.Stdout.Write(append(line, '\n'))
	}
	if err != nil {
		os.Exit(1) // nobody listens
	}
}
