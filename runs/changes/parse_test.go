package changes

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
)

func TestParseRefuses(t *testing.T) {
	for text, why := range map[string]string{
		``:                          "no JSON",
		`{"format_version":"1.2"`:   "no JSON",
		`{"format_version":"1.2"}x`: "follows",
		`[]`:                        "format_version",
		`{}`:                        "format_version",
		`{"format_version":"2.0"}`:  "format_version",
		`{"format_version":"1.2","resource_changes":[{}]}`:              "no address",
		`{"format_version":"1.2","resource_changes":[{"address":"a"}]}`: "no address",
		sample{changes: update("t.a", `{}`, `{"x":1}`, `{}`) + "," +
			update("t.a", `{}`, `{"x":2}`, `{}`)}.String(): "two changes of one resource",
		`{"format_version":"1.2","resource_changes":[1]}`:                             "no address",
		`{"format_version":"1.2","format_version":"1.2"}`:                             "no JSON",
		`{"format_version":"1.2","resource_changes":[{"address":"a","address":"b"}]}`: "no JSON",
		"{\"format_version\":\"1.2\",\"x\":\"\xff\"}":                                 "no JSON",
		`{"format_version":"1.2","x":` +
			strings.Repeat("[", 20_000): "no JSON",
		`{"format_version":"1.2","planned_values":{"root_module":` +
			strings.Repeat(`{"child_modules":[`, 6_000): "no JSON",
	} {
		_, err := Parse(strings.NewReader(text), Options{})
		if !fault.Is(err, fault.PlanJSONInvalid) || !strings.Contains(err.Error(), why) {
			t.Errorf("%.80s: %v, want %q", text, err, why)
		}
	}
}

// TestParseTakesNull: what a tool leaves out may be null.
func TestParseTakesNull(t *testing.T) {
	text := `{"format_version":"1.2","variables":null,"planned_values":null,"resource_drift":null,"resource_changes":null,"output_changes":null,"prior_state":null,"configuration":{"root_module":null,"provider_config":null},"checks":null}`
	if plan, err := Parse(strings.NewReader(text), Options{}); err != nil || plan.Any() {
		t.Error(plan, err)
	}
}

var errStore = errors.New("the store is gone")

func TestParseReaderFails(t *testing.T) {
	text := sample{changes: update("t.a", `{}`, `{"a":1}`, `{}`)}.String()
	for _, n := range []int{0, 10, 300, len(text) - 1} {
		_, err := Parse(io.MultiReader(strings.NewReader(text[:n]), iotest.ErrReader(errStore)), Options{})
		if !errors.Is(err, errStore) {
			t.Errorf("after %d bytes: %v", n, err)
		}
	}
}

func TestLimits(t *testing.T) {
	long := sample{changes: update("t.a", `{}`, `{"a":"`+strings.Repeat("x", 3<<20)+`"}`, `{}`)}.String()
	for name, limits := range map[string]Limits{"bytes": {Bytes: 1000}, "a value": {Value: 1000}} {
		r := &counting{r: strings.NewReader(long)}
		if _, err := Parse(r, Options{Limits: limits}); !fault.Is(err, fault.PlanJSONTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		if r.n > 2<<20 {
			t.Errorf("%s: %d bytes were read", name, r.n)
		}
	}
}

type counting struct {
	r io.Reader
	n int
}

func (c *counting) Read(p []byte) (int, error) {
	n, err := c.r.Read(p[:min(len(p), 1000)])
	c.n += n
	return n, err
}

// TestCut: what a limit keeps out still counts, and is in the digest.
func TestCut(t *testing.T) {
	var changes []string
	for i := range 10 {
		changes = append(changes, update(fmt.Sprintf("t.a[%d]", i), `{"v":1}`, `{"v":22222}`, `{}`))
	}
	s := sample{changes: strings.Join(changes, ",")}
	whole := s.parse(t, Options{})
	for name, limits := range map[string]Limits{"changes": {Changes: 3}, "bytes": {Kept: 100}} {
		cut := s.parse(t, Options{Limits: limits})
		if !cut.Cut || whole.Cut || cut.Counts != whole.Counts || cut.Digest(keyed) != whole.Digest(keyed) {
			t.Errorf("%s: %+v", name, cut)
		}
		if ok, _ := cut.SubsetOf(whole); ok {
			t.Errorf("%s: what is cut is a subset", name)
		}
		values := 0
		for _, c := range cut.Changes {
			if c.After != nil {
				values++
			}
		}
		if len(cut.Changes) == 10 && name == "changes" || values == 0 || values > 5 {
			t.Errorf("%s: %d changes, %d with values", name, len(cut.Changes), values)
		}
	}
}

func TestCounts(t *testing.T) {
	data := func(change string) string { return strings.Replace(change, `"managed"`, `"data"`, 1) }
	plan := sample{changes: strings.Join([]string{
		one("a", `"create"`, `null`, `{}`, `{}`), one("b", `"delete"`, `{}`, `null`, `{}`),
		one("c", `"update"`, `{}`, `{}`, `{}`),
		one("d", `"delete","create"`, `{}`, `{}`, `{}`), one("e", `"create","delete"`, `{}`, `{}`, `{}`),
		one("f", `"forget"`, `{}`, `null`, `{}`), one("g", `"create","forget"`, `{}`, `{}`, `{}`),
		one("h", `"no-op"`, `{}`, `{}`, `{}`),
		data(one("i", `"read"`, `null`, `{}`, `{}`)), data(one("j", `"delete"`, `{}`, `null`, `{}`)),
	}, ","), drift: strings.Join([]string{update("k", `{}`, `{}`, `{}`), one("l", `"delete"`, `{}`, `null`, `{}`),
		data(one("m", `"delete"`, `{}`, `null`, `{}`))}, ","),
		outputs: `"o":{"actions":["no-op"]},"p":{"actions":["create"]}`}.parse(t, Options{})
	if diff := cmp.Diff(Counts{Add: 4, Change: 1, Destroy: 3, Replace: 2, Forget: 2, Read: 1, Drift: 3, Outputs: 1},
		plan.Counts); diff != "" {
		t.Error(diff)
	}
	if got := plan.Removes(); got != 3+2+1 {
		t.Errorf("it takes %d out of the state; want what is destroyed, forgotten and gone", got)
	}
	if got := plan.Counts.String(); got != "Plan: 4 to add, 1 to change, 3 to destroy, 2 to forget." {
		t.Error(got)
	}
}

func TestReplacePaths(t *testing.T) {
	change := strings.Replace(one("a", `"delete","create"`, `{}`, `{}`, `{}`), `{"actions"`,
		`{"replace_paths":[["a"],["b",0,"c d"],["e","f"],[]],"actions"`, 1)
	got := sample{changes: change}.parse(t, Options{}).Changes[0].ReplacePaths
	if diff := cmp.Diff([]string{"a", `b[0]["c d"]`, "e.f", ""}, got); diff != "" {
		t.Error(diff)
	}
}
