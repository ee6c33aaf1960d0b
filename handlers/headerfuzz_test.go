package handlers

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzAccept: the answer is in a form that there is. What asks for one form gets it, and
// what is unknown or can't be read changes nothing.
func FuzzAccept(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"", "text/csv", "text/*;q=0.5, application/json;q=0.4", "*/*", "text/csv;q=0",
		"application/x-ndjson;q=NaN", ",,;", "text/csv;q=1e309"} {
		f.Add(seed)
	}
	offers := []string{mediaJSON, mediaNDJSON, mediaCSV}
	f.Fuzz(func(t *testing.T, header string) {
		got := negotiate(header, offers...)
		if !slices.Contains(offers, got) {
			t.Fatalf("%q: %q", header, got)
		}
		if got != mediaJSON && !strings.Contains(strings.ToLower(header), strings.Split(got, "/")[0]+"/") {
			t.Fatalf("%q: %q, which is not in it", header, got)
		}
		if again := negotiate(header+", image/png, ;, x", offers...); again != got {
			t.Fatalf("%q: %q, and %q with what is unknown", header, got, again)
		}
		for _, offer := range offers {
			if chosen := negotiate(offer+";q=1, "+strings.ReplaceAll(header, ";", " "), offers...); chosen != offer {
				t.Fatalf("%q before %q: %q", offer, header, chosen)
			}
		}
	})
}

// plainCodings is an Accept-Encoding of names with or without a weight.
var plainCodings = regexp.MustCompile(`(?i)\A *[a-z*-]+( *; *q=[01](\.\d{0,3})?)?( *, *[a-z*-]+( *; *q=[01](\.\d{0,3})?)?)* *\z`)

// FuzzAcceptEncoding: gzip is sent only to those who name it, and not with the weight 0.
func FuzzAcceptEncoding(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"", "gzip", "br, GZIP;q=0.1", "gzip;q=0", "identity, gzip ; q = 0.000", "*", "gzip;q=x",
		"x-gzip"} {
		f.Add(seed)
	}
	named := regexp.MustCompile(`(?i)(^|,)\s*gzip\s*(;|,|$)`)
	without := regexp.MustCompile(`(?i)(^|,) *gzip *; *q=0(\.0*)? *(,|$)`)
	with := regexp.MustCompile(`(?i)(^|,) *gzip *(; *q=(1(\.\d*)?|0\.0*[1-9]\d*) *)?(,|$)`)
	f.Fuzz(func(t *testing.T, header string) {
		got := acceptsGzip(header)
		if got && !named.MatchString(header) {
			t.Fatalf("%q names no gzip", header)
		}
		if !plainCodings.MatchString(header) || with.MatchString(header) && without.MatchString(header) {
			return
		}
		if got != with.MatchString(header) {
			t.Fatalf("%q: %v", header, got)
		}
	})
}

// FuzzIfNoneMatch: lists of entity tags are read as RFC 9110 has them.
func FuzzIfNoneMatch(f *testing.F) {
	fuzzseeds.Add(f)
	const digest = `"0123abcd"`
	for _, seed := range []string{"", "*", digest, "W/" + digest, `"x", ` + digest, `"x,` + digest,
		strings.Trim(digest, `"`), `"` + digest + `"`} {
		f.Add(seed)
	}
	list := regexp.MustCompile(`\A[ \t]*(W/)?"[!#-+\x2d-~]*"([ \t]*,[ \t]*(W/)?"[!#-+\x2d-~]*")*[ \t]*\z`)
	f.Fuzz(func(t *testing.T, header string) {
		got := matches(header, digest) != ""
		if got && !strings.Contains(header, digest) && !strings.Contains(header, "*") {
			t.Fatalf("%q matches", header)
		}
		if list.MatchString(header) && got != strings.Contains(header, digest) {
			t.Fatalf("%q: %v", header, got)
		}
	})
}
