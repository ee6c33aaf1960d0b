package csvrow

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

func TestRoundTrip(t *testing.T) {
	text := rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("\"\r\n, \ta'=")), 0, 8, -1),
		rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return string(b) }))
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.SliceOfN(text, 1, 8), 1, 4).Draw(t, "rows")
		var data []byte
		for _, row := range rows {
			data = AppendRow(data, row...)
		}
		var row Row
		for _, want := range rows {
			if n := Length(data); n == 0 || n > len(data) {
				t.Fatalf("Length(%q) = %d", data, n)
			} else if parsed, err := row.Parse(data); err != nil || parsed != n {
				t.Fatalf("Parse(%q) = %d, %v, want %d", data, parsed, err, n)
			}
			if got := texts(row.Fields); !slices.Equal(got, want) {
				t.Fatalf("%q came back as %q", want, got)
			}
			if lines := bytes.Count(data[:Length(data)], []byte("\n")); lines != row.Lines || row.LF {
				t.Fatalf("%d lines, LF %v; want %d", row.Lines, row.LF, lines)
			}
			data = data[Length(data):]
		}
		if len(data) > 0 {
			t.Fatalf("%q is left", data)
		}
	})
}

func texts(fields [][]byte) []string {
	all := make([]string, len(fields))
	for i, field := range fields {
		all[i] = string(field)
	}
	return all
}

// TestOtherReader has encoding/csv read what is written, short of what it can't.
func TestOtherReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(rapid.String(), 1, 8).Draw(t, "row")
		for i := range want {
			want[i] = strings.ReplaceAll(want[i], "\r", "")
		}
		got, err := csv.NewReader(bytes.NewReader(AppendRow(nil, want...))).Read()
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q was read as %q, %v", want, got, err)
		}
	})
}

// FuzzRows reads like encoding/csv whatever has no carriage return.
func FuzzRows(f *testing.F) {
	fuzzseeds.Add(f)
	for _, seed := range []string{"", "a,b\n", "\"a\"\"b\",\n\n\"\"\n", "a\"b\n", "\"a\"b\n", "\"a\nb\",c", "\"", ",,,\n",
		"\xff,\"\xef\xbb\xbf\"\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		data = append(bytes.ReplaceAll(data, []byte("\r"), nil), '\n')
		reader := csv.NewReader(bytes.NewReader(data))
		reader.FieldsPerRecord = -1
		want, wantErr := reader.ReadAll()
		got, gotErr := readAll(data)
		if (wantErr != nil) != (gotErr != nil) {
			t.Fatalf("%q: error %v, encoding/csv has %v", data, gotErr, wantErr)
		}
		if diff := cmp.Diff(want, got); wantErr == nil && diff != "" {
			t.Fatalf("%q (-encoding/csv +ours):\n%s", data, diff)
		}
	})
}

func readAll(data []byte) (rows [][]string, err error) {
	r := NewReader(iotest.OneByteReader(bytes.NewReader(data)), 0, 1)
	for {
		if err := r.Next(); err != nil {
			if err == io.EOF {
				err = nil
			}
			return rows, err
		}
		if string(r.Raw) != "\n" { // encoding/csv skips empty lines
			rows = append(rows, texts(r.Row.Fields))
		}
	}
}

func TestReaderPlaces(t *testing.T) {
	long := strings.Repeat("x", 3*readSize)
	data := "a,b\r\n\"c\r\nd\"\n" + long + "\r\nend"
	r := NewReader(strings.NewReader(data), 100, 7)
	for _, want := range []struct{ offset, line int64 }{{100, 7}, {105, 8}, {112, 10}} {
		if err := r.Next(); err != nil || r.Offset != want.offset || r.Line != want.line {
			t.Fatalf("offset %d, line %d, %v; want %+v", r.Offset, r.Line, err, want)
		}
	}
	if err := r.Next(); !errors.Is(err, ErrShort) || string(r.Rest()) != "end" || r.Line != 11 {
		t.Fatalf("%v, rest %q at line %d", err, r.Rest(), r.Line)
	}
}

func TestReaderFaults(t *testing.T) {
	for data, line := range map[string]int64{
		"a\n\"b\nc\"d\n": 3, "a\nb\rc\n": 2, "x\"y\n": 1, "a\r\n\"b\"\rc\r\n": 2,
		"a\n\"" + strings.Repeat("\n", MaxRow+2*readSize): 2,
	} {
		r := NewReader(strings.NewReader(data), 0, 1)
		var err error
		for err == nil {
			err = r.Next()
		}
		if syntax, ok := errors.AsType[*SyntaxError](err); !ok || syntax.Line != line {
			t.Errorf("%.20q: %v, want a fault in line %d", data, err, line)
		}
	}
	r := NewReader(iotest.ErrReader(iotest.ErrTimeout), 0, 1)
	if err := r.Next(); !errors.Is(err, iotest.ErrTimeout) {
		t.Errorf("a failing source: %v", err)
	}
}

func TestParseAllocatesNothing(t *testing.T) {
	data := AppendRow(nil, "2026", `{"a":"b","c":"d"}`, "plain", "a\nb")
	var row Row
	if n := testing.AllocsPerRun(100, func() { _, _ = row.Parse(data) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkParse(b *testing.B) {
	data := AppendRow(nil, "2026-03-04T05:06:07.000008Z", "6f2bcb34-2ec9-4b9f-9d8e-0e9e2a1d4c11", "aws", "compute", "vm",
		"web-server-01",
		`{"id":"i-0123456789","size":"t2.micro","zone":"eu-west-1a","tags":{"team":"core","env":"prod"}}`)
	var row Row
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		_, _ = row.Parse(data)
	}
}
