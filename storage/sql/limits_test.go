package sqluploads

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/storage/mysqldb/mysqltest"
)

// TestLargeRows uploads what is near the limits of a request and of a packet: quotes are
// what a statement needs the most room for.
func TestLargeRows(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		store := open(t, on.fresh(t).Options)
		for name, c := range map[string]struct {
			rows int
			text string
		}{
			"100 of 90 kB":    {100, strings.Repeat("x", 90_000)},
			"100 of quotes":   {100, strings.Repeat(`\"'`, 30_000)},
			"one of 10 MB":    {1, strings.Repeat("x", 10_000_000)},
			"one of quotes":   {1, strings.Repeat(`\"'`, 3_300_000)},
			"10 of 1 MB of ü": {10, strings.Repeat("ü", 500_000)},
		} {
			t.Run(name, func(t *testing.T) {
				batch := batchOf(uuid.New(), c.rows)
				for i := range batch.Resources {
					batch.Resources[i].Attributes = []byte(`{"a":"` + c.text + `"}`)
				}
				appendTo(t, store, batch)
				for _, order := range []inventory.Order{inventory.Ascending, inventory.Descending} {
					n := 0
					for r, err := range store.Records(t.Context(), batch.Org, inventory.Query{Order: order}) {
						if err != nil {
							t.Fatal(err)
						}
						if n++; string(r.Attributes) != `{"a":"`+c.text+`"}` {
							t.Fatal("the attributes are not what was sent")
						}
					}
					if n != c.rows {
						t.Errorf("%d records, want %d", n, c.rows)
					}
				}
			})
		}
	})
}

// TestTooLarge uploads what the server's packets have no room for.
func TestTooLarge(t *testing.T) {
	suite.Deep(t)
	_, d := mysqltest.Private(t, "--max-allowed-packet=1M")
	store, org := open(t, mysqlOptions(d)), uuid.New()
	for size, fits := range map[int]bool{2 << 20: false, 1 << 20: false, 900_000: true, 300_000: true} {
		batch := batchOf(org, 3)
		batch.Resources[1].Attributes = []byte(`{"a":"` + strings.Repeat("x", size) + `"}`)
		if _, err := store.Append(t.Context(), batch); fits != (err == nil) || !fits && !fault.Is(err, fault.BodyTooLarge) {
			t.Errorf("%d bytes: error %v", size, err)
		}
	}
	if n := len(readAll(t, store, org, inventory.Query{})); n != 6 {
		t.Errorf("%d records, want 6", n)
	}
}

// TestRefusedInGroup commits a batch that the server refuses together with good ones.
func TestRefusedInGroup(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		store, org := open(t, on.fresh(t).Options), uuid.New()
		first, bad, half, last := batchOf(org, 2), batchOf(org, 3), batchOf(org, 1), batchOf(org, 3)
		bad.Resources[1].ResourceName = strings.Repeat("x", 256)
		half.Resources[0].Attributes = []byte(`{"half":"\ud800"}`)
		group := []*entry{newEntry(t, first), newEntry(t, bad), newEntry(t, half), newEntry(t, last)}
		store.commit(store.server.Load(), org, group)
		for i, e := range group {
			if (e.err != nil) != (i == 1) {
				t.Errorf("batch %d: error %v", i, e.err)
			}
		}
		wantOnce(t, store, org, map[string]int{first.ID: 2, half.ID: 1, last.ID: 3})
	})
}

func newEntry(t *testing.T, b inventory.Batch) *entry {
	return &entry{ctx: t.Context(), batch: b, done: make(chan struct{})}
}

// TestGroup commits batches together: new ones, one that is there twice, one whose ID is
// used for something else, and one from the past.
func TestGroup(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		store, org := open(t, on.fresh(t).Options), uuid.New()
		first, second, other, past := batchOf(org, 2), batchOf(org, 3), batchOf(org, 1), batchOf(org, 1)
		other.ID, past.At = first.ID, time.Unix(1, 0)
		group := []*entry{newEntry(t, first), newEntry(t, second), newEntry(t, first), newEntry(t, other), newEntry(t, past)}
		store.commit(store.server.Load(), org, group)
		got := ""
		for _, e := range group {
			code := fault.Code("ok")
			if e.err != nil {
				code = fault.From(e.err).Code
			}
			got += fmt.Sprintf("%d %v %s; ", e.receipt.Count, e.receipt.Replayed, code)
		}
		want := "2 false ok; 3 false ok; 2 true ok; 0 false idempotency_key_reused; 0 false parameter_invalid; "
		if got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		wantOnce(t, store, org, map[string]int{first.ID: 2, second.ID: 3})
	})
}

// TestManyGroups uploads, in one batch, more groups than a statement of PostgreSQL's has values for.
func TestManyGroups(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		const groups = 20_000
		store, batch := open(t, on.fresh(t).Options), batchOf(uuid.New(), groups)
		for i := range batch.Resources {
			batch.Resources[i].Category = fmt.Sprint("category-", i)
		}
		appendTo(t, store, batch)
		wantOnce(t, store, batch.Org, map[string]int{batch.ID: groups})
		found, err := store.Summary(t.Context(), batch.Org)
		if err != nil || len(found) != groups {
			t.Errorf("%d groups, %v; want %d", len(found), err, groups)
		}
	})
}

// TestExact uploads spellings and names that a database may take for others, and JSON that
// it may not take at all, to servers that keep its text and to those that don't.
func TestExact(t *testing.T) {
	onServers(t, func(t *testing.T, on testServer) {
		attributes := []string{
			`{"b":1.0,"a":1,"z":-0,"y":-0.0}`, `{"n":9223372036854775807,"m":18446744073709551616,"o":-9223372036854775809}`,
			`{"e":1e400,"f":1E+2,"g":0.1e-400}`, `{"half":"\ud800","pair":"\ud83d\ude00","😀":"é"}`, `{"":{"a":[1.10,{"b":[]}]}}`,
			`{"s":"\u00e9\/\t'\\"}`,
		}
		names := []string{"a", "a ", "A", " a", "ä", "a\u0308", "å", "a\t", "ß", "ss", "😀", "％", "a'\"`\\%_"}
		for _, keeps := range []bool{true, false} {
			if !keeps && on.speaks.isPostgres() {
				continue // there is no text beside what it keeps
			}
			store, batch := open(t, on.fresh(t).Options), batchOf(uuid.New(), 0)
			server := *store.server.Load()
			server.keepsText = keeps && server.keepsText
			store.server.Store(&server)
			for _, text := range attributes {
				for _, name := range names {
					batch.Resources = append(batch.Resources, resource(name, text))
				}
			}
			appendTo(t, store, batch)
			all := readAll(t, store, batch.Org, inventory.Query{})
			for i, r := range all {
				if want := batch.Resources[i]; r.ResourceName != want.ResourceName ||
					string(r.Attributes) != string(want.Attributes) {
					t.Errorf("%q %s came back as %q %s", want.ResourceName, want.Attributes, r.ResourceName, r.Attributes)
				}
			}
			for _, name := range names {
				if n := len(readAll(t, store, batch.Org, inventory.Query{ResourceName: name})); n != len(attributes) {
					t.Errorf("%d records are named %q, want %d", n, name, len(attributes))
				}
			}
		}
	})
}
