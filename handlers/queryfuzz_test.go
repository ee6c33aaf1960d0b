package handlers

import (
	"maps"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
	"github.com/holdfast/holdfast/state"
)

// longestMessage is far above what a message says itself, so that it shows a query that is
// repeated in full.
const longestMessage = 2000

// refused checks that an error is the caller's fault, and of a length that doesn't grow
// with the query.
func refused(t *testing.T, raw string, err error, codes ...fault.Code) {
	t.Helper()
	for _, code := range codes {
		if fault.Is(err, code) && len(fault.From(err).Message) < longestMessage && utf8.ValidString(fault.From(err).Message) {
			return
		}
	}
	t.Fatalf("%q: %v", raw, err)
}

// FuzzStateQuery: a lock ID is understood or the query is refused; it never gets lost on
// the way, because a write without one is another write.
func FuzzStateQuery(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"", "ID=a", "id=a", "ID=a;b", "ID=a&ID=b", "ref=main&ID=%41&unlock=true", "unlock=maybe",
		"%49D=a", "ID=%zz", "ID"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		write := states{}.aboutWrite()
		r := &request{query: parseQuery(raw, write.queried(), write.OtherParameters)}
		got := r.lockID()
		r.flag("unlock")
		if err := r.err(); err != nil {
			refused(t, raw, err, fault.ParameterInvalid, fault.LockInvalid)
			return
		}
		if got != "" && state.CheckLockID(got) != nil {
			t.Fatalf("%q: the lock ID %q", raw, got)
		}
		named := false
		for part := range strings.SplitSeq(raw, "&") {
			name, value, _ := strings.Cut(part, "=")
			name, _ = url.QueryUnescape(name)
			if value, _ = url.QueryUnescape(value); strings.EqualFold(name, "ID") {
				named = true
				if value != got {
					t.Fatalf("%q: the lock ID %q", raw, got)
				}
			}
		}
		if named != (got != "") {
			t.Fatalf("%q: the lock ID %q", raw, got)
		}
	})
}

// FuzzReading: what a reader asks for is understood in full, so that it can be written down
// again and means the same; or it is refused.
func FuzzReading(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"", "provider=aws&attr.size=t2&limit=10&order=desc",
		"since=2026-01-31T12:00:00.5%2B01:00&until=2027-01-01T00:00:00Z", "attr.=x",
		"cursor=%00", "limit=0", "limit=99999999999999999999", "escape=spreadsheet", "x=1&y=2", "provider=a&provider=b",
		"a;b", "attr.%ff=1", "limit=%2B5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		got, err := readingOf(raw)
		if err != nil {
			refused(t, raw, err, fault.ParameterInvalid, fault.CursorInvalid)
			return
		}
		if got.limit < 0 || len(got.After) > maxCursor || strings.ContainsAny(got.After, " \r\n\x00") {
			t.Fatalf("%q: %+v", raw, got)
		}
		again, err := readingOf(written(got).Encode())
		if err != nil || !sameReading(got, again) {
			t.Fatalf("%q: %+v is written as %q, which is %+v, %v", raw, got, written(got).Encode(), again, err)
		}
		if values, _ := url.ParseQuery(raw); len(values) != len(written(got)) && values.Get("order") != "asc" {
			t.Fatalf("%q: something got lost: %+v", raw, got)
		}
	})
}

// readingOf is what /data understands of a query.
func readingOf(raw string) (reading, error) {
	about := aboutRecords()
	r := &request{query: parseQuery(raw, about.queried(), about.OtherParameters)}
	ask := r.records()
	return ask, r.err()
}

// written is a query that asks for the same.
func written(r reading) url.Values {
	values := url.Values{}
	set := func(name, value string, given bool) {
		if given {
			values.Set(name, value)
		}
	}
	for name, value := range map[string]string{"provider": r.Provider, "category": r.Category,
		"resource_type": r.ResourceType, "resource_name": r.ResourceName, "cursor": r.After} {
		set(name, value, value != "")
	}
	for name, value := range r.Attributes {
		values.Set(attributePrefix+name, value)
	}
	set("since", r.Since.Format(time.RFC3339Nano), !r.Since.IsZero())
	set("until", r.Until.Format(time.RFC3339Nano), !r.Until.IsZero())
	set("limit", strconv.Itoa(r.limit), r.limit > 0)
	set("order", "desc", bool(r.Order))
	set("escape", "spreadsheet", r.spreadsheet)
	return values
}

func sameReading(a, b reading) bool {
	return a.Since.Equal(b.Since) && a.Until.Equal(b.Until) && maps.Equal(a.Attributes, b.Attributes) &&
		a.Provider == b.Provider && a.Category == b.Category && a.ResourceType == b.ResourceType &&
		a.ResourceName == b.ResourceName &&
		a.After == b.After && a.Order == b.Order && a.limit == b.limit && a.spreadsheet == b.spreadsheet
}
