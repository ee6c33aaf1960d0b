package main

import (
	"fmt"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/local"
)

// report is all that one run of the program has found.
type report struct {
	Machine local.Machine `json:"machine"`
	Version string        `json:"version"`
	Runs    int           `json:"runs"`
	Seconds float64       `json:"seconds_per_run"`
	MD5     bool          `json:"content_md5"`
	Rows    []outcome     `json:"rows"`
}

// markdown is two tables: how fast, and at what cost.
func (r report) markdown() string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s; %d × %g s for each figure. %s, %d cores, %d GiB, %s, %s; load %s at the start.\n\n", r.Version,
		r.Runs, r.Seconds,
		r.Machine.CPU, r.Machine.Cores, (r.Machine.Memory+1<<29)>>30, r.Machine.System, r.Machine.Go, r.Machine.Load)
	speeds := [][]string{{"mix", "size", "connections", "floor", "at least", "ratio", "min to max", "ops/s",
		"floor's ops/s", "p50 ms", "p95 ms", "p99 ms", "errors"}}
	costs := [][]string{{"mix", "size", "connections", "CPU s/1,000", "floor's CPU", "peak MiB", "floor's peak",
		"flushes/1,000", "floor's flushes", "floor's fsyncs"}}
	for _, o := range r.Rows {
		speeds, costs = append(speeds, o.speed()), append(costs, o.cost())
	}
	writeTable(&text, speeds)
	text.WriteString("\n")
	writeTable(&text, costs)
	return text.String()
}

func (o outcome) speed() []string {
	target := "–"
	if o.Target > 0 {
		target = fmt.Sprint(o.Target)
	}
	l := o.Server.Latency
	return append(o.what(), o.Floor, target, number(2, o.Ratio.Median), number(2, o.Ratio.Min)+" to "+
		number(2, o.Ratio.Max),
		number(0, spreadOf(o.Server.PerSecond).Median), number(0, spreadOf(o.Base.PerSecond).Median),
		number(2, l.P50), number(2, l.P95), number(2, l.P99), fmt.Sprint(o.Server.failed()+o.Base.failed()))
}

func (o outcome) cost() []string {
	return append(o.what(), number(3, o.Server.CPU), number(3, o.Base.CPU), mebibytes(o.Server.Peak),
		mebibytes(o.Base.Peak),
		flushText(o.Server.Flushes), flushText(o.Base.Flushes), flushText(o.Base.Syncs))
}

// what are the first cells of each row.
func (o outcome) what() []string {
	size := "–"
	if o.Size > 0 {
		size = bench.SizeText(o.Size)
	}
	return []string{o.mix(), size, fmt.Sprint(o.Connections)}
}

func number(digits int, n float64) string { return fmt.Sprintf("%.*f", digits, n) }

func mebibytes(n int64) string { return number(0, float64(n)/(1<<20)) }

// flushText leaves out what nobody counted.
func flushText(perThousand float64) string {
	if perThousand < 0 {
		return "–"
	}
	return fmt.Sprintf("%.0f", perThousand)
}

// writeTable writes Markdown that is a table for people too.
func writeTable(out *strings.Builder, rows [][]string) {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for n, row := range rows {
		for i, cell := range row {
			fmt.Fprintf(out, "| %s%s ", cell, strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell)))
		}
		out.WriteString("|\n")
		if n == 0 {
			for _, width := range widths {
				out.WriteString("|" + strings.Repeat("-", width+2))
			}
			out.WriteString("|\n")
		}
	}
}

// The markers between which the results stand.
const (
	docsBegin = "<!-- results: written by make bench -->\n"
	docsEnd   = "<!-- results end -->\n"
)

// updateDocs puts text between the markers of a Markdown file.
func updateDocs(path, text string) error {
	before, after, err := readDocs(path)
	if err != nil {
		return err
	}
	return os.WriteFile(path, []byte(before+docsBegin+"\n"+text+"\n"+docsEnd+after), 0o644)
}

// readDocs returns what stands before and behind the results.
func readDocs(path string) (before, after string, err error) {
	old, err := os.ReadFile(path)
	if err != nil {
		return "", "", err
	}
	before, rest, begins := strings.Cut(string(old), docsBegin)
	_, after, ends := strings.Cut(rest, docsEnd)
	if !begins || !ends {
		return "", "", fmt.Errorf("%s has no markers for the results", path)
	}
	return before, after, nil
}
