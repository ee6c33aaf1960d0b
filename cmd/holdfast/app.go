package main

import (
	"io"
	"os"
	"time"
)

// app is what the commands know of the world around them.
type app struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string // as os.Environ returns it
	now            func() time.Time
	interactive    bool // stdin is a person's terminal, so questions may be asked
}

func newApp() *app {
	return &app{
		stdin: os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(), now: time.Now, interactive: isTerminal(os.Stdin),
	}
}
