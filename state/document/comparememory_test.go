package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/internal/suite"
)

// crowdedPairs are small bodies for whose comparison much would be made.
func crowdedPairs() map[string][2][]byte {
	list := func(n int, one func(i int) string) string {
		all := make([]string, n)
		for i := range all {
			all[i] = one(i)
		}
		return strings.Join(all, ",")
	}
	members := func(value int) []byte {
		return one(fmt.Sprintf(`{"attributes":{"m":{%s}}}`,
			list(50_000, func(i int) string { return fmt.Sprintf(`"%d":%d`, i, value) })))
	}
	elements := func(value int) []byte {
		return one(fmt.Sprintf(`{"attributes":{"l":[%s]}}`, list(50_000, func(int) string { return fmt.Sprint(value) })))
	}
	moved := func(first int) []byte {
		return one(list(20_000, func(i int) string {
			return fmt.Sprintf(`{"index_key":%d,"attributes":{"id":"i%d"}}`, first+i,
				i)
		}))
	}
	outputs := func(value int) []byte {
		return fmt.Appendf(nil, `{"version":4,"outputs":{"o":{"value":{%s},"type":"string"}},"resources":[]}`,
			list(50_000, func(i int) string { return fmt.Sprintf(`"%d":%d`, i, value) }))
	}
	scattered := func(step int) []byte {
		return one(fmt.Sprintf(`{"attributes":{"l":[%s]}}`,
			list(50_000, func(i int) string { return fmt.Sprint(i * step % 50_021) })))
	}
	quoted := func(value int) []byte {
		text, _ := json.Marshal(fmt.Sprintf(`{%s}`,
			list(50_000, func(i int) string { return fmt.Sprintf(`"%d":%d`, i, value) })))
		return one(fmt.Sprintf(`{"attributes":{"policy":%s}}`, text))
	}
	lined := func(value int) []byte {
		return one(fmt.Sprintf(`{"attributes":{"text":"%s"}}`,
			strings.ReplaceAll(list(maxLines, func(i int) string { return fmt.Sprint(i * value) }), ",", `\n`)))
	}
	marked := func(value int) []byte {
		return one(fmt.Sprintf(`{"attributes":{"a":%d},"sensitive_attributes":[%s]}`, value,
			list(20_000, func(i int) string { return fmt.Sprintf(`[{"type":"get_attr","value":"%d"}]`, i) })))
	}
	return map[string][2][]byte{
		"tiny members":           {members(1), members(2)},
		"members that are alike": {members(1), []byte(strings.ReplaceAll(string(members(1)), ":1", ":1.0"))},
		"tiny elements":          {elements(1), elements(2)}, "instances that moved": {moved(0), moved(100_000)},
		"elements elsewhere": {scattered(1), scattered(7)}, "JSON in strings": {quoted(1), quoted(2)},
		"lines":   {lined(1), lined(2)},
		"outputs": {outputs(1), outputs(2)}, "marks": {marked(1), marked(2)},
	}
}

// allocated returns how many bytes a call allocates, and so more than it ever has at once.
func allocated(call func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	call()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// What is made to compare two states is asked for before it is made, and is not made when
// that is refused.
func TestWhatIsMadeToCompareIsAskedFor(t *testing.T) {
	suite.Deep(t)
	for name, bodies := range crowdedPairs() {
		a, b := parse(t, bodies[0]), parse(t, bodies[1])
		for what, write := range map[string]func(Memory) error{
			"JSON": func(m Memory) error { return WriteJSON(io.Discard, a, b, Options{Memory: m}) },
			"text": func(m Memory) error { return WriteText(io.Discard, a, b, Options{Memory: m}, nil) },
		} {
			var all asked
			takes := allocated(func() {
				if err := write(all.take); err != nil {
					t.Fatal(err)
				}
			})
			t.Logf("%s, %s: %d bytes are asked for, %d are allocated in all, for %d", name, what, all.n, takes, len(bodies[0])+
				len(bodies[1]))
			if all.n < takes/4 || all.n > 4*takes {
				t.Errorf("%s, %s: %d bytes are asked for, and %d are allocated in all", name, what, all.n, takes)
			}
			some := asked{limit: all.n / 2}
			var err error
			if takes := allocated(func() { err = write(some.take) }); !errors.Is(err, errNoMemory) || takes > 2*all.n {
				t.Errorf("%s, %s: with half of that %v, after %d bytes", name, what, err, takes)
			}
		}
	}
}

// To compare usual states takes little beside them.
func TestUsualComparisonsNeedLittle(t *testing.T) {
	usual := func(value int) []byte {
		all := make([]string, 1000)
		for i := range all {
			all[i] = fmt.Sprintf(`{"index_key":%d,"attributes":{"id":"i%d","n":%d,"text":"%s"}}`, i, i, value,
				strings.Repeat("x", 4000))
		}
		return one(strings.Join(all, ","))
	}
	a, b := usual(1), usual(2)
	var all asked
	if err := WriteJSON(io.Discard, parse(t, a), parse(t, b), Options{Memory: all.take}); err != nil ||
		all.n > int64(len(a)+len(b))/4 {
		t.Errorf("%v, %d bytes beside %d", err, all.n, len(a)+len(b))
	}
}
