package main

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
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

// values returns the parameters of a request.
func (f filterFlags) values(now time.Time) (url.Values, error) {
	values := url.Values{}
	for name, value := range map[string]string{
		"provider": f.provider, "category": f.category, "resource_type": f.kind, "resource_name": f.name,
	} {
		if value != "" {
			values.Set(name, value)
		}
	}
	if err := setMoments(values, now, map[string]string{"since": f.since, "until": f.until}); err != nil {
		return nil, err
	}
	return values, setAttributes(values, f.attributes)
}

// setAttributes sets the parameters for attributes, each of them as name=value.
func setAttributes(values url.Values, attributes []string) error {
	for _, text := range attributes {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" || values.Has("attr."+name) {
			return usagef("--attr: %.50q is not name=value, or comes twice", text)
		}
		values.Set("attr."+name, value)
	}
	return nil
}

// setMoments sets parameters that are points in time, as flags of these names have them.
func setMoments(values url.Values, now time.Time, flags map[string]string) error {
	for name, text := range flags {
		if text == "" {
			continue
		}
		at, err := parseMoment(text, now)
		if err != nil {
			return usagef("--%s: %w", name, err)
		}
		values.Set(name, at.UTC().Format(time.RFC3339Nano))
	}
	return nil
}

// parseMoment reads a point in time, or how long ago it was.
func parseMoment(text string, now time.Time) (time.Time, error) {
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
		return time.Time{}, usagef("%.50q is neither a time such as 2026-01-31T12:00:00Z nor a duration such as 24h or 7d", text)
	}
	return now.Add(-ago), nil
}
