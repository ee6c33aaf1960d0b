package fair

import (
	"slices"
	"testing"

	"github.com/google/uuid"
)

// drain takes out what may go, until nothing may.
func (q *Queue[T]) drain(may func(*Place[T]) bool) (values []T) {
	for p := q.Next(may); p != nil; p = q.Next(may) {
		values = append(values, p.Value)
	}
	return values
}

// Organizations come in turns, whatever each has waiting, and keep their own order.
func TestTurns(t *testing.T) {
	var q Queue[string]
	greedy, other, third := uuid.New(), uuid.New(), uuid.New()
	for _, name := range []string{"g1", "g2", "g3", "g4"} {
		q.Join(greedy, name)
	}
	q.Join(other, "o1")
	q.Join(other, "o2")
	q.Join(third, "t1")
	got := q.drain(func(*Place[string]) bool { return true })
	if want := []string{"g1", "o1", "t1", "g2", "o2", "g3", "g4"}; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
	if !q.Empty() || len(q.lines) != 0 {
		t.Errorf("left behind: %+v", q)
	}
}

// What may not go holds up its own organization only.
func TestHeldUp(t *testing.T) {
	var q Queue[string]
	held, other := uuid.New(), uuid.New()
	q.Join(held, "h1")
	q.Join(held, "h2")
	q.Join(other, "o1")
	got := q.drain(func(p *Place[string]) bool { return p.Value != "h1" })
	if want := []string{"o1"}; !slices.Equal(got, want) || q.Empty() {
		t.Errorf("%v, want %v", got, want)
	}
}

// Who leaves is gone, once, and leaves nothing behind.
func TestLeave(t *testing.T) {
	var q Queue[string]
	org := uuid.New()
	first, second := q.Join(org, "1"), q.Join(org, "2")
	if !q.Leave(first) || q.Leave(first) {
		t.Error("it left twice, or not at all")
	}
	if got := q.Next(func(*Place[string]) bool { return true }); got != second || got.Org() != org || q.Leave(second) {
		t.Errorf("then comes %+v", got)
	}
	if !q.Empty() || len(q.lines) != 0 {
		t.Errorf("left behind: %+v", q)
	}
}
