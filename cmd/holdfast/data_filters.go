package main

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/client"
)

// filterFlags select records.
type filterFlags struct {
	provider, category, kind, name string
	since, until                   string
	attributes                     []string
}

func (f *filterFlags) add(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.StringVar(&f.provider, "provider", "", "only this provider")
	flags.StringVar(&f.category, "category", "", "only this category")
	flags.StringVar(&f.kind, "type", "", "only this resource type")
	flags.StringVar(&f.name, "name", "", "only this resource name")
	flags.StringVar(&f.since, "since", "", "recorded then or later: RFC 3339, or how long ago, such as 24h or 7d")
	flags.StringArrayVar(&f.attributes, "attr", nil, "only with this attribute, as name=value; may be given several times")
}

// addUntil is for commands that come to an end.
func (f *filterFlags) addUntil(cmd *cobra.Command) {
	cmd.Flags().StringVar(&f.until, "until", "", "recorded before then: RFC 3339, or how long ago")
}

// query returns what the flags select.
func (f filterFlags) query(now time.Time) (q client.RecordsQuery, err error) {
	q = client.RecordsQuery{Provider: f.provider, Category: f.category, ResourceType: f.kind, ResourceName: f.name}
	if q.Since, err = parseMoment("since", f.since, now); err != nil {
		return q, err
	}
	if q.Until, err = parseMoment("until", f.until, now); err != nil {
		return q, err
	}
	q.Attributes, err = parseAttributes(f.attributes)
	return q, err
}

// parseAttributes reads attributes, each of them as name=value.
func parseAttributes(texts []string) (map[string]string, error) {
	attributes := map[string]string{}
	for _, text := range texts {
		name, value, ok := strings.Cut(text, "=")
		if _, twice := attributes[name]; !ok || name == "" || twice {
			return nil, usagef("--attr: %.50q is not name=value, or comes twice", text)
		}
		attributes[name] = value
	}
	return attributes, nil
}

// parseMoment reads a point in time, or how long ago it was, from a flag; the zero time from
// one that is empty.
func parseMoment(flag, text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	ago, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n int
		n, err = strconv.Atoi(days)
		ago = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || ago < 0 {
		return time.Time{}, usagef("--%s: %.50q is neither a time such as 2026-01-31T12:00:00Z nor a duration such "+
			"as 24h or 7d", flag, text)
	}
	return now.Add(-ago), nil
}
