// Command runs measures what it costs to have Holdfast plan and apply: the time that a run takes
// from the command line, beside that of the bare tool with the same configuration over the same
// http backend, measured in turn on the same machine.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	binary := flag.String("bin", "bin/holdfast", "the server's binary")
	tool := flag.String("tofu", "", "OpenTofu's binary, of -version")
	version := flag.String("version", "1.12.6", "its version")
	times := flag.Int("runs", 5, "how often each is measured; 0 for not at all")
	most := flag.Int("most", 1000, "how many resources the largest configuration has")
	atOnce := flag.Int("at-once", 20, "how many runs are begun together at the end; 0 for none")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, options{*binary, *tool, *version, *times, *most, *atOnce}); err != nil {
		fmt.Fprintln(os.Stderr, "bench/runs:", err)
		os.Exit(1)
	}
}

// sizes are how many resources the configurations have.
func sizes() []int { return []int{1, 100, 1000} }

// options are what the command line says.
type options struct {
	binary, tool, version string
	times, most, atOnce   int
}

func run(ctx context.Context, o options) error {
	if o.tool == "" {
		return errors.New("-tofu names no binary")
	}
	dir, err := os.MkdirTemp("", "holdfast-bench-runs")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	s, err := startServer(ctx, dir, o)
	if err != nil {
		return err
	}
	defer s.stop()
	if o.times > 0 {
		fmt.Println("| resources | what | bare | run | ratio | more | within |\n|---|---|---|---|---|---|---|")
	}
	for _, n := range sizes() {
		if n > o.most || o.times == 0 {
			continue
		}
		if err := s.measure(ctx, n, o.times); err != nil {
			return err
		}
	}
	if o.atOnce == 0 {
		return nil
	}
	return s.atOnce(ctx, o.atOnce)
}

// measure prints the rows of a configuration of n resources. Each pair of an apply begins with
// other values, so that every resource changes.
func (s *server) measure(ctx context.Context, n, times int) error {
	var took [4][]time.Duration // plan and apply of the bare tool, of a run
	name := fmt.Sprintf("bench/r%d", n)
	if err := s.holdfast(ctx, "workspace", "create", name); err != nil {
		return err
	}
	for i := range times + 1 {
		for kind, one := range []func() error{
			func() error { return s.bare(ctx, n, i, false) },
			func() error { return s.bare(ctx, n, i, true) },
			func() error { return s.through(ctx, name, n, i, false) },
			func() error { return s.through(ctx, name, n, i, true) },
		} {
			d, err := s.timed(ctx, name, n, i, kind, one)
			if err != nil {
				return err
			}
			if i > 0 { // the first one fills caches
				took[kind] = append(took[kind], d)
			}
		}
	}
	for kind, what := range []string{"plan", "apply"} {
		bare, through := median(took[kind]), median(took[kind+2])
		fmt.Printf("| %d | %s | %.2f s | %.2f s | %.2f | %.2f s | %s |\n", n, what,
			bare.Seconds(), through.Seconds(), through.Seconds()/bare.Seconds(), (through - bare).Seconds(),
			verdict(bare, through))
	}
	return nil
}

// A run may take so many times as long as the bare tool, and so much more.
const (
	mayTake = 1.15
	andMore = 400 * time.Millisecond
)

func verdict(bare, through time.Duration) string {
	if most := time.Duration(mayTake*float64(bare)) + andMore; through > most {
		return fmt.Sprintf("no: %.2f s", most.Seconds())
	}
	return "yes"
}

// timed prepares what is not to be measured, and measures the rest.
func (s *server) timed(ctx context.Context, name string, n, i, kind int, one func() error) (time.Duration, error) {
	if err := s.prepare(ctx, name, n, i, kind); err != nil {
		return 0, err
	}
	begin := time.Now()
	err := one()
	return time.Since(begin), err
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

// configuration has n resources, whose values differ for each i.
func configuration(n, i int, backend bool) string {
	text := fmt.Sprintf("resource \"terraform_data\" \"r\" {\n  count = %d\n  input = \"%d-${count.index}\"\n}\n", n, i)
	if backend {
		text += "terraform {\n  backend \"http\" {}\n}\n"
	}
	return text
}

// writeConfiguration makes the folder anew.
func writeConfiguration(folder, text string) error {
	if err := os.RemoveAll(folder); err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, "main.tf"), []byte(text), 0o600)
}

func address(port int) string { return fmt.Sprintf("http://127.0.0.1:%d", port) }

func lastLines(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-5):], "\n")
}
