package document

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
)

// asked sums up what a Memory is asked for, up to a limit.
type asked struct{ n, limit int64 }

var errNoMemory = errors.New("no memory")

func (a *asked) take(n int64) error {
	if a.n += n; a.limit > 0 && a.n > a.limit {
		return errNoMemory
	}
	return nil
}

// crowded are small bodies of which much would be made.
func crowded() map[string][]byte {
	var instances, outputs bytes.Buffer
	for i := range 20_000 {
		fmt.Fprintf(&instances, `{"index_key":%d},`, i)
		fmt.Fprintf(&outputs, `"o%d":{},`, i)
	}
	list, named := strings.TrimSuffix(instances.String(), ","), strings.TrimSuffix(outputs.String(), ",")
	const resource = `{"version":4,"resources":[{"module":%q,"mode":"managed","type":"t","name":"n","instances":[%s]}]}`
	return map[string][]byte{
		"tiny instances":    fmt.Appendf(nil, resource, "", list),
		"a long name":       fmt.Appendf(nil, resource, strings.Repeat("m", 1<<20), list),
		"many tiny outputs": fmt.Appendf(nil, `{"version":4,"outputs":{%s},"resources":[]}`, named),
	}
}

// What is made of a body is asked for before, and is not made when that is refused.
func TestWhatIsMadeOfABodyIsAskedFor(t *testing.T) {
	for name, body := range crowded() {
		var all asked
		if name != "a long name" { // of which there is too much to make it
			d, err := ParseWithin(body, all.take)
			if err != nil {
				t.Fatal(err)
			}
			takes := int64(cap(d.Instances))*instanceBytes + int64(cap(d.Outputs))*outputBytes
			for _, i := range d.Instances {
				takes += int64(len(i.Address))
			}
			if all.n < takes || all.n > 4*takes {
				t.Errorf("%s: %d bytes are asked for, and it takes %d", name, all.n, takes)
			}
		}
		for what, make := range map[string]func(Memory) error{
			"parsed":   func(m Memory) error { _, err := ParseWithin(body, m); return err },
			"redacted": func(m Memory) error { return WriteRedacted(io.Discard, body, m) },
			"outputs":  func(m Memory) error { _, err := Outputs(body, m); return err },
			"a view":   func(m Memory) error { return WriteOutputs(io.Discard, body, m) },
		} {
			some := asked{limit: 1 << 20}
			err := make(some.take)
			if wanted := strings.Contains(name, "outputs") || what == "parsed" ||
				what == "redacted"; wanted != errors.Is(err, errNoMemory) {
				t.Errorf("%s, %s: %v", name, what, err)
			}
		}
	}
}

// Usual bodies need little beside themselves.
func TestUsualBodiesNeedLittle(t *testing.T) {
	var b bytes.Buffer
	for i := range 1000 {
		fmt.Fprintf(&b, `{"index_key":%d,"attributes":{"text":"%s"}},`, i, strings.Repeat("x", 2000))
	}
	body := one(strings.TrimSuffix(b.String(), ","))
	var all asked
	if _, err := ParseWithin(body, all.take); err != nil || all.n > int64(len(body))/2 {
		t.Errorf("%v, %d bytes beside %d", err, all.n, len(body))
	}
}

func TestSizesInMemory(t *testing.T) {
	if n := reflect.TypeFor[Instance]().Size(); n > instanceBytes {
		t.Errorf("an instance takes %d bytes", n)
	}
	if n := reflect.TypeFor[Output]().Size(); n > outputBytes {
		t.Errorf("an output takes %d bytes", n)
	}
}
