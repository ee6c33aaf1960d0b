package changes

import (
	"bytes"
	"encoding/json"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzParse: a plan's JSON is read or refused as one of the two faults. What is read can be
// redacted to JSON that is read again, counts the same, and doesn't have what is sensitive in it.
func FuzzParse(f *testing.F) {
	fuzzseeds.Add(f)
	marked := update("t.n", `{"a":"correct-horse-battery","l":[1,{"k":"v"}]}`, `{"a":"correct-horse","b":12345}`,
		`{"a":true,"l":[false,{"k":true}]}`)
	f.Add([]byte(sample{changes: marked, drift: marked, variables: `{"v":{"value":"abcd"}}`,
		declared: `{"v":{"sensitive":true}}`,
		provider: `{"x":{"expressions":{"token":{"constant_value":"tok"}}}}`,
		planned:  `{"root_module":{"child_modules":[{"resources":[]}]}}`}.String()))
	f.Add(fixture(f, "opentofu.json"))
	f.Add(fixture(f, "terraform.json"))
	f.Fuzz(func(t *testing.T, text []byte) {
		options := Options{Limits: Limits{Bytes: 1 << 20, Value: 1 << 18, Changes: 50, Kept: 1 << 18},
			Sensitive: []string{"v"}}
		plan, err := Parse(bytes.NewReader(text), options)
		if err != nil {
			if !fault.Is(err, fault.PlanJSONInvalid) && !fault.Is(err, fault.PlanJSONTooLarge) {
				t.Errorf("another error: %v", err)
			}
			return
		}
		var redacted bytes.Buffer
		if err := plan.Redact(&redacted, bytes.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if !json.Valid(redacted.Bytes()) {
			t.Fatalf("%s is no JSON", redacted.Bytes())
		}
		options.Limits.Bytes = 1 << 30
		options.Limits.Value = 1 << 30
		again, err := Parse(bytes.NewReader(redacted.Bytes()), options)
		if err != nil || again.Counts.Add != plan.Counts.Add || again.Counts.Destroy != plan.Counts.Destroy {
			t.Errorf("redacted: %v, %v instead of %v", err, again, plan)
		}
		for _, c := range plan.Changes {
			wantMasked(t, plan, c.Before)
			wantMasked(t, plan, c.After)
		}
		if ok, why := plan.SubsetOf(plan); !ok && !plan.Cut {
			t.Errorf("a plan is no subset of itself: %s", why)
		}
		looksAsRedacted(t, text)
	})
}

// wantMasked looks for the secrets of the whole plan in a value that may be shown.
func wantMasked(t *testing.T, plan *Plan, value []byte) {
	decoder := json.NewDecoder(bytes.NewReader(value))
	for {
		token, err := decoder.Token()
		if err != nil {
			return
		}
		if text, ok := token.(string); ok && text != "(sensitive)" && plan.hidden.secrets.in([]byte(text)) {
			t.Errorf("%q is sensitive and in %s", text, value)
		}
	}
}

// FuzzStream: whatever is printed, in whatever pieces, it is followed and rendered alike, every
// line that is no message is in the log, and a Stream ends with nothing it has not seen begin.
func FuzzStream(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add([]byte("text\n{\"@level\":\"info\",\"@message\":\"a: "+
		"Creating...\",\"@timestamp\":\"2026-01-02T03:04:05Z\",\"type\":\"apply_start\",\"hook\":{\"resource\":{\"addr\":\"a\"},\"action\":\"create\"}}\n"+
		"{\"@message\":\"Error: "+
		"x\",\"type\":\"diagnostic\",\"diagnostic\":{\"severity\":\"error\",\"summary\":\"x\",\"range\":{\"filename\":\"f\",\"start\":{\"line\":3}},\"snippet\":{\"context\":null,\"code\":\"a\\nb\",\"start_line\":3}}}\n"+
		"{\"@message\":\"Outputs: "+
		"1\",\"type\":\"outputs\",\"outputs\":{\"o\":{\"type\":[\"map\",\"string\"],\"value\":{\"a\":[null]}}}}\nlast"),
		uint16(7), false)
	f.Add(fixture(f, "opentofu.jsonl"), uint16(100), true)
	f.Add(fixture(f, "terraform.jsonl"), uint16(1), false)
	f.Fuzz(func(t *testing.T, text []byte, piece uint16, saved bool) {
		whole, pieces := followed(text, len(text)+1), followed(text, int(piece)+1)
		if diff := cmp.Diff(whole.Progress(), pieces.Progress()); diff != "" {
			t.Error(diff)
		}
		if diff := cmp.Diff(whole.InFlight(), pieces.InFlight()); diff != "" {
			t.Error(diff)
		}
		got, want := renderedIn(text, int(piece)+1, saved), renderedIn(text, len(text)+1, saved)
		if got != want {
			t.Errorf("in pieces: %q, as a whole: %q", got, want)
		}
		if p := whole.Progress(); len(whole.InFlight()) > p.Started {
			t.Errorf("more in flight than begun: %+v", p)
		}
		for line := range strings.Lines(string(text)) {
			line = strings.TrimRight(line, "\r\n")
			if _, is := parseMessage([]byte(line)); !is && !strings.Contains(want, line) {
				t.Errorf("the log lacks %q", line)
			}
		}
	})
}

func followed(text []byte, piece int) *Stream {
	stream := NewStream()
	for chunk := range slices.Chunk(text, piece) {
		stream.Write(chunk)
	}
	stream.Close()
	return stream
}

func renderedIn(text []byte, piece int, saved bool) string {
	var out strings.Builder
	r := NewRenderer(&out, saved)
	for chunk := range slices.Chunk(text, piece) {
		r.Write(chunk)
	}
	r.Close()
	return out.String()
}

var _ io.WriteCloser = (*Stream)(nil)
