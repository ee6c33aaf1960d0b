package inventory_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// times repeats an element with commas between; %d in it is the index.
func times(n int, element string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.ReplaceAll(element, "%d", fmt.Sprint(i))
	}
	return strings.Join(all, ",")
}

func attributes(members string) string { return list(`{"attributes":{` + members + `}}`) }

func word(name, value string) string {
	words := map[string]string{"provider": "aws", "category": "compute", "resource_type": "vm"}
	words[name] = value
	return fmt.Sprintf(`{"provider":%q,"category":%q,"resource_type":%q,"instances":[{"resource_name":"a"}]}`,
		words["provider"], words["category"], words["resource_type"])
}

// Every limit: at it, and one beyond. Characters are no bytes, and escapes no characters.
func TestLimits(t *testing.T) {
	x := strings.Repeat
	tests := []struct {
		name    string
		body    func(n int) string
		limit   int
		code    fault.Code
		pointer string
		tooFew  int // is refused too; -1 for none
	}{
		{"provider", func(n int) string { return word("provider", x("a", n)) }, 255, fault.UploadInvalid, "/provider", 0},
		{"category", func(n int) string { return word("category", x("-", n)) }, 255, fault.UploadInvalid, "/category", 0},
		{"resource_type", func(n int) string { return word("resource_type", x("Z", n)) }, 255, fault.UploadInvalid,
			"/resource_type", 0},
		{"resource_name", func(n int) string { return list(`{"resource_name":"` + x("😀", n) + `"}`) }, 255,
			fault.UploadInvalid, "/instances/0/resource_name", 0},
		{"resource_name in escapes", func(n int) string { return list(`{"resource_name":"` + x(`\ud83d\ude00`, n) + `"}`) },
			255, fault.UploadInvalid, "/instances/0/resource_name", 0},
		{"single resource_name", func(n int) string { return `{` + head + `,"resource_name":"` + x("é", n) + `"}` }, 255,
			fault.UploadInvalid, "/resource_name", 0},
		{"instances", func(n int) string { return list(times(n, `{"resource_name":"a"}`)) }, 100, fault.UploadInvalid,
			"/instances", 0},
		{"attributes", func(n int) string { return attributes(times(n, `"k%d":%d`)) }, 100, fault.UploadInvalid,
			"/instances/0/attributes", -1},
		{"properties", func(n int) string { return `{` + head + `,"properties":{` + times(n, `"k%d":%d`) + `}}` }, 100,
			fault.UploadInvalid, "/properties", -1},
		{"key", func(n int) string { return attributes(`"` + x("é", n) + `":1`) }, 255, fault.UploadInvalid,
			"/instances/0/attributes/*", 0},
		{"key in escapes", func(n int) string { return attributes(`"` + x(`\u00e9`, n) + `":{}`) }, 255, fault.UploadInvalid,
			"/instances/0/attributes/*", 0},
		{"text", func(n int) string { return attributes(`"k":"` + x("状", n) + `"`) }, 10_000, fault.UploadInvalid,
			"/instances/0/attributes/k", -1},
		{"text in escapes", func(n int) string { return attributes(`"k":"` + x(`\ud83d\ude00`, n) + `"`) }, 10_000,
			fault.UploadInvalid, "/instances/0/attributes/k", -1},
		{"deep text", func(n int) string { return attributes(`"k":[0,{"~/":["` + x("a", n) + `"]}]`) }, 10_000,
			fault.UploadInvalid, "/instances/0/attributes/k/1/~0~1/0", -1},
		{"deep key", func(n int) string { return attributes(`"k":[{"` + x("a", n) + `":1}]`) }, 10_000, fault.UploadInvalid,
			"/instances/0/attributes/k/0/*", -1},
		{"made-up name", func(n int) string { return strings.Replace(list(`{}`), `"vm"`, `"`+x("t", n)+`"`, 1) }, 253,
			fault.UploadInvalid, "/instances/0/resource_name", 0},
		{"number", func(n int) string { return attributes(`"k":[` + x("7", n) + `]`) }, 10_000, fault.UploadInvalid,
			"/instances/0/attributes/k/0", -1},
		// Three words, instances, attributes and its one are names too.
		{"names", func(n int) string { return attributes(`"k":{` + times(n-6, `"k%d":%d`) + `}`) }, 100_000,
			fault.UploadMalformed, "/instances/0/attributes/k/*", -1},
		// Object, array, object and attributes are four deep.
		{"depth", func(n int) string { return attributes(`"k":` + x("[", n-4) + x("]", n-4)) }, 10, fault.UploadMalformed,
			"/instances/0/attributes/k/0/0/0/0/0/0", -1},
		{"containers", func(n int) string { return attributes(`"k":[` + times(n-5, `{}`) + `]`) }, 1000,
			fault.UploadMalformed, "/instances/0/attributes/k/995", -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := inventory.Parse([]byte(tt.body(tt.limit))); err != nil {
				t.Errorf("at %d: %v %v", tt.limit, err, details(err))
			}
			wantFault(t, tt.body(tt.limit+1), tt.code, tt.pointer)
			if tt.tooFew >= 0 {
				wantFault(t, tt.body(tt.tooFew), tt.code, "")
			}
		})
	}
}

// wantFault wants one fault there; a pointer that ends in * is the beginning of it.
func wantFault(t *testing.T, body string, code fault.Code, pointer string) {
	t.Helper()
	_, err := inventory.Parse([]byte(body))
	found := details(err)
	if !fault.Is(err, code) || len(found) != 1 {
		t.Errorf("%.100s: %v %v; want one %s", body, err, found, code)
		return
	}
	start, open := strings.CutSuffix(pointer, "*")
	if pointer != "" && found[0].Pointer != pointer && !(open && strings.HasPrefix(found[0].Pointer, start)) {
		t.Errorf("%.100s: at %.100q; want %q", body, found[0].Pointer, pointer)
	}
}

func details(err error) []fault.Detail {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Details
	}
	return nil
}
