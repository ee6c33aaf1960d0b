// Report reads what `go test -json` says and prints what a person wants of it: a line a package, the output of the tests
// that failed, and how many tests ran.
//
//	go test -json ./... | report events.json
//	report -slowest events.json more.json
//
// The first form also keeps the events in a file, and fails if a test or a build did. The second prints the tests and
// the packages of such files that took longest.
package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Limits of `make test`, in seconds.
const (
	testLimit    = 5
	packageLimit = 30
)

// shown is how many rows a table of the slowest has.
const shown = 10

// event is a line of `go test -json`; see `go doc test2json`.
type event struct {
	Action     string
	Package    string
	ImportPath string // of a build
	Test       string
	Elapsed    float64 // seconds
	Output     string
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(args []string) error {
	switch {
	case len(args) == 1 && args[0] != "-slowest":
		file, err := os.Create(args[0])
		if err != nil {
			return err
		}
		return errors.Join(report(io.TeeReader(os.Stdin, file), os.Stdout), file.Close())
	case len(args) > 1 && args[0] == "-slowest":
		return slowest(args[1:], os.Stdout)
	}
	return errors.New("usage: report FILE <EVENTS, or report -slowest FILE…")
}

// report prints the events for people. Its error says that something failed.
func report(events io.Reader, out io.Writer) error {
	outputs := map[string]*strings.Builder{} // of tests and packages that have not ended
	count := map[string]int{}
	err := read(events, func(e event) {
		key := e.Package + "\n" + e.Test
		if outputs[key] == nil {
			outputs[key] = &strings.Builder{}
		}
		switch e.Action {
		case "output":
			if e.Test == "" && (strings.HasPrefix(e.Output, "ok ") || strings.HasPrefix(e.Output, "FAIL\t")) {
				fmt.Fprint(out, e.Output)
			} else {
				outputs[key].WriteString(e.Output)
			}
		case "build-output":
			fmt.Fprint(out, e.Output)
		case "fail":
			fmt.Fprint(out, outputs[key])
			count["failed"]++
		}
		if e.Test != "" && (e.Action == "pass" || e.Action == "fail" || e.Action == "skip") {
			count[e.Action]++
		}
		if e.Action == "pass" || e.Action == "fail" || e.Action == "skip" {
			delete(outputs, key)
		}
	}, func(line string) { fmt.Fprintln(out, line) })
	for key, output := range outputs { // a process that ended without a word
		if output.Len() > 0 && count["failed"] > 0 {
			fmt.Fprintf(out, "%s did not end:\n%s", strings.TrimSpace(strings.ReplaceAll(key, "\n", " ")), output)
		}
	}
	fmt.Fprintf(out, "%d tests passed, %d failed, %d were skipped\n", count["pass"], count["fail"], count["skip"])
	if err == nil && count["failed"] > 0 {
		err = errors.New("tests failed")
	}
	return err
}

// read calls each for each event, and other for each line that is none, such as one that a compiler wrote.
func read(events io.Reader, each func(event), other func(string)) error {
	lines := bufio.NewReader(events)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				each(e)
			} else {
				other(strings.TrimSuffix(line, "\n"))
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// timing is how long a test or a package took.
type timing struct {
	name    string
	seconds float64
}

// slowest prints the slowest packages and tests of the files. A test's time contains that of its subtests.
func slowest(files []string, out io.Writer) error {
	var packages, tests []timing
	for _, name := range files {
		file, err := os.Open(name)
		if err != nil {
			return err
		}
		err = read(file, func(e event) {
			switch {
			case e.Action != "pass" && e.Action != "fail":
			case e.Test == "":
				packages = append(packages, timing{e.Package, e.Elapsed})
			case !strings.Contains(e.Test, "/"):
				tests = append(tests, timing{e.Package + " " + e.Test, e.Elapsed})
			}
		}, func(string) {})
		if err := errors.Join(err, file.Close()); err != nil {
			return err
		}
	}
	table(out, "slowest packages", packages, packageLimit)
	table(out, "slowest tests", tests, testLimit)
	return nil
}

func table(out io.Writer, title string, rows []timing, limit float64) {
	slices.SortFunc(rows, func(a, b timing) int { return cmp.Compare(b.seconds, a.seconds) })
	fmt.Fprintf(out, "%s\n", title)
	for _, row := range rows[:min(shown, len(rows))] {
		over := ""
		if row.seconds > limit {
			over = fmt.Sprintf("  over %g s", limit)
		}
		fmt.Fprintf(out, "%8.1f s  %s%s\n", row.seconds, row.name, over)
	}
}
