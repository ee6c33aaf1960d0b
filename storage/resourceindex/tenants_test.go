package resourceindex

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

var all = resources.Scope{AnyState: true, Uploads: true}

func open(t testing.TB) *Index {
	t.Helper()
	x, err := Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

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
	x := open(t)
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
	rows, err := x.db.Load().QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+
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
	x := open(t)
	x.limits = limits{piece: 7, look: 30, few: 3}
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

// One organization's searches leave room for others' and for the indexer, and an ended context ends a wait.
func TestTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := open(t)
		greedy, other := uuid.New(), uuid.New()
		fill(t, x, greedy, 10)
		fill(t, x, other, 10)
		release, err := x.turns.Acquire(t.Context(), greedy)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := x.Position(t.Context()); err != nil {
			t.Errorf("the indexer waits for who searches: %v", err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, _, err := x.Search(ctx, greedy, all, resources.Query{Limit: 10}); !errors.Is(err, context.Canceled) {
			t.Errorf("a search that was given up: %v", err)
		}
		const waiting = 5
		ended := make(chan uuid.UUID, waiting+1)
		search := func(org uuid.UUID) {
			if found, _, err := x.Search(t.Context(), org, all, resources.Query{Limit: 10}); err != nil || len(found) != 10 {
				t.Errorf("%d are found: %v", len(found), err)
			}
			ended <- org
		}
		for range waiting {
			go search(greedy)
		}
		synctest.Wait()
		go search(other)
		synctest.Wait()
		release()
		synctest.Wait()
		before := 0
		for range waiting + 1 {
			if <-ended == other {
				break
			}
			before++
		}
		if before > 1 {
			t.Errorf("%d searches of one organization end before another one's only one", before)
		}
	})
}

// Numbers of organizations are others after Reset: a search that began before it is told to come again.
func TestResetBesideASearch(t *testing.T) {
	x := open(t)
	ours, theirs := uuid.New(), uuid.New()
	fill(t, x, ours, 1)
	f, known, err := x.find(t.Context(), ours)
	if err != nil || !known {
		t.Fatal(known, err)
	}
	if err := x.Reset(t.Context()); err != nil {
		t.Fatal(err)
	}
	fill(t, x, theirs, 10)
	q := resources.Query{Limit: 100}
	s := search{finding: f, scope: all, q: q, where: whereOf(q), rest: stretchOf(all, "", "", resources.Place{})}
	if found, _, err := s.through(t.Context()); len(found) > 0 || !fault.Is(err, fault.StoreUnavailable) {
		t.Errorf("found %d of another organization: %v", len(found), err)
	}
}

// Who comes upon damage is told to come again, and Reset makes a new index.
func TestDamage(t *testing.T) {
	x := open(t)
	org := uuid.New()
	fill(t, x, org, 10)
	if _, err := x.db.Load().ExecContext(t.Context(), `PRAGMA writable_schema = ON;
		UPDATE sqlite_schema SET rootpage = 1000000 WHERE name = 'resources_place';
		PRAGMA writable_schema = RESET`); err != nil {
		t.Fatal(err)
	}
	_, _, err := x.Search(t.Context(), org, all, resources.Query{Limit: 100})
	if !fault.Is(err, fault.StoreUnavailable) || !x.Damaged() {
		t.Errorf("a search says %v; damaged %v", err, x.Damaged())
	}
	if err := x.Reset(t.Context()); err != nil || x.Damaged() {
		t.Errorf("damaged %v after Reset: %v", x.Damaged(), err)
	}
	fill(t, x, org, 10)
	if found, _, err := x.Search(t.Context(), org, all, resources.Query{Limit: 100}); err != nil || len(found) != 10 {
		t.Errorf("then %d are found: %v", len(found), err)
	}
}

// BenchmarkForeign shows that a search does not get slower by what others have.
func BenchmarkForeign(b *testing.B) {
	x := open(b)
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
