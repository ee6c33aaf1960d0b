package handlers_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// page is what GET /api/v1/data answers.
type page struct {
	OrgID string `json:"org_id"`
	Data  []struct {
		Timestamp string `json:"timestamp"`
		OrgID     string `json:"org_id"`
		Data      struct {
			Provider     string          `json:"provider"`
			ResourceName string          `json:"resource_name"`
			Attributes   json.RawMessage `json:"attributes"`
		} `json:"data"`
	} `json:"data"`
	Count int     `json:"count"`
	Next  *string `json:"next"`
	Last  *string `json:"last"`
}

func (p page) names() string {
	var all []string
	for _, record := range p.Data {
		all = append(all, record.Data.ResourceName)
	}
	return strings.Join(all, " ")
}

func (c caller) page(request string, headers ...string) page {
	c.t.Helper()
	got := c.do(request, "", headers...)
	var p page
	if err := json.Unmarshal([]byte(got.body), &p); err != nil || got.status != 200 {
		c.t.Fatalf("%s: %d %s (%v)", request, got.status, got.body, err)
	}
	if p.Count != len(p.Data) {
		c.t.Errorf("%s: count %d of %d", request, p.Count, len(p.Data))
	}
	return p
}

// filled is a server with records a to f of Acme's and one of Globex's.
func filled(t *testing.T) caller {
	server := startServer(t, testDeps(t))
	c := newCaller(t, server, acme, acmeKey)
	c.converse([]step{
		{"POST /upload", `{` + words +
			`,"instances":[{"resource_name":"a","attributes":{"n":9007199254740993,"on":true}},{"resource_name":"b","attributes":{"s":"<&>","n":"9007199254740993"}}]}`, 200, ""},
		{"POST /upload", `{"provider":"gcp","category":"net","resource_type":"ip","instances":[{"resource_name":"c"},{"resource_name":"a","attributes":{"a.b":null,"l":[1, 2]}}]}`, 200, ""},
		{"POST /upload", `{` + words +
			`,"instances":[{"resource_name":"a","attributes":{"n":2}},{"resource_name":"f","attributes":{"":""}}]}`, 400, ""},
		{"POST /upload", `{` + words +
			`,"instances":[{"resource_name":"a","attributes":{"n":2}},{"resource_name":"=f(\"x\"),\n"}]}`, 200, ""},
	})
	other := newCaller(t, server, globex, globexKey)
	other.converse([]step{{"POST /upload", oneUpload("secret"), 200, ""}})
	return c
}

func TestDataIsExact(t *testing.T) {
	c := filled(t)
	got := c.do("GET /api/v1/data?limit=2", "").body
	at := regexp.MustCompile(`"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"`)
	cursor := regexp.MustCompile(`"(next|last)":"[^"]+"`)
	got = cursor.ReplaceAllString(at.ReplaceAllString(got, `"T"`), `"$1":"N"`)
	org := acme.String()
	want := `{"org_id":"` + org + `","data":[` +
		`{"timestamp":"T","org_id":"` + org +
		`","data":{"provider":"aws","category":"compute","resource_type":"vm","resource_name":"a","attributes":{"n":9007199254740993,"on":true}}},` +
		`{"timestamp":"T","org_id":"` + org +
		`","data":{"provider":"aws","category":"compute","resource_type":"vm","resource_name":"b","attributes":{"s":"<&>","n":"9007199254740993"}}}` +
		`],"count":2,"next":"N","last":"N"}`
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	empty := c.do("GET /api/v1/data?provider=none", "")
	if empty.body != `{"org_id":"`+org+`","data":[],"count":0,"next":null,"last":null}` ||
		empty.header.Get("Content-Type") != "application/json" {
		t.Errorf("empty: %s %v", empty.body, empty.header)
	}
}

func TestDataFilters(t *testing.T) {
	c := filled(t)
	all := c.page("GET /api/v1/data")
	second, last := all.Data[2].Timestamp, all.Data[5].Timestamp
	f := "=f(\"x\"),\n"
	for query, want := range map[string]string{
		"":                                      "a b c a a " + f,
		"?order=asc":                            "a b c a a " + f,
		"?order=desc":                           f + " a a c b a",
		"?provider=gcp":                         "c a",
		"?provider=GCP":                         "",
		"?category=net&resource_name=a":         "a",
		"?resource_type=vm":                     "a b a " + f,
		"?since=" + second:                      "c a a " + f,
		"?since=" + second + "&until=" + last:   "c a",
		"?until=2020-01-01T00:00:00%2B02:00":    "",
		"?attr.n=9007199254740993":              "a b",
		"?attr.n=9007199254740993&attr.on=true": "a",
		"?attr.a.b=null":                        "a",
		"?attr.l=[1,2]":                         "a",
		"?attr.s=%3C%26%3E":                     "b",
		"?attr.s=":                              "",
		"?limit=3":                              "a b c",
		"?limit=1000000000":                     "a b c a a " + f,
	} {
		if got := c.page("GET /api/v1/data" + query).names(); got != want {
			t.Errorf("%s: %q, want %q", query, got, want)
		}
	}
}

// Pages of every size, in both orders, make up the whole, and the last one has no next.
func TestDataPages(t *testing.T) {
	c := filled(t)
	for _, query := range []string{"?order=asc", "?order=desc", "?order=desc&provider=aws"} {
		whole := c.page("GET /api/v1/data" + query).names()
		for limit := 1; limit <= 7; limit++ {
			var parts []string
			for next := ""; ; {
				p := c.page(fmt.Sprintf("GET /api/v1/data%s&limit=%d%s", query, limit, next))
				parts = append(parts, p.names())
				if p.Next == nil {
					break
				}
				next = "&cursor=" + *p.Next
			}
			if got := strings.Join(parts, " "); got != whole {
				t.Errorf("%s by %d: %q, want %q", query, limit, parts, whole)
			}
		}
	}
}

// The cursor of the last record gives what was recorded since, and nothing before that.
func TestDataFollows(t *testing.T) {
	c := filled(t)
	end := c.page("GET /api/v1/data?provider=aws")
	if end.Next != nil || end.Last == nil {
		t.Fatalf("next %v, last %v", end.Next, end.Last)
	}
	follow := "GET /api/v1/data?provider=aws&cursor=" + *end.Last
	if p := c.page(follow); p.names() != "" || p.Last == nil || *p.Last != *end.Last {
		t.Errorf("%q, last %v; want the place where the reader was", p.names(), p.Last)
	}
	c.converse([]step{
		{"POST /upload", `{"provider":"gcp","category":"net","resource_type":"ip","resource_name":"other"}`, 200, ""},
		{"POST /upload", `{` + words + `,"instances":[{"resource_name":"new"}]}`, 200, ""},
	})
	if p := c.page(follow); p.names() != "new" || p.Last == nil || *p.Last == *end.Last {
		t.Errorf("%q, last %v", p.names(), p.Last)
	}
	page := c.page("GET /api/v1/data?limit=2")
	if page.Next == nil || *page.Next != *page.Last {
		t.Errorf("next %v, last %v", page.Next, page.Last)
	}
}

// Who has read the newest records first gets with last, in ascending order, what was recorded
// since, whatever page of the older ones came in between.
func TestDataFollowsNewestFirst(t *testing.T) {
	c := filled(t)
	newest := c.page("GET /api/v1/data?provider=aws&order=desc&limit=2")
	if newest.Next == nil || newest.Last == nil {
		t.Fatalf("next %v, last %v", newest.Next, newest.Last)
	}
	if p := c.page("GET /api/v1/data?provider=aws&order=desc&limit=2&cursor=" + *newest.Next); p.names() != "b a" ||
		p.Last != nil {
		t.Errorf("the page behind it: %q, last %v", p.names(), p.Last)
	}
	follow := "GET /api/v1/data?provider=aws&cursor=" + *newest.Last
	if p := c.page(follow); p.names() != "" {
		t.Errorf("%q before anything was recorded", p.names())
	}
	c.converse([]step{
		{"POST /upload", `{` + words + `,"instances":[{"resource_name":"new"},{"resource_name":"newer"}]}`, 200, ""},
		{"GET /api/v1/data?order=desc&cursor=" + *newest.Last, "", 400, "cursor_invalid"},
	})
	if p := c.page(follow); p.names() != "new newer" || p.Last == nil {
		t.Errorf("%q, last %v", p.names(), p.Last)
	}
	if p := c.page("GET /api/v1/data?provider=none&order=desc"); p.Last != nil {
		t.Errorf("last %v of nothing", *p.Last)
	}
}

func TestDataRefusals(t *testing.T) {
	c := filled(t)
	for request, want := range map[string]string{
		"/data?provder=x&limt=1":                   "unknown here: \"limt\", \"provder\"",
		"/data?provider=a&provider=b":              "more than one",
		"/data?provider=":                          "\"provider\" is empty",
		"/data?attr.=x":                            "\"attr.\" is empty",
		"/data?provider=%ff":                       "UTF-8",
		"/data?attr.%00=1":                         "UTF-8",
		"/data?a;b":                                "percent-encode",
		"/data?limit=%zz":                          "percent-encode",
		"/data?limit=0":                            "1 or more",
		"/data?limit=-1":                           "1 or more",
		"/data?limit=1e3":                          "1 or more",
		"/data?limit=99999999999999999999":         "1 or more",
		"/data?order=up":                           "asc or desc",
		"/data?since=yesterday":                    "RFC 3339",
		"/data?until=2026-01-31T12:00:00+02:00":    "%2B",
		"/data?escape=spreadsheet":                 "text/csv only",
		"/data?escape=html":                        "spreadsheet",
		"/data?cursor=nonsense":                    "cursor_invalid",
		"/data?cursor=%20":                         "cursor_invalid",
		"/data?cursor=" + strings.Repeat("A", 129): "cursor_invalid",
		"/data/latest?cursor=x":                    "unknown here: \"cursor\"",
		"/data/latest?order=asc":                   "unknown here: \"order\"",
		"/data/summary?provider=aws":               "unknown here: \"provider\"",
		"/data/summary?attr.x=1":                   "unknown here: \"attr.\"",
	} {
		got := c.do("GET /api/v1"+request, "")
		var failure api.Failure
		_ = json.Unmarshal([]byte(got.body), &failure)
		if shown := string(failure.Code) + ": " + failure.Message; got.status != 400 || !strings.Contains(shown, want) {
			t.Errorf("%s: %d %s; want 400 with %q", request, got.status, got.body, want)
		}
	}
}

func TestDataAsLines(t *testing.T) {
	c := filled(t)
	r := c.do("GET /api/v1/data?limit=4", "", "Accept: application/x-ndjson")
	lines := strings.Split(strings.TrimSuffix(r.body, "\n"), "\n")
	whole := c.page("GET /api/v1/data?limit=4")
	if len(lines) != 4 || !strings.HasPrefix(lines[3], `{"timestamp":"`+whole.Data[3].Timestamp) ||
		!json.Valid([]byte(lines[3])) {
		t.Errorf("%s", r.body)
	}
	if r.header.Get("Content-Type") != "application/x-ndjson" || r.trailer.Get("X-Holdfast-Next") != *whole.Next ||
		r.trailer.Get("X-Holdfast-Count") != "4" {
		t.Errorf("header %v, trailer %v", r.header, r.trailer)
	}
	rest := c.do("GET /api/v1/data?cursor="+r.trailer.Get("X-Holdfast-Next"), "", "Accept: application/x-ndjson")
	if strings.Count(rest.body, "\n") != 2 || rest.trailer.Get("X-Holdfast-Next") != "" ||
		rest.trailer.Get("X-Holdfast-Last") == "" || rest.trailer.Get("X-Holdfast-Count") != "2" {
		t.Errorf("rest %s, trailer %v", rest.body, rest.trailer)
	}
	none := c.do("GET /api/v1/data?provider=none", "", "Accept: application/x-ndjson")
	if none.status != 200 || none.body != "" || none.trailer.Get("X-Holdfast-Count") != "0" {
		t.Errorf("none: %d %q, trailer %v", none.status, none.body, none.trailer)
	}
}

func TestDataAsCSV(t *testing.T) {
	c := filled(t)
	for escape, want := range map[string]string{"": "=f(\"x\"),\n", "?escape=spreadsheet": "'=f(\"x\"),\n"} {
		r := c.do("GET /api/v1/data"+escape, "", "Accept: text/csv")
		rows, err := csv.NewReader(strings.NewReader(r.body)).ReadAll()
		if err != nil || len(rows) != 7 || r.trailer.Get("X-Holdfast-Count") != "6" ||
			!strings.HasPrefix(r.header.Get("Content-Type"), "text/csv") {
			t.Fatalf("%v %s", err, r.body)
		}
		if got := strings.Join(rows[0],
			" "); got != "timestamp org_id provider category resource_type resource_name attributes" {
			t.Errorf("header %s", got)
		}
		if got := rows[2][1:]; !slices.Equal(got,
			[]string{acme.String(), "aws", "compute", "vm", "b", `{"s":"<&>","n":"9007199254740993"}`}) {
			t.Errorf("row %q", got)
		}
		if rows[6][5] != want {
			t.Errorf("%q: name %q, want %q", escape, rows[6][5], want)
		}
	}
}

func TestDataAccept(t *testing.T) {
	c := filled(t)
	for accept, want := range map[string]string{
		"": "application/json", "*/*": "application/json", "text/html": "application/json",
		"application/*": "application/json", ";": "application/json",
		"text/*":                               "text/csv; charset=utf-8; header=present",
		"text/html, application/x-ndjson":      "application/x-ndjson",
		"application/json;q=0.5, text/csv":     "text/csv; charset=utf-8; header=present",
		"text/csv;q=0, */*;q=0.1":              "application/json",
		"application/x-ndjson;q=x, text/csv":   "application/x-ndjson",
		"Text/CSV":                             "text/csv; charset=utf-8; header=present",
		"text/csv;q=0.2, application/json;q=1": "application/json",
	} {
		if got := c.do("GET /api/v1/data", "", "Accept: "+accept).header.Get("Content-Type"); got != want {
			t.Errorf("Accept %q: %s, want %s", accept, got, want)
		}
	}
}

func TestDataLatest(t *testing.T) {
	c := filled(t)
	f := "=f(\"x\"),\n"
	for query, want := range map[string]string{"": f + " a a c b", "?provider=aws": f + " a b", "?limit=2": f + " a",
		"?attr.n=9007199254740993": "b a"} {
		p := c.page("GET /api/v1/data/latest" + query)
		if p.names() != want || p.Next != nil || p.Last != nil {
			t.Errorf("%q: %q, next %v, last %v; want %q", query, p.names(), p.Next, p.Last, want)
		}
	}
	if p := c.page("GET /api/v1/data/latest?provider=aws&resource_name=a"); string(p.Data[0].Data.Attributes) != `{"n":2}` {
		t.Errorf("%+v", p)
	}
}

func TestDataSummary(t *testing.T) {
	c := filled(t)
	all := c.page("GET /api/v1/data").Data
	want := fmt.Sprintf(`{"org_id":"%s","count":6,"groups":[`+
		`{"provider":"aws","category":"compute","resource_type":"vm","count":4,"first_seen":"%s","last_seen":"%s"},`+
		`{"provider":"gcp","category":"net","resource_type":"ip","count":2,"first_seen":"%s","last_seen":"%s"}]}`,
		acme, all[0].Timestamp, all[5].Timestamp, all[2].Timestamp, all[3].Timestamp)
	c.converse([]step{{"GET /api/v1/data/summary", "", 200, "=" + want}})
	fresh := newCaller(t, startServer(t, testDeps(t)), acme, acmeKey)
	fresh.converse([]step{{"GET /api/v1/data/summary", "", 200, `"count":0,"groups":[]}`}})
}
