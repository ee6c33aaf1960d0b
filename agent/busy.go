package agent

import (
	"math"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// maxRetryAfter bounds what is believed of how long somebody wants to be left alone. It is the
// server's bound, too.
const maxRetryAfter = time.Hour

// Wordings by which providers and registries, or the libraries below them, say when they may be
// asked again. Tools break lines and draw a bar before each.
func busyFor() *regexp.Regexp {
	const gap = `[\s│|]*`
	return regexp.MustCompile(`(?i)` +
		`retry[-_ ]?after\b["']?` + gap + `[:=]?` + gap + `["'\[]?(` + httpTime + `|\d+(?:\.\d+)?)` + gap + `(` + unit + `)` +
		`|\b(?:re)?try(?:ing)?(?: your request)? again` + gap + `(?:in|after)` + gap +
		`(?:about |approximately )?["']?(\d+(?:\.\d+)?)["']?` + gap + `(` + unit + `)` +
		`|\brate reset in` + gap + `((?:\d+[hms])+)`)
}

const (
	httpTime = `(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT`
	unit     = `ms\b|milliseconds?\b|minutes?\b|mins?\b|m\b|hours?\b|h\b|` // or seconds, with or without that
)

// retryAfter is for how many seconds what a command says wants to be left alone: the longest that it
// names; 0 where it names none.
func retryAfter(said string, now time.Time) int {
	var longest time.Duration
	for _, m := range busyFor().FindAllStringSubmatch(said, 100) {
		longest = max(longest, timeOf(m[1], m[2], now), timeOf(m[3], m[4], now), timeOf(m[5], "", now))
	}
	return int(math.Ceil(min(longest, maxRetryAfter).Seconds()))
}

func timeOf(value, unit string, now time.Time) time.Duration {
	if n, err := strconv.ParseFloat(value, 64); err == nil {
		return time.Duration(min(n*float64(unitOf(unit)), float64(maxRetryAfter)))
	}
	if at, err := http.ParseTime(value); err == nil {
		return at.Sub(now)
	}
	d, _ := time.ParseDuration(strings.ToLower(value))
	return d
}

func unitOf(text string) time.Duration {
	switch text = strings.ToLower(text); {
	case text == "ms" || strings.HasPrefix(text, "milli"):
		return time.Millisecond
	case strings.HasPrefix(text, "m"):
		return time.Minute
	case strings.HasPrefix(text, "h"):
		return time.Hour
	}
	return time.Second
}

// complaints is what a command said of what went wrong: its errors, or else what it printed from the
// first one on. What it printed of resources is not among it.
func complaints(out outcome) string {
	var said strings.Builder
	for _, d := range out.summary.found {
		if d.Severity == "error" {
			said.WriteString(d.Summary + "\n" + d.Detail + "\n")
		}
	}
	if i := strings.Index(out.summary.tail, "Error: "); said.Len() == 0 && i >= 0 {
		return out.summary.tail[i:]
	}
	return said.String()
}
