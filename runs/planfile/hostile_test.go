package planfile

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// TestHostileMembers changes a real plan's members, packed correctly.
func TestHostileMembers(t *testing.T) {
	replace := func(name, old, new string) func([]packed) []packed {
		return func(m []packed) []packed {
			before := content(m, name)
			if !bytes.Contains(before, []byte(old)) {
				panic(fmt.Sprintf("%s has no %s", name, old))
			}
			return with(m, name, bytes.Replace(before, []byte(old), []byte(new), 1))
		}
	}
	put := func(name, text string) func([]packed) []packed {
		return func(m []packed) []packed { return with(m, name, []byte(text)) }
	}
	header := func(edit func(h *zip.FileHeader)) func([]packed) []packed {
		return func(m []packed) []packed { edit(&m[0].header); return m }
	}
	tests := map[string]struct {
		edit func([]packed) []packed
		code fault.Code
		want string
	}{
		"no plan": {func(m []packed) []packed { return without(m, "tfplan") }, fault.PlanFileInvalid,
			`no member "tfplan"`},
		"no state": {func(m []packed) []packed { return without(m, "tfstate") }, fault.PlanFileInvalid,
			`no member "tfstate"`},
		"no manifest": {func(m []packed) []packed { return without(m, manifestName) }, fault.PlanFileInvalid,
			"no member"},
		"no lock file": {func(m []packed) []packed { return without(m, lockFileName) }, fault.PlanFileInvalid,
			"no member"},
		"a name twice": {func(m []packed) []packed { return add(m, "tfstate", []byte("{}")) },
			fault.PlanFileInvalid, "twice"},
		"parent":    {put("tfconfig/m-/../../x", ""), fault.PlanFileInvalid, "plain relative path"},
		"absolute":  {put("/etc/passwd", ""), fault.PlanFileInvalid, "plain relative path"},
		"backslash": {put(`tfconfig\m-\x`, ""), fault.PlanFileInvalid, "plain relative path"},
		"folder":    {put("tfconfig/m-/", ""), fault.PlanFileInvalid, "plain relative path"},
		"no UTF-8":  {put("a\xff", ""), fault.PlanFileInvalid, "plain relative path"},
		"link": {header(func(h *zip.FileHeader) { h.SetMode(0o777 | 1<<27) }), fault.PlanFileInvalid,
			"regular"},
		"64 bits": {header(func(h *zip.FileHeader) { h.Extra = []byte{1, 0, 8, 0, 1, 2, 3, 4, 5, 6, 7, 8} }),
			fault.PlanFileInvalid, "64 bits"},
		"extra that is none": {header(func(h *zip.FileHeader) { h.Extra = []byte{9, 9, 9} }), fault.PlanFileInvalid,
			"64 bits"},
		"bomb": {put("x", strings.Repeat("\x00", 3<<20)), fault.PlanFileTooLarge, "packed more than"},
		"large member": {put("x", strings.Repeat("0123456789abcdefghijklmnopqrstuvwxyz\n", 1<<17)),
			fault.PlanFileTooLarge, "bytes"},
		"plan is no message":     {put("tfplan", "\xff\xff"), fault.PlanFileInvalid, "can't be read"},
		"plan of another format": {put("tfplan", "\x08\x02j\x00r\x01x"), fault.PlanFileInvalid, "format 2"},
		"plan without backend":   {put("tfplan", "\x08\x03r\x01x"), fault.PlanFileInvalid, "neither backend"},
		"two versions of tool":   {put("tfplan", "\x08\x03j\x00r\x01xr\x01y"), fault.PlanFileInvalid, "can't be read"},
		"two backends":           {put("tfplan", "\x08\x03j\x00j\x00r\x01x"), fault.PlanFileInvalid, "can't be read"},
		"a group":                {put("tfplan", "\x08\x03\x0b\x0c"), fault.PlanFileInvalid, "can't be read"},
		"a cut field":            {put("tfplan", "\x08\x03j\x7fx"), fault.PlanFileInvalid, "can't be read"},
		"a huge field": {put("tfplan", "\x08\x03\x1a\xff\xff\xff\xff\xff\xff\xff\xff\x7f"), fault.PlanFileInvalid,
			"can't be read"},
		"an unknown mode":  {put("tfplan", "\x08\x03\x88\x01\x07"), fault.PlanFileInvalid, "can't be read"},
		"state is no JSON": {put("tfstate", "{"), fault.PlanFileInvalid, "state that can't be read"},
		"state with two serials": {replace("tfstate", `"serial":`, `"serial":7,"serial":`), fault.PlanFileInvalid,
			"state that can't be read"},
		"state with a Serial": {replace("tfstate", `"serial":`, `"Serial":7,"serial":`), fault.PlanFileInvalid,
			"state that can't be read"},
		"serial with a long s": {replace("tfstate", `"serial":`, `"ſerial":7,"serial":`), fault.PlanFileInvalid,
			"state that can't be read"},
		"state with text behind": {replace("tfstate", "{", "{}{"), fault.PlanFileInvalid, "state that can't be read"},
		"serial is negative": {replace("tfstate", `"serial":0`, `"serial":-1`), fault.PlanFileInvalid,
			"state that can't be read"},
		"serial is a fraction": {replace("tfstate", `"serial":0`, `"serial":0.5`), fault.PlanFileInvalid,
			"state that can't be read"},
		"lineage is a number": {replace("tfstate", `"lineage":""`, `"lineage":1`), fault.PlanFileInvalid,
			"state that can't be read"},
		"manifest is no JSON": {put(manifestName, "[{"), fault.PlanFileInvalid, "list of modules"},
		"manifest twice": {replace(manifestName, `"Dir": "."`, `"Dir": "."}, {"Key": "", "Dir": "."`),
			fault.PlanFileInvalid, "twice"},
		"manifest in lower case": {replace(manifestName, `"Dir": "."`, `"Dir": ".", "dir": "net"`), fault.PlanFileInvalid,
			"list of modules"},
		"no root module": {put(manifestName, "[]"), fault.PlanFileInvalid, "lacks the root module"},
		"folder is absolute": {replace(manifestName, `"Dir": "."`, `"Dir": "/etc"`), fault.PlanFileInvalid,
			"no relative path"},
		"unlisted module":   {put("tfconfig/m-other/main.tf", ""), fault.PlanFileInvalid, "does not list"},
		"file of no module": {put("tfconfig/m-main.tf", ""), fault.PlanFileInvalid, "does not list"},
		"one folder, two texts": {put("tfconfig/m-again/main.tf", "x"), fault.PlanFileInvalid,
			"different files for two modules"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := pack(t, test.edit(unpack(t, fixture(t, "opentofu"))))
			_, err := Inspect(bytes.NewReader(file), int64(len(file)), Limits{Member: 4 << 20})
			if !fault.Is(err, test.code) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s with %q", err, test.code, test.want)
			}
		})
	}
}

// TestHostileArchives changes a real plan's bytes.
func TestHostileArchives(t *testing.T) {
	little := binary.LittleEndian
	set16 := func(fromEnd int, value uint16) func([]byte) []byte {
		return func(b []byte) []byte { little.PutUint16(b[len(b)-fromEnd:], value); return b }
	}
	directory := func(b []byte) int { return int(little.Uint32(b[len(b)-6:])) }
	tests := map[string]struct {
		edit func([]byte) []byte
		code fault.Code
		want string
	}{
		"empty": {func([]byte) []byte { return nil }, fault.PlanFileInvalid, "too short"},
		"text": {func([]byte) []byte { return []byte(strings.Repeat("tfplan", 100)) }, fault.PlanFileInvalid,
			"no zip"},
		"cut off":          {func(b []byte) []byte { return b[:len(b)-1] }, fault.PlanFileInvalid, "no zip"},
		"something behind": {func(b []byte) []byte { return append(b, 'x') }, fault.PlanFileInvalid, "no zip"},
		"something before": {func(b []byte) []byte { return append([]byte("x"), b...) }, fault.PlanFileInvalid,
			"directory"},
		"comment":   {set16(2, 1), fault.PlanFileInvalid, "comment"},
		"two disks": {set16(18, 1), fault.PlanFileInvalid, "disks"},
		"64 bits": {func(b []byte) []byte { return set16(12, 1<<16-1)(set16(14, 1<<16-1)(b)) },
			fault.PlanFileInvalid, "64-bit"},
		"more entries": {func(b []byte) []byte { return set16(12, 60_000)(set16(14, 60_000)(b)) },
			fault.PlanFileInvalid, "directory"},
		"fewer entries": {func(b []byte) []byte { return set16(12, 2)(set16(14, 2)(b)) }, fault.PlanFileInvalid, ""},
		"encrypted member": {func(b []byte) []byte { b[directory(b)+8] |= 1; return b }, fault.PlanFileInvalid,
			"encrypted"},
		"unknown method": {func(b []byte) []byte { b[directory(b)+10] = 93; return b }, fault.PlanFileInvalid, "method"},
		"smaller than it is": {func(b []byte) []byte { little.PutUint32(b[directory(b)+24:], 5); return b },
			fault.PlanFileInvalid, ""},
		"larger than it is": {func(b []byte) []byte { little.PutUint32(b[directory(b)+24:], 1<<19); return b },
			fault.PlanFileInvalid, "damaged"},
		"larger than allowed": {func(b []byte) []byte { little.PutUint32(b[directory(b)+24:], 1<<31); return b },
			fault.PlanFileTooLarge, "bytes"},
		"damaged data": {func(b []byte) []byte { b[60] ^= 0xff; return b }, fault.PlanFileInvalid, ""},
		"another checksum": {func(b []byte) []byte { b[directory(b)+16] ^= 0xff; return b }, fault.PlanFileInvalid,
			"damaged"},
		"half an encryption": {func([]byte) []byte { return []byte(`{"meta":{},"encrypted_data":"eA=="}`) },
			fault.PlanFileInvalid, "no encrypted one"},
		"a cloud's bookmark": {func([]byte) []byte { return []byte(`{"remote_plan_format":1,"run_id":"r","hostname":"h"}`) },
			fault.PlanFileInvalid, "no encrypted one"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file := test.edit(bytes.Clone(fixture(t, "terraform")))
			_, err := Inspect(bytes.NewReader(file), int64(len(file)), Limits{})
			if !fault.Is(err, test.code) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("%v, want %s with %q", err, test.code, test.want)
			}
		})
	}
}

func TestLimits(t *testing.T) {
	file := fixture(t, "opentofu")
	for name, limits := range map[string]Limits{
		"size": {Size: int64(len(file)) - 1}, "total": {Total: 1000}, "member": {Member: 300}, "members": {Members: 3},
	} {
		if _, err := Inspect(bytes.NewReader(file), int64(len(file)), limits); !fault.Is(err, fault.PlanFileTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// failing stands for a store that can't be read: no fault of the file's.
type failing struct {
	bytes.Reader
	from int64
}

var errStore = errors.New("the store is gone")

func (f *failing) ReadAt(p []byte, offset int64) (int, error) {
	if offset+int64(len(p)) > f.from {
		return 0, errStore
	}
	return f.Reader.ReadAt(p, offset)
}

func TestStoreFails(t *testing.T) {
	file := fixture(t, "opentofu")
	for _, from := range []int64{0, 100, 1000, 1300} {
		f := &failing{Reader: *bytes.NewReader(file), from: from}
		if _, err := Inspect(f, int64(len(file)), Limits{}); !errors.Is(err, errStore) || errors.As(err, new(*fault.Error)) {
			t.Errorf("%v", err)
		}
	}
}
