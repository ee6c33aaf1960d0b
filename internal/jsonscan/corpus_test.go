package jsonscan

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
)

// validValues are values that every parser must take.
var validValues = []string{
	`0`, `-0`, `1`, `-1`, `10`, `1234567890123456789012345678901234567890`, `0.0`, `0.1`, `-0.1`, `1.000`,
	`1e5`, `1E5`, `1e+5`, `1e-5`, `0e0`, `0E+00`, `1.5e300`, `1e400`, `-1.25E-400`, `1e0001`,
	`true`, `false`, `null`,
	`""`, `"a"`, `" "`, `"'"`, `"/"`, `"\/"`, `"a\"b"`, `"\\"`, `"\\\""`, `"\b\f\n\r\t"`, `"// no comment"`,
	`"\u0000"`, `"\u001f"`, `"\u0022"`, `"\u005C"`, `"\u00e9"`, `"\uFFFF"`, `"\uffFE"`, `"\uD7FF"`, `"\uE000"`,
	`"\ud800\udc00"`, `"\uDBFF\uDFFF"`, `"\ud83d\ude00\ud83d\ude00"`, `"\\ud800"`, `"\\u12"`,
	"\"\x7f\"", `"é"`, `"状態"`, `"😀"`, "\"\u0080\"", "\"\u07ff\"", "\"\u0800\"", "\"\ufffd\"", "\"\uffff\"",
	"\"\U0010ffff\"",
	"\"\u2028\u2029\"", "\"\ufeff\"",
	`[]`, `[ ]`, "[\t]", "[\r\n]", `[1]`, `[1,2]`, `[ 1 , 2 ]`, `[[]]`, `[[],[]]`, `[{}]`, `[null,true,false]`, `[""]`,
	`{}`, `{ }`, `{"":0}`, `{"a":1}`, `{"a":1,"b":2}`, `{"a":1,"a":2}`, `{ "a" : { "b" : [ ] } }`, `{"a":[{"b":{}}]}`,
	"{\n  \"a\": [\n    1,\n    2\n  ]\n}", "{\r\n\t\"a\"\t:\r1}",
}

// invalidValues are refused, whether for the grammar or for the text in strings.
var invalidValues = []string{
	// numbers
	`01`, `00`, `-01`, `-`, `--1`, `+1`, `+`, `.5`, `-.5`, `1.`, `1.e1`, `1.5.5`, `0x10`, `0b1`, `1_000`, `1,000 `, `1e`,
	`1e+`, `1e-`,
	`1e1.5`, `1e+-1`, `1ee1`, `e1`, `0e`, `- 1`, `1 2`, `NaN`, `-NaN`, `Infinity`, `-Infinity`, `inf`, `1f`, `1L`, `１`,
	`1٠`,
	// words
	`t`, `tru`, `true1`, `truefalse`, `True`, `TRUE`, `fals`, `falsy`, `nul`, `nulll`, `nil`, `None`, `undefined`, `a`,
	"nu\u006c\u200bl",
	// strings
	`"`, `'a'`, "`a`", `"a`, `a"`, `"a""b"`, `"\"`, `"\\\"`, `"\a"`, `"\v"`, `"\0"`, `"\x41"`, `"\'"`, `"\ "`, `"\U0041"`,
	"\"\\\n\"",
	`"\u"`, `"\u1"`, `"\u12"`, `"\u123"`, `"\u123g"`, `"\u 123"`, `"\u-123"`, `"\u+123"`, `"\u１２３４"`, `"\u12"34"`,
	`"\ud800"`, `"\ud800a"`, `"\ud800\n"`, `"\ud800\u0041"`, `"\ud800\ud800"`, `"\udc00"`, `"\udfff"`, `"\udc00\ud800"`,
	`"\ud800\udbff"`, `"\ud800\ue000"`, `"\ud800\udc0"`, `"\ud800\`, `"\ud800\u`, `"\ud800udc00"`, `"\ud83d\ude00\ud83d"`,
	// control characters
	"\"\x00\"", "\"\x01\"", "\"\t\"", "\"\n\"", "\"\r\"", "\"\x1f\"", "\"a\nb\"", "\x00", "1\x00", "\x001", "[1\x00]",
	"\x0b1", "\x0c1",
	// UTF-8: loose and missing continuations, too long, surrogates, beyond the last
	"\"\x80\"", "\"\xbf\"", "\"\xc3\"", "\"\xc3(\"", "\"\xe2\x82\"", "\"\xe2\x28\xa1\"", "\"\xf0\x9f\x98\"",
	"\"\xc0\x80\"", "\"\xc0\xaf\"",
	"\"\xc1\xbf\"", "\"\xe0\x80\x80\"", "\"\xe0\x9f\xbf\"", "\"\xf0\x80\x80\x80\"", "\"\xf0\x8f\xbf\xbf\"",
	"\"\xed\xa0\x80\"",
	"\"\xed\xbf\xbf\"", "\"\xed\xa0\xbd\xed\xb8\x80\"", "\"\xf4\x90\x80\x80\"", "\"\xf5\x80\x80\x80\"", "\"\xfe\"",
	"\"\xff\"",
	"\"\xfc\x80\x80\x80\x80\x80\"", "\"\xe9\"", "\xff", "1\xff", "\xc3\xa9", "\"é\xff\"", "\"\xffé\"",
	// white space that JSON does not know
	"\u00a01", "1\u00a0", "\u20281", "1\u2029", "\u20601", "\ufeff1", "1\ufeff", "[\u00a0]", "[1,\f2]", "{\v}",
	// arrays
	`[`, `]`, `[1`, `[1,`, `[,`, `[,1]`, `[1,]`, `[1,,2]`, `[1 2]`, `[1:2]`, `[1;2]`, `["a":1]`, `[[]`, `[]]`, `[}`, `[1}`,
	`[{]`, `["]`, `[1,2`, `[a]`, `[*]`, `[][]`,
	// objects
	`{`, `}`, `{"`, `{"a`, `{"a"`, `{"a"}`, `{"a":`, `{"a":}`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{,}`, `{,"a":1}`,
	`{"a":1,,"b":2}`, `{"a" 1}`, `{"a",1}`,
	`{"a"::1}`, `{:1}`, `{a:1}`, `{'a':1}`, `{1:1}`, `{null:1}`, `{[]:1}`, `{{}:1}`, `{"a":1 "b":2}`, `{"a":1;"b":2}`,
	`{"a":1]`, `{]`, `{"a":[}`, `{"a":1}}`, `{}{}`,
	`{"a":1:2}`, `{"a" b}`, `{"a"=1}`, `{"\ud800":1}`, "{\"\xff\":1}", "{\"\x00\":1}", `{"a\":1}`,
	// what other formats have
	`1//x`, `/**/1`, `1/**/`, `#x`, `[1,/**/2]`, `[...]`, `(1)`, `<a/>`, `@`, `\u0031`, `$`, `--- 1`, `{"a":1,...}`,
}

// placements put a value at each kind of place in an object: behind different amounts of
// text, so that words of eight bytes fall differently, and before different ends.
func placements(value string) []string {
	var all []string
	for pad := range 9 {
		all = append(all, `{"`+strings.Repeat("k", pad)+`":`+value+`}`)
	}
	return append(all,
		`{"a":[`+value+`]}`,
		`{"a":[0,`+value+`,0]}`,
		`{"a":{"b":`+value+`},"c":0}`,
		"{\n  \"a\": "+value+",\n  \"b\": [\n                    "+value+"\n  ]\n}\n",
		`{"a":`+strings.Repeat("[", 63)+`{"b":`+value+`}`+strings.Repeat("]", 63)+`}`,
	)
}

func TestValidValues(t *testing.T) {
	for _, value := range validValues {
		for _, data := range placements(value) {
			if err := Object([]byte(data), Limits{}, nil); err != nil {
				t.Errorf("Object(%q): %v", data, err)
			}
			compare(t, []byte(data))
		}
	}
}

func TestInvalidValues(t *testing.T) {
	for _, value := range invalidValues {
		for _, data := range placements(value) {
			err := Object([]byte(data), Limits{}, nil)
			syntax, ok := errors.AsType[*SyntaxError](err)
			if !ok || syntax.Offset < 0 || syntax.Offset > len(data) {
				t.Errorf("Object(%q): %v, want a SyntaxError", data, err)
			}
			compare(t, []byte(data))
		}
	}
}

// compare fails if data is judged otherwise than by jsontext, which is as strict, or is
// taken where encoding/json, which minds no surrogates, refuses it.
func compare(t *testing.T, data []byte) {
	t.Helper()
	// jsontext has a limit of its own, for its recursion.
	err := Object(data, Limits{Depth: 10000}, nil)
	if _, ok := errors.AsType[*NotObjectError](err); ok {
		return // says nothing about the rest
	}
	strict := jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true))
	if (err == nil) != strict {
		t.Errorf("Object(%q): %v, but jsontext says %v", data, err, strict)
	}
	if err == nil && !utf8.Valid(data) {
		t.Errorf("Object(%q): invalid UTF-8 taken", data)
	}
	loose := json.Valid(data)
	if err == nil && !loose {
		t.Errorf("Object(%q): taken, but not by encoding/json", data)
	}
	if err != nil && loose && utf8.Valid(data) && !strings.Contains(err.Error(), "surrogate") {
		t.Errorf("Object(%q): %v, but encoding/json takes it", data, err)
	}
}
