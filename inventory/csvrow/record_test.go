package csvrow

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/inventory"
)

func newRecord() inventory.Record {
	return inventory.Record{
		Timestamp: time.Date(2026, 3, 4, 5, 6, 7, 8000, time.UTC),
		Org:       uuid.MustParse("6f2bcb34-2ec9-4b9f-9d8e-0e9e2a1d4c11"),
		Resource: inventory.Resource{Provider: "aws", Category: "compute", ResourceType: "vm",
			ResourceName: "web, \"1\"\r\n", Attributes: []byte(`{"n":12345678901234567890,"s":"a, b"}`)},
	}
}

func TestRecordRow(t *testing.T) {
	record := newRecord()
	data := AppendRecord(nil, record)
	want := "2026-03-04T05:06:07.000008Z,6f2bcb34-2ec9-4b9f-9d8e-0e9e2a1d4c11,aws,compute,vm,\"web, \"\"1\"\"\r\n\"," +
		`"{""n"":12345678901234567890,""s"":""a, b""}"` + "\r\n"
	if diff := cmp.Diff(want, string(data)); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, string(AppendRow(nil, Fields(record)...))); diff != "" {
		t.Errorf("from fields: %s", diff)
	}
	var row Row
	if _, err := row.Parse(data); err != nil {
		t.Fatal(err)
	}
	got, err := NewDecoder(record.Org).Decode(&row)
	if diff := cmp.Diff(record, got); err != nil || diff != "" {
		t.Errorf("%v %s", err, diff)
	}
}

func TestDecodeForeign(t *testing.T) {
	org := newRecord().Org
	good := []string{"2026-03-04T07:06:07.123456789+02:00", "6F2BCB34-2EC9-4B9F-9D8E-0E9E2A1D4C11", "p", "c", "t", "n",
		`{ "a b" : [ 1.0 , "x \" y" ] }`}
	var row Row
	_, _ = row.Parse(AppendRow(nil, good...))
	got, err := NewDecoder(org).Decode(&row)
	if err != nil || CheckAttributes(&row) != nil {
		t.Fatal(err, CheckAttributes(&row))
	}
	if want := time.Date(2026, 3, 4, 5, 6, 7, 123456000, time.UTC); got.Timestamp != want ||
		string(got.Attributes) != `{"a b":[1.0,"x \" y"]}` {
		t.Errorf("%v %s", got.Timestamp, got.Attributes)
	}
	for i, text := range []string{"04.03.2026 05:06", "6f2bcb34-2ec9-4b9f-9d8e-0e9e2a1d4c12"} {
		bad := append([]string(nil), good...)
		bad[i] = text
		_, _ = row.Parse(AppendRow(nil, bad...))
		if _, err := NewDecoder(org).Decode(&row); err == nil {
			t.Errorf("%q was taken", text)
		}
	}
	for _, text := range []string{"", "null", "[]", `{"a":1`, `{} {}`, `{'a':1}`} {
		_, _ = row.Parse(AppendRow(nil, append(good[:6:6], text)...))
		if CheckAttributes(&row) == nil {
			t.Errorf("attributes %q were taken", text)
		}
	}
}

func TestSpreadsheetSafe(t *testing.T) {
	in := []string{"", "a", "=1+1", "+1", "-1", "@x", "\tx", "\rx", "\nx", "a=1", "'=1"}
	want := []string{"", "a", "'=1+1", "'+1", "'-1", "'@x", "'\tx", "'\rx", "'\nx", "a=1", "'=1"}
	if diff := cmp.Diff(want, SpreadsheetSafe(in)); diff != "" {
		t.Error(diff)
	}
	if in[2] != "=1+1" {
		t.Error("the fields themselves were changed")
	}
}

func TestHeader(t *testing.T) {
	var row Row
	for text, want := range map[string]bool{Header: true, Header[:len(Header)-2] + "\n": true,
		"\ufeff" + Header: false, "timestamp,org_id\n": false, "x" + Header: false} {
		if _, err := row.Parse([]byte(text)); err != nil || IsHeader(&row) != want {
			t.Errorf("%q: %v", text, err)
		}
	}
}
