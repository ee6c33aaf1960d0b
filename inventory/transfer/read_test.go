package transfer_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/csvrow"
	"github.com/holdfast/holdfast/inventory/transfer"
)

func collect(records iter.Seq2[inventory.Record, error]) (all []inventory.Record, err error) {
	for r, err := range records {
		if err != nil {
			return all, err
		}
		all = append(all, r)
	}
	return all, nil
}

// What was exported is read as it was.
func TestReadWhatWasExported(t *testing.T) {
	all := slices.Concat(history(acme), history(globex))
	all = append(all, record(globex, all[len(all)-1].Timestamp, "=f(\"x\"),\r\n ü\u2028",
		`{"a":{"b":[1e400,-0,"\u0041"]},"z":null}`))
	lines, rows := []byte{}, []byte(csvrow.Header)
	for _, r := range all {
		lines = append(r.AppendJSON(lines), '\n')
		rows = csvrow.AppendRecord(rows, r)
	}
	for name, read := range map[string]iter.Seq2[inventory.Record, error]{
		"ndjson": transfer.ReadNDJSON(iotest.HalfReader(strings.NewReader(string(lines)))),
		"csv":    transfer.ReadCSV(iotest.HalfReader(strings.NewReader(string(rows)))),
	} {
		if got, err := collect(read); err != nil || !cmp.Equal(all, got) {
			t.Errorf("%s: %v %s", name, err, cmp.Diff(all, got))
		}
	}
}

func TestReadNDJSONSaysWhere(t *testing.T) {
	const data = `{"provider":"aws","category":"c","resource_type":"t","resource_name":"n","attributes":{}}`
	good := fmt.Sprintf(`{"timestamp":"2026-01-31T12:00:00.000000Z","org_id":"%s","data":%s}`, acme, data)
	for bad, want := range map[string]string{
		`{`:  "not a record in JSON",
		`[]`: "not a record in JSON",
		``:   "not a record in JSON",
		strings.Replace(good, "2026-01-31T", "2026-01-31 ", 1): "RFC 3339",
		strings.Replace(good, "2026", "0001", 1):               "years 1000 to 9999",
		strings.Replace(good, acme.String(), "acme", 1):        "org_id",
		strings.Replace(good, `"aws"`, `"a b"`,
			1): "provider is a string of 1 to 255 letters",
		strings.Replace(good, `{}`, `[]`, 1):                                                     "attributes is an object",
		strings.Replace(good, `{}`, `{"a":1,"a":2}`, 1):                                          "appears once",
		strings.Replace(good, `,"resource_name":"n","attributes":{}`, `,"instances":[{},{}]`, 1): "more than one resource",
	} {
		_, err := collect(transfer.ReadNDJSON(strings.NewReader(good + "\n" + bad + "\n" + good + "\n")))
		if line, ok := errors.AsType[*transfer.LineError](err); !ok || line.Line != 2 ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", bad, err, want)
		}
	}
}

func TestReadCSVSaysWhere(t *testing.T) {
	good := "2026-01-31T12:00:00.000000Z," + acme.String() + ",aws,c,t,\"two\r\nlines\",{}\r\n"
	for bad, want := range map[string]string{
		"a,b\r\n":                                                       "7 columns",
		strings.Replace(good, "aws", "a b", 1):                          "provider is a string",
		strings.Replace(good, "aws", "\xff", 1):                         "provider is not in UTF-8",
		strings.Replace(good, "{}", "[]", 1):                            "not a JSON object",
		strings.Replace(good, "{}", `"{},""instances"":[{},{}]"`, 1):    "not a JSON object",
		strings.Replace(good, "aws", `a"ws`, 1):                         "a quote in a field",
		strings.TrimSuffix(good, "\r\n"):                                "no end",
		strings.Replace(good, acme.String(), strings.Repeat("x", 9), 1): "org_id",
	} {
		_, err := collect(transfer.ReadCSV(strings.NewReader(csvrow.Header + good + bad)))
		if line, ok := errors.AsType[*transfer.LineError](err); !ok || line.Line < 4 || line.Line > 5 ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", bad, err, want)
		}
	}
	for _, header := range []string{"", "a,b\r\n", good, "\xef\xbb\xbf" + csvrow.Header, `"`} {
		if _, err := collect(transfer.ReadCSV(strings.NewReader(header))); err == nil ||
			!strings.HasPrefix(err.Error(), "line 1: it is not the header") {
			t.Errorf("%q: %v", header, err)
		}
	}
	if all, err := collect(transfer.ReadCSV(strings.NewReader(csvrow.Header))); len(all) != 0 || err != nil {
		t.Errorf("nothing but a header: %v, %v", all, err)
	}
}

func TestReadPassesErrorsOn(t *testing.T) {
	broken := errors.New("the disk is gone")
	for _, read := range []iter.Seq2[inventory.Record, error]{transfer.ReadCSV(iotest.ErrReader(broken)),
		transfer.ReadNDJSON(iotest.ErrReader(broken))} {
		if _, err := collect(read); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}
