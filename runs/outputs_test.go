package runs

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
)

// An output that is sensitive, or doesn't say that it isn't, has no value in an answer.
func TestOutputsAreMasked(t *testing.T) {
	const said = `{"a":{"sensitive":false,"type":"string","value":"shown"},"b":{"sensitive":true,"type":"string","value":"hidden"},"c":{"type":"string","value":"hidden"}}`
	for _, test := range []struct {
		declared []string
		want     string
	}{
		{nil, `{"outputs":[{"name":"a","type":"string","sensitive":false,"value":"shown"},{"name":"b","type":"string","sensitive":true,"value":null},{"name":"c","type":"string","sensitive":true,"value":null}]}`},
		{[]string{"b", "z"}, `{"outputs":[{"name":"b","type":"string","sensitive":true,"value":null}],"missing":["z"]}`},
	} {
		got, err := maskedOutputs([]byte(said), test.declared)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := json.Marshal(got)
		if diff := cmp.Diff(test.want, string(raw)); err != nil || diff != "" {
			t.Errorf("declared %v: %v\n%s", test.declared, err, diff)
		}
	}
}

func TestForeignOutputsAreRefused(t *testing.T) {
	for _, said := range []string{"", "[]", `"secret"`, `{"a":"secret"}`, `{"a":{}`, `{"a":{}} {}`, `{"a":{},"a":{}}`,
		`{"a":{"value":"secret}}`} {
		_, err := maskedOutputs([]byte(said), nil)
		if !fault.Is(err, fault.RunFileNotFound) || strings.Contains(fault.From(err).Message, "secret") {
			t.Errorf("%s: %v", said, err)
		}
	}
}

// Outputs without number would take many times what they have in the file.
func TestOutputsAreCounted(t *testing.T) {
	said := func(n int) []byte {
		var all []string
		for i := range n {
			all = append(all, fmt.Sprintf(`"o%d":{}`, i))
		}
		return []byte("{" + strings.Join(all, ",") + "}")
	}
	if got, err := maskedOutputs(said(maxOutputCount), nil); err != nil || len(got.Outputs) != maxOutputCount {
		t.Errorf("%d outputs, %v", len(got.Outputs), err)
	}
	if _, err := maskedOutputs(said(maxOutputCount+1), nil); !fault.Is(err, fault.RunFileNotFound) {
		t.Error(err)
	}
}
