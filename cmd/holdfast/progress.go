package main

import (
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
)

const (
	barEvery  = 100 * time.Millisecond
	lineEvery = 10 * time.Second
)

// progress shows on stderr how far some work has come: as a bar on a terminal, as a line
// now and then elsewhere.
type progress struct {
	out   io.Writer
	what  string
	noun  string // of one piece of the work; an s makes it several
	total int64
	bytes bool // it counts bytes, not records
	count atomic.Int64
	bar   *progressbar.ProgressBar // nil without a terminal
	quit  chan struct{}
	shown sync.WaitGroup
}

// startProgress begins to show. A total of 0 is not known. end must follow.
func (a *app) startProgress(what, noun string, total int64) *progress {
	return a.showProgress(&progress{what: what, noun: noun, total: total}, progressbar.OptionShowIts(),
		progressbar.OptionSetItsString(noun+"s"))
}

// startTransfer is startProgress for bytes.
func (a *app) startTransfer(what string, total int64) *progress {
	return a.showProgress(&progress{what: what, total: total, bytes: true}, progressbar.OptionShowBytes(true))
}

func (a *app) showProgress(p *progress, options ...progressbar.Option) *progress {
	p.out, p.quit = a.stderr, make(chan struct{})
	every := lineEvery
	if isTerminal(a.stderr) {
		every = barEvery
		p.bar = progressbar.NewOptions64(barLength(p.total),
			append(options, progressbar.OptionSetWriter(a.stderr), progressbar.OptionSetDescription(p.what),
				progressbar.OptionShowCount(), progressbar.OptionSetPredictTime(true), progressbar.OptionSetWidth(20),
				progressbar.OptionClearOnFinish())...)
	}
	p.shown.Go(func() { p.run(every) })
	return p
}

// barLength is that of a spinner when the total is not known.
func barLength(total int64) int64 {
	if total == 0 {
		return -1
	}
	return total
}

// add counts a piece of the work. It is safe for concurrent use.
func (p *progress) add() { p.count.Add(1) }

// Write counts bytes.
func (p *progress) Write(piece []byte) (int, error) {
	p.count.Add(int64(len(piece)))
	return len(piece), nil
}

func (p *progress) run(every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			p.show()
		case <-p.quit:
			return
		}
	}
}

func (p *progress) show() {
	n := p.count.Load()
	switch {
	case p.bar != nil:
		_ = p.bar.Set64(n) // nothing depends on the bar
	case p.bytes && p.total == 0:
		fmt.Fprintf(p.out, "%s: %s\n", p.what, showSize(n))
	case p.bytes:
		fmt.Fprintf(p.out, "%s: %s of %s\n", p.what, showSize(n), showSize(p.total))
	case p.total == 0:
		fmt.Fprintf(p.out, "%s: %s\n", p.what, counted(n, p.noun))
	default:
		fmt.Fprintf(p.out, "%s: %d of %s\n", p.what, n, counted(p.total, p.noun))
	}
}

// counted says how many there are of something whose plural ends in s.
func counted(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// end stops showing, and takes the bar away.
func (p *progress) end() {
	close(p.quit)
	p.shown.Wait()
	if p.bar != nil {
		_ = p.bar.Clear()
		return
	}
	p.show()
}
