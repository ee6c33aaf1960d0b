package changes

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// collector writes down what it is given, and fails at a value that it is told.
type collector struct {
	values []string
	tokens int
	fail   string
	with   func() error
}

func (c *collector) takeToken(jsontext.Token) error {
	c.tokens++
	return nil
}

func (c *collector) takeValue(_ kind, name string, value jsontext.Value) error {
	if name == c.fail {
		return c.with()
	}
	c.values = append(c.values, name+"="+string(value))
	return nil
}

// manyHeads is a plan of so many members, a few of which fill a batch by themselves, and what they are.
func manyHeads(n int) (text string, values []string) {
	for i := range n {
		size := i % 300
		if i%500 == 7 {
			size = 2 * batchBytes
		}
		values = append(values, fmt.Sprintf(`m%d="%s"`, i, strings.Repeat("x", size)))
	}
	members := slices.Clone(values)
	for i, v := range members {
		name, value, _ := strings.Cut(v, "=")
		members[i] = fmt.Sprintf(`%q:%s`, name, value)
	}
	return "{" + strings.Join(members, ",") + "}", values
}

func TestWalkGivesAllInOrder(t *testing.T) {
	text, want := manyHeads(5000)
	var c collector
	if err := walk(strings.NewReader(text), Limits{}.withDefaults(), &c); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, c.values); diff != "" || c.tokens != len(want)+2 {
		t.Errorf("%d tokens (-want +got):\n%.400s", c.tokens, diff)
	}
}

// TestFirstFaultCounts: what fails while it is taken came before what can't be read, however far the reader is ahead.
func TestFirstFaultCounts(t *testing.T) {
	text, values := manyHeads(3000)
	refused := errors.New("not this one")
	for _, at := range []int{0, 10, 1500, 2999} {
		c := collector{fail: fmt.Sprint("m", at), with: func() error { return refused }}
		err := walk(strings.NewReader(text[:len(text)-1]+"!"), Limits{}.withDefaults(), &c)
		if !errors.Is(err, refused) || !slices.Equal(c.values, values[:at]) {
			t.Errorf("at %d: %v, after %d values", at, err, len(c.values))
		}
	}
	var c collector
	err := walk(strings.NewReader(text[:len(text)-1]+"!"), Limits{}.withDefaults(), &c)
	if err == nil || !strings.Contains(err.Error(), "no JSON from byte") || len(c.values) != len(values) {
		t.Errorf("%v, after %d of %d values", err, len(c.values), len(values))
	}
}

func TestPanicOfATakerIsTheCallers(t *testing.T) {
	text, _ := manyHeads(3000)
	defer func() {
		if got := recover(); got != "broken" {
			t.Errorf("%v", got)
		}
	}()
	broken := collector{fail: "m1200", with: func() error { panic("broken") }}
	_ = walk(strings.NewReader(text), Limits{}.withDefaults(), &broken)
	t.Error("nothing was said of a panic")
}
