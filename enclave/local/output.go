package local

import (
	"errors"
	"io"
	"os"
	"time"
)

// output reads what a tool prints to a file, as it grows. It is no pipe: a tool that outlives this process goes on
// printing, and comes to the end of what it does.
type output struct {
	file  *os.File
	at    int64
	ended <-chan struct{} // closed once nothing more is printed
	last  bool            // it was looked at after that
}

// printTick is how often it is looked whether something was printed.
const printTick = 50 * time.Millisecond

// Read implements io.Reader. It waits for what comes.
func (o *output) Read(text []byte) (int, error) {
	for {
		n, err := o.file.ReadAt(text, o.at)
		if n > 0 {
			o.at += int64(n)
			forget(o.file, o.at)
			return n, nil
		}
		if err != nil && !errors.Is(err, io.EOF) || len(text) == 0 {
			return 0, err
		}
		if o.last {
			return 0, io.EOF
		}
		select {
		case <-o.ended:
			o.last = true
		case <-time.After(printTick):
		}
	}
}
