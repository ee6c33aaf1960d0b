package state

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func TestParseLockInfo(t *testing.T) {
	const sent = ` {"ID":"9c3f","Operation":"OperationTypeApply","Info":"","Who":"ada@engine","Version":"1.12.6","Created":"2026-11-21T02:53:01.123456789Z","Path":"","More":[1]}` + "\n"
	info, err := ParseLockInfo([]byte(sent))
	if err != nil {
		t.Fatal(err)
	}
	if string(info.Raw) != sent {
		t.Errorf("Raw = %q; want the bytes as sent", info.Raw)
	}
	if info.ID != "9c3f" || info.Who != "ada@engine" || info.Operation != "OperationTypeApply" {
		t.Errorf("parsed %+v", info)
	}
}

func TestParseLockInfoKeepsItsOwnCopy(t *testing.T) {
	sent := []byte(`{"ID":"a"}`)
	info, err := ParseLockInfo(sent)
	if err != nil {
		t.Fatal(err)
	}
	sent[7] = 'b'
	if string(info.Raw) != `{"ID":"a"}` {
		t.Errorf("Raw changed to %s with the caller's buffer", info.Raw)
	}
}

func TestParseLockInfoFaults(t *testing.T) {
	tests := map[string]string{
		"empty":            ``,
		"array":            `[]`,
		"null":             `null`,
		"string":           `"ID"`,
		"no ID":            `{}`,
		"empty ID":         `{"ID":""}`,
		"long ID":          `{"ID":"` + strings.Repeat("é", MaxLockIDLength+1) + `"}`,
		"ID not text":      `{"ID":7}`,
		"cut off":          `{"ID":"a"`,
		"trailing data":    `{"ID":"a"} {}`,
		"bad UTF-8":        "{\"ID\":\"\xff\"}",
		"Created not time": `{"ID":"a","Created":"yesterday"}`,
		"Created empty":    `{"ID":"a","Created":""}`,
		"lone surrogate":   `{"ID":"\ud800"}`,
	}
	for name, body := range tests {
		if _, err := ParseLockInfo([]byte(body)); !fault.Is(err, fault.LockInvalid) {
			t.Errorf("%s: %v; want %s", name, err, fault.LockInvalid)
		}
	}
	if _, err := ParseLockInfo([]byte(`{"ID":"` + strings.Repeat("é", MaxLockIDLength) + `"}`)); err != nil {
		t.Errorf("an ID of %d characters: %v; want it accepted", MaxLockIDLength, err)
	}
}

func FuzzParseLockInfo(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte(`{"ID":"a","Created":"0001-01-01T00:00:00Z"}`))
	f.Add([]byte(`{"ID":"a"`))
	f.Fuzz(func(t *testing.T, body []byte) {
		info, err := ParseLockInfo(body)
		if err != nil {
			if !fault.Is(err, fault.LockInvalid) {
				t.Fatalf("not a %s: %v", fault.LockInvalid, err)
			}
			return
		}
		if CheckLockID(info.ID) != nil || string(info.Raw) != string(body) {
			t.Fatalf("accepted %q as %+v", body, info)
		}
	})
}
