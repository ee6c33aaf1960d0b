package bench

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"text/tabwriter"
)

// SizeText writes a number of bytes as people say it: 10 KB are 10,000 bytes.
func SizeText(bytes int) string {
	switch {
	case bytes == 0:
		return "-"
	case bytes%1_000_000 == 0:
		return fmt.Sprintf("%d MB", bytes/1_000_000)
	case bytes%1_000 == 0:
		return fmt.Sprintf("%d KB", bytes/1_000)
	}
	return fmt.Sprintf("%d B", bytes)
}

// WriteTable prints results as a table, and below it what went wrong.
func WriteTable(out io.Writer, results []Result) error {
	table := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "MIX\tSIZE\tCONNS\tOPS/S\tP50 MS\tP95 MS\tP99 MS\tOPERATIONS\tERRORS\t")
	for _, r := range results {
		fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%.2f\t%.2f\t%.2f\t%d\t%d\t\n", r.Mix, SizeText(r.Size), r.Connections,
			rateText(r.PerSecond), r.Latency.P50, r.Latency.P95, r.Latency.P99, r.Operations, r.Failed())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	for _, r := range results {
		writeErrors(out, r)
	}
	return nil
}

func rateText(perSecond float64) string {
	if perSecond < 100 {
		return strconv.FormatFloat(perSecond, 'f', 1, 64)
	}
	return strconv.FormatFloat(perSecond, 'f', 0, 64)
}

func writeErrors(out io.Writer, r Result) {
	kinds := make([]string, 0, len(r.Errors))
	for kind := range r.Errors {
		kinds = append(kinds, kind)
	}
	slices.Sort(kinds)
	for _, kind := range kinds {
		fmt.Fprintf(out, "%s, %s, %d connections: %d × %s, such as %q\n", r.Mix, SizeText(r.Size), r.Connections,
			r.Errors[kind], kind, r.Examples[kind])
	}
}
