package changes_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs/changes"
)

// What stands before a plan's JSON is read over, or named.
func TestWhatAPlanBeginsWith(t *testing.T) {
	t.Parallel()
	const plan = `{"format_version":"1.2"}`
	wide := func(order binary.AppendByteOrder, mark string) string {
		var raw []byte
		for _, unit := range utf16.Encode([]rune(mark + plan)) {
			raw = order.AppendUint16(raw, unit)
		}
		return string(raw)
	}
	for name, c := range map[string]struct{ text, says string }{
		"as it is":                   {plan, ""},
		"a byte order mark":          {"\ufeff" + plan, ""},
		"white space":                {" \r\n\t" + plan, ""},
		"a mark and white space":     {"\ufeff\r\n" + plan, ""},
		"nothing":                    {"", "it is empty"},
		"white space alone":          {" \n\n", "it is empty"},
		"a mark alone":               {"\ufeff", "it is empty"},
		"UTF-16, little-endian":      {wide(binary.LittleEndian, "\ufeff"), "UTF-16"},
		"UTF-16, big-endian":         {wide(binary.BigEndian, "\ufeff"), "UTF-16"},
		"UTF-16 without a mark":      {wide(binary.LittleEndian, ""), "UTF-16"},
		"a line of something before": {"[command]/usr/bin/terraform\n" + plan, "what show -json prints"},
	} {
		_, err := changes.Parse(strings.NewReader(c.text), changes.Options{})
		switch {
		case c.says == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case c.says != "" && (!fault.Is(err, fault.PlanJSONInvalid) || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v", name, err)
		}
	}
}
