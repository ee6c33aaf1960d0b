package state

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func TestParseName(t *testing.T) {
	long := strings.Repeat("x", MaxNameLength)
	tests := []struct {
		name string
		ok   bool
		rule string // part of the message that names the broken rule
	}{
		{"a", true, ""},
		{"prod/network", true, ""},
		{"A.b_c-d~9/…"[:9], true, ""},
		{"lock", false, `"lock"`},
		{"a/lock", false, `"lock"`},
		{"a/b/lock", false, `"lock"`},
		{"lock/a", true, ""},
		{"a/b-lock", true, ""},
		{"a/Lock", true, ""},
		{"...", true, ""},
		{long, true, ""},
		{"", false, "empty"},
		{long + "x", false, "at most 255"},
		{"/a", false, "empty segment"},
		{"a/", false, "empty segment"},
		{"a//b", false, "empty segment"},
		{".", false, `"."`},
		{"a/..", false, `".."`},
		{"../b", false, `".."`},
		{"a b", false, "0x20"},
		{"a%2Fb", false, "0x25"},
		{"a\x00b", false, "0x00"},
		{`a\b`, false, "0x5c"},
		{"é", false, "0xc3"},
	}
	for _, test := range tests {
		got, err := ParseName(test.name)
		if test.ok {
			if err != nil || string(got) != test.name {
				t.Errorf("ParseName(%q) = %q, %v; want it as it is", test.name, got, err)
			}
			continue
		}
		if !fault.Is(err, fault.NameInvalid) || !strings.Contains(err.Error(), test.rule) {
			t.Errorf("ParseName(%q): error %v; want a %s that says %q", test.name, err, fault.NameInvalid, test.rule)
		}
	}
}

// What stands before names may end with any segment.
func TestParseFolder(t *testing.T) {
	if name, err := ParseFolder("group/lock"); err != nil || name != "group/lock" {
		t.Errorf("ParseFolder(group/lock): %q, %v", name, err)
	}
	if _, err := ParseFolder("group//lock"); !fault.Is(err, fault.NameInvalid) {
		t.Errorf("ParseFolder(group//lock): %v; want %s", err, fault.NameInvalid)
	}
}

func TestParseSegmentRefusesSlash(t *testing.T) {
	if _, err := ParseSegment("a/b"); !fault.Is(err, fault.NameInvalid) {
		t.Errorf("ParseSegment(a/b): %v; want %s", err, fault.NameInvalid)
	}
}

// What ParseName lets through can be joined to a path without leaving its folder.
func FuzzParseName(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"a", "prod/network", "..", "a//b", "a/../b", "%2e%2e", "~"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		name, err := ParseName(s)
		if err != nil {
			if !fault.Is(err, fault.NameInvalid) {
				t.Fatalf("%q: not a %s: %v", s, fault.NameInvalid, err)
			}
			return
		}
		if string(name) != s || len(s) == 0 || len(s) > MaxNameLength {
			t.Fatalf("%q became %q", s, name)
		}
		for segment := range strings.SplitSeq(s, "/") {
			if segment == "" || segment == "." || segment == ".." || strings.ContainsAny(segment, " %\\\x00") {
				t.Fatalf("%q: segment %q", s, segment)
			}
		}
	})
}
