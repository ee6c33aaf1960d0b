package rules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/open-policy-agent/opa/v1/ast"
	"pgregory.net/rapid"
)

// TestTermsAreThoseOfOPA: what rules see is what OPA itself would make of the JSON.
func TestTermsAreThoseOfOPA(t *testing.T) {
	made := newTerms()
	same := func(t interface{ Errorf(string, ...any) }, raw []byte) {
		got, err := made.of(raw)
		want, wantErr := ast.ValueFromReader(bytes.NewReader(raw))
		if (err == nil) != (wantErr == nil) {
			t.Errorf("%s: %v, but OPA says %v", raw, err, wantErr)
			return
		}
		if err == nil && (got.Value.Compare(want) != 0 || got.Hash() != want.Hash() || got.String() != want.String()) {
			t.Errorf("%s is %s, not %s", raw, got, want)
		}
	}
	for _, raw := range []string{`null`, `true`, `""`, `"\u003c\ud83d\ude00\n"`, `0`, `-0`, `-1`, `1.50`, `1e400`, `1e-7`,
		`12345678901234567890`, `1e999999999`, ` { "a" : [ 1 , "b" ] , "c" : { } , "d" : [ ] } `,
		`{"a":{"a":{"a":"a"}}}`, `{"":0}`, `[[],[[]]]`} {
		same(t, []byte(raw))
	}
	values := rapid.Deferred(func() *rapid.Generator[any] { return anyValue(3) })
	rapid.Check(t, func(r *rapid.T) {
		raw, err := json.Marshal(values.Draw(r, "value"))
		if err != nil {
			r.Fatal(err)
		}
		same(r, raw)
	})
	for i := range 2 * maxShared { // beyond what is shared
		same(t, fmt.Appendf(nil, `{"name %d":"value %d"}`, i, i))
	}
	if len(made.texts) > maxShared {
		t.Errorf("%d texts are kept", len(made.texts))
	}
}

func anyValue(depth int) *rapid.Generator[any] {
	scalars := []*rapid.Generator[any]{rapid.String().AsAny(), rapid.Bool().AsAny(), rapid.Int().AsAny(),
		rapid.Float64Range(-1e9, 1e9).AsAny(), rapid.Just[any](nil)}
	if depth == 0 {
		return rapid.OneOf(scalars...)
	}
	return rapid.OneOf(append(scalars, rapid.SliceOfN(anyValue(depth-1), 0, 4).AsAny(),
		rapid.MapOfN(rapid.StringN(0, 5, -1), anyValue(depth-1), 0, 4).AsAny())...)
}
