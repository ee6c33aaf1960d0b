package changes

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
)

// large is a plan that changes so many resources and leaves ten times as many as they are, each
// of a few kilobytes in four places as the tools write them.
func large(changed int) []byte {
	value := func(i int) string {
		var b strings.Builder
		fmt.Fprintf(&b, `{"id":"i-%08d","secret":"correct-horse-%d"`, i, i)
		for n := range 30 {
			fmt.Fprintf(&b, `,"attribute_%d":{"name":"value %d of %d","list":[1,2,%d],"flag":true,"none":null}`, n, n, i, n)
		}
		return b.String() + "}"
	}
	var resources, changes []string
	for i := range changed * 11 {
		resources = append(resources,
			fmt.Sprintf(`{"address":"t.n[%d]","mode":"managed","type":"t","name":"n","index":%d,"values":%s,"sensitive_values":{"secret":true}}`, i, i, value(i)))
		action, after := `"no-op"`, value(i)
		if i%11 == 0 {
			action, after = `"update"`, value(i+1)
		}
		changes = append(changes, one(fmt.Sprintf("t.n[%d]", i), action, value(i), after, `{"secret":true}`))
	}
	state := `{"root_module":{"resources":[` + strings.Join(resources, ",") + `]}}`
	return []byte(sample{planned: state, prior: state, changes: strings.Join(changes, ",")}.String())
}

func BenchmarkParse(b *testing.B) {
	for _, changed := range []int{100, 1000} {
		text := large(changed)
		b.Run(fmt.Sprint(changed), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(bytes.NewReader(text), Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkRedact(b *testing.B) {
	text := large(100)
	plan, err := Parse(bytes.NewReader(text), Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := plan.Redact(io.Discard, bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStream(b *testing.B) {
	text := []byte(strings.Repeat("{\"@level\":\"info\",\"@message\":\"a: "+
		"Creating...\",\"@timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"apply_start\",\"hook\":{\"resource\":{\"addr\":\"a\"},\"action\":\"create\"}}\n", 1000))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		NewStream().Write(text)
		NewRenderer(io.Discard, true).Write(text)
	}
}
