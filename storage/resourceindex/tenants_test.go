package resourceindex

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

var all = resources.Scope{AnyState: true, Uploads: true}

func openAt(t *testing.T, path string) *Index {
	t.Helper()
	x, err := Open(t.Context(), path, discard())
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func discard() *slog.Logger { return slog.New(slog.DiscardHandler) }

// fill puts resources into states of a hundred each.
func fill(t testing.TB, x *Index, org uuid.UUID, count int) {
	t.Helper()
	for first := 0; first < count; first += 100 {
		name := state.Name(fmt.Sprintf("s%05d", first/100))
		err := x.Replace(context.Background(), state.Ref{Org: org, Name: name}, resources.Holding{Version: 1},
			func(yield func(resources.Resource) bool) {
				for n := first; n < min(first+100, count); n++ {
					if !yield(numbered(name, n)) {
						return
					}
				}
			})
		if err != nil {
			t.Fatal(err)
		}
	}
}

func numbered(name state.Name, n int) resources.Resource {
	id := fmt.Sprintf("i-%08x", n)
	return resources.Resource{
		Place: resources.Place{Source: resources.FromState, State: name, Address: fmt.Sprintf("aws_instance.web[%05d]", n)},
		Type:  "aws_instance", Provider: "aws", Mode: "managed",
		Attributes: []resources.Pair{{Name: "id", Value: id}, {Name: "region", Value: "eu"},
			{Name: "odd", Value: fmt.Sprint(n % 2)}},
		Traits: resources.Traits{Counts: true, Identities: []resources.Mark{resources.MarkOf(id)}},
	}
}

// Every read of a caller goes by the organization, or by resources that were found so.
func TestPlans(t *testing.T) {
	x := openAt(t, filepath.Join(t.TempDir(), "resources.db"))
	defer x.Close()
	org := uuid.New()
	fill(t, x, org, 10)
	f, _, err := x.find(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	limited := resources.Scope{AnyState: true, Uploads: true, States: func(string) bool { return true }}
	q := resources.Query{Words: []string{"i-0", "web"}, Attributes: []resources.Pair{{Name: "region", Value: "eu"}},
		Type: "aws_instance", Provider: "aws"}
	s := search{finding: f, scope: limited, q: q, where: whereOf(q)}
	c, err := f.compare(t.Context(), limited, resources.CoverageQuery{})
	if err != nil {
		t.Fatal(err)
	}
	texts := []string{sqlEnd, sqlRest, sqlNames, sqlUnread, sqlHeld, sqlHeldBehind, sqlAmong + s.where.text + inOrder,
		sqlThrough + s.where.text + inOrder, c.countQuery()}
	for _, status := range resources.Statuses() {
		texts = append(texts, c.listQuery(status))
	}
	for _, lead := range s.leads() {
		texts = append(texts, lead.text)
	}
	by := regexp.MustCompile(`\((org[=>]|orgs?\.org|id=|resource=|rowid=)`)
	for _, text := range texts {
		for _, step := range explain(t, x, text) {
			ours := regexp.MustCompile(`\b(r|o|m|h|i|j|k|few|words|marks|resources|holdings|orgs)\b`).MatchString(step)
			switch {
			case strings.Contains(step, "resources_place") && !strings.Contains(step, "(source,state,address)>"):
				t.Errorf("more than a stretch is looked through: %s\nin %s", step, text)
			case strings.HasPrefix(step, "SEARCH") && ours && !by.MatchString(step):
				t.Errorf("%s\nin %s", step, text)
			case strings.HasPrefix(step, "SCAN") && !strings.Contains(step, "json_each") && !strings.Contains(step, "few") &&
				!strings.Contains(step, "subquery"):
				t.Errorf("%s\nin %s", step, text)
			}
		}
	}
}

var parameter = regexp.MustCompile(`@\w+|\?`)

func explain(t *testing.T, x *Index, text string) (steps []string) {
	t.Helper()
	rows, err := x.current.Load().finders.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+
		parameter.ReplaceAllString(text, "'1'"))
	if err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	defer rows.Close()
	for rows.Next() {
		var id, parent, unused int
		var step string
		if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, step)
	}
	if len(steps) == 0 {
		t.Fatalf("no plan of %s", text)
	}
	return steps
}

// A call looks at no more than its share; who goes on finds everything, once and in order.
func TestShortPages(t *testing.T) {
	x := openAt(t, filepath.Join(t.TempDir(), "resources.db"))
	defer x.Close()
	x.limits = limits{piece: 7, look: 30, few: 3, time: pieceTime}
	org := uuid.New()
	fill(t, x, org, 450)
	some := func(name string) bool { return name != "s00001" && name != "s00002" }
	for what, c := range map[string]struct {
		scope resources.Scope
		q     resources.Query
		want  int
		calls int // at least
	}{
		"everything":      {all, resources.Query{Limit: 20}, 450, 22},
		"a frequent word": {all, resources.Query{Words: []string{"aws"}, Limit: 20}, 450, 22},
		"one of 450":      {all, resources.Query{Words: []string{"i-000000ff"}, Limit: 20}, 1, 1},
		"half of them": {all, resources.Query{Attributes: []resources.Pair{{Name: "odd", Value: "1"}}, Limit: 100},
			225, 15},
		"frequent words":       {all, resources.Query{Words: []string{"instance", "i"}, Provider: "azure", Limit: 1}, 0, 15},
		"states of some names": {resources.Scope{AnyState: true, States: some}, resources.Query{Limit: 100}, 250, 8},
	} {
		calls, seen, last := 0, map[string]bool{}, resources.Place{}
		for calls < 1000 {
			found, next, err := x.Search(t.Context(), org, c.scope, c.q)
			if calls++; err != nil || len(found) > c.q.Limit {
				t.Fatalf("%s: %d resources, %v", what, len(found), err)
			}
			for _, one := range found {
				if seen[one.Address] = true; !spotOf(last).before(spotOf(one.Place)) {
					t.Errorf("%s: %v comes behind %v", what, one.Place, last)
				}
				last = one.Place
			}
			if c.q.After = next; next == (resources.Place{}) {
				break
			}
			if next.Address == "" || c.scope.States != nil && next.State != behindAll && !c.scope.States(string(next.State)) {
				t.Errorf("%s: to go on at %+v tells of what is not to be seen", what, next)
			}
		}
		if len(seen) != c.want || calls < c.calls || calls > 2*c.calls+2 {
			t.Errorf("%s: %d resources in %d calls, want %d in about %d", what, len(seen), calls, c.want, c.calls)
		}
	}
	counts, err := x.Count(t.Context(), org, all, resources.CoverageQuery{})
	if n := counts[resources.FromState][resources.Unmatched]; err != nil || n != 450 {
		t.Errorf("counted %v, %v", counts, err)
	}
}

// A piece that takes too long is tried as a smaller one; the smallest has all the time.
func TestSlowPieces(t *testing.T) {
	x := openAt(t, filepath.Join(t.TempDir(), "resources.db"))
	defer x.Close()
	org := uuid.New()
	fill(t, x, org, 100)
	f, _, err := x.find(t.Context(), org)
	if err != nil {
		t.Fatal(err)
	}
	x.limits.piece = 5 * leastRows
	w, looked, ended := f.walk(all, stretchOf(all, "", "", resources.Place{}), -1), 0, 0
	for w.more() {
		err := w.piece(t.Context(), func(ctx context.Context, db *sql.DB, s stretch) error {
			rows, err := x.countIn(ctx, db, f, s)
			if _, limited := ctx.Deadline(); limited != (rows > leastRows) {
				t.Errorf("%d at once: limited %v", rows, limited)
			}
			if rows > leastRows {
				<-ctx.Done()
				ended++
				return ctx.Err()
			}
			looked += rows
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if looked != 100 || ended != 1 {
		t.Errorf("%d were looked at, after %d pieces that took too long", looked, ended)
	}
}

func (x *Index) countIn(ctx context.Context, db *sql.DB, f finding, s stretch) (n int, err error) {
	err = db.QueryRowContext(ctx, "SELECT count(*) FROM resources r INDEXED BY resources_place WHERE "+within,
		f.within(s)...).Scan(&n)
	return n, err
}

// One organization's searches leave room for others', and an ended context ends a wait.
func TestTurns(t *testing.T) {
	x := openAt(t, filepath.Join(t.TempDir(), "resources.db"))
	defer x.Close()
	greedy, other := uuid.New(), uuid.New()
	fill(t, x, greedy, 10)
	fill(t, x, other, 10)
	for range finderConnections / 2 {
		release, err := x.turns.Acquire(t.Context(), greedy)
		if err != nil {
			t.Fatal(err)
		}
		defer release()
	}
	if found, _, err := x.Search(t.Context(), other, all, resources.Query{Limit: 10}); err != nil || len(found) != 10 {
		t.Errorf("another organization found %d: %v", len(found), err)
	}
	if _, err := x.Position(t.Context()); err != nil {
		t.Errorf("the indexer waits for who searches: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := x.Search(ctx, greedy, all, resources.Query{Limit: 10}); !errors.Is(err, context.Canceled) {
		t.Errorf("a search that was given up: %v", err)
	}
}

// BenchmarkForeign shows that a search does not get slower by what others have.
func BenchmarkForeign(b *testing.B) {
	x, err := OpenMemory(b.Context(), discard())
	if err != nil {
		b.Fatal(err)
	}
	defer x.Close()
	org := uuid.New()
	fill(b, x, org, 100)
	for _, foreign := range []int{0, 30_000} {
		fill(b, x, uuid.New(), foreign)
		for _, words := range [][]string{{"aws"}, {"i-00000007"}} {
			b.Run(fmt.Sprintf("%s beside %d", words[0], foreign), func(b *testing.B) {
				for b.Loop() {
					if _, _, err := x.Search(b.Context(), org, all, resources.Query{Words: words, Limit: 100}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
