package main

import (
	"bufio"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/term"
)

// app is what the commands know of the world around them.
type app struct {
	program        string // the file that was started, as os.Args has it
	stdin          io.Reader
	stdout, stderr io.Writer
	environ        []string // as os.Environ returns it
	now            func() time.Time
	interactive    bool           // stdin is a person's terminal, so questions may be asked
	columns        int            // of the terminal that stdout is; 0 if it is none
	wide           bool           // whether tables show all they have, whatever the terminal's width
	closers        []func() error // of what a command has opened
	typed          *bufio.Reader  // stdin line by line, once somebody was asked; see readLine
}

func newApp() *app {
	return &app{
		program: os.Args[0],
		stdin:   os.Stdin, stdout: os.Stdout, stderr: os.Stderr,
		environ: os.Environ(), now: time.Now, interactive: isTerminal(os.Stdin), columns: columnsOf(os.Stdout),
	}
}

// close closes what the command has opened. What it wrote was durable before that.
func (a *app) close() {
	for _, end := range a.closers {
		_ = end()
	}
	a.closers = nil
}

// getenv returns an environment variable, as os.Getenv does.
func (a *app) getenv(name string) string {
	for _, entry := range a.environ {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// fallbackColumns is for a terminal that doesn't say how wide it is.
const fallbackColumns = 80

func columnsOf(f *os.File) int {
	if !isTerminal(f) {
		return 0
	}
	if columns, _, err := term.GetSize(int(f.Fd())); err == nil && columns > 0 {
		return columns
	}
	return fallbackColumns
}

// paint colours text for stdout, if that is a terminal whose owner has nothing against it.
func (a *app) paint(code, text string) string {
	if a.columns == 0 || a.getenv("NO_COLOR") != "" || a.getenv("TERM") == "dumb" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

// The codes that paint takes.
const (
	bold   = "1"
	red    = "31"
	green  = "32"
	yellow = "33"
)
