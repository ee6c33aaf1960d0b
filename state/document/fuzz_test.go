package document

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// plainState is a state as encoding/json reads it, with names in their own case only.
type plainState struct {
	terraformVersion, lineage string
	serial                    uint64
	outputs                   map[string]bool // whether sensitive
	instances                 int
}

func plainRead(t *testing.T, body []byte) plainState {
	t.Helper()
	var s plainState
	top := plainObject(t, body)
	_ = json.Unmarshal(top["terraform_version"], &s.terraformVersion)
	_ = json.Unmarshal(top["lineage"], &s.lineage)
	_ = json.Unmarshal(top["serial"], &s.serial)
	s.outputs = map[string]bool{}
	for name, raw := range plainObject(t, top["outputs"]) {
		var sensitive bool
		_ = json.Unmarshal(plainObject(t, raw)["sensitive"], &sensitive)
		s.outputs[name] = sensitive
	}
	var resources []json.RawMessage
	_ = json.Unmarshal(top["resources"], &resources)
	for _, raw := range resources {
		var instances []json.RawMessage
		_ = json.Unmarshal(plainObject(t, raw)["instances"], &instances)
		s.instances += len(instances)
	}
	return s
}

func plainObject(t *testing.T, raw []byte) map[string]json.RawMessage {
	t.Helper()
	var object map[string]json.RawMessage
	if raw == nil {
		return nil
	}
	if err := json.Unmarshal(raw, &object); err != nil {
		t.Fatalf("%v: %s", err, raw)
	}
	return object
}

// FuzzParse holds what Parse takes against encoding/json, and everything that can be made
// of it against its own rules.
func FuzzParse(f *testing.F) {
	fuzzseeds.Add(f)
	f.Add(appendCompact(nil, readFile(f, "tofu-deposed-2.tfstate")))
	f.Add(one(`{"attributes":{"a":[{"b":"secret"}]},"sensitive_attributes":[` + pathASet + `,[],` + pathA1 +
		`],"private":"x"}`))
	f.Add(one(`{"attributes_flat":{"a.0":"x"},"sensitive_attributes":[` + pathA + `],"index_key":"\u001b"}`))
	f.Fuzz(checkBody)
}

func TestRealStatesKeepTheRules(t *testing.T) {
	for _, name := range []string{"tofu-1", "tofu-2", "terraform-1", "terraform-2", "tofu-deposed-1", "tofu-deposed-2"} {
		body := readFile(t, name+".tfstate")
		checkBody(t, body)
		checkBody(t, appendCompact(nil, body))
	}
}

func checkBody(t *testing.T, body []byte) {
	d, err := Parse(body)
	if err != nil {
		if code := fault.From(err).Code; code == fault.InternalError {
			t.Fatal(err)
		}
		return
	}
	comparePlain(t, d, plainRead(t, body))
	counts, err := CountOf(body)
	if have := d.Counts(); err != nil || counts.Managed.Instances != have.Managed.Instances ||
		counts.Data.Instances != have.Data.Instances {
		t.Fatalf("%+v, %v; the document has %+v", counts, err, have)
	}
	for i := range d.Instances {
		for range d.Instances[i].Scalars() {
		}
		d.Instances[i].Dependencies()
	}
	checkViews(t, body)
	if diff := Compare(d, d, Options{}); !diff.Empty() {
		t.Fatalf("%+v", diff)
	}
	checkDiff(t, &Document{}, d)
}

func comparePlain(t *testing.T, d *Document, s plainState) {
	t.Helper()
	if d.TerraformVersion != s.terraformVersion || d.Lineage != s.lineage || d.Serial != s.serial {
		t.Fatalf("%+v, want %+v", d, s)
	}
	if len(d.Instances) != s.instances || len(d.Outputs) != len(s.outputs) {
		t.Fatalf("%d instances and %d outputs, want %+v", len(d.Instances), len(d.Outputs), s)
	}
	for _, o := range d.Outputs {
		if sensitive, ok := s.outputs[o.Name]; !ok || sensitive != o.Sensitive {
			t.Fatalf("output %q", o.Name)
		}
	}
}

// checkViews holds that views are valid states, and that a redacted one has nothing left
// to redact.
func checkViews(t *testing.T, body []byte) {
	t.Helper()
	outputs := outputsOf(t, body)
	once := []byte(redacted(t, body))
	for _, view := range [][]byte{outputs, once} {
		if _, err := Parse(view); err != nil || !json.Valid(view) {
			t.Fatalf("%v: %s", err, view)
		}
	}
	if again := redacted(t, once); again != string(once) {
		t.Fatalf("twice %s, once %s", again, once)
	}
}

func checkDiff(t *testing.T, a, b *Document) {
	t.Helper()
	for _, options := range []Options{{}, {Reveal: true}} {
		d := Compare(a, b, options)
		wire, err := json.Marshal(d)
		if err != nil || !json.Valid(wire) {
			t.Fatalf("%v: %s", err, wire)
		}
		var text bytes.Buffer
		if err := d.WriteText(&text, nil); err != nil {
			t.Fatal(err)
		}
		if bytes.ContainsFunc(bytes.ReplaceAll(text.Bytes(), []byte("\n"), nil), hidden) {
			t.Fatalf("%q", text.String())
		}
		checkStreams(t, a, b, options)
		if !options.Reveal {
			continue
		}
		got, err := Apply(a, d)
		if err != nil {
			t.Fatal(err)
		}
		if left := Compare(got, b, options); !left.Empty() {
			t.Fatalf("%+v", left)
		}
	}
}

// checkStreams holds that what is written without holding the diff is the same.
func checkStreams(t *testing.T, a, b *Document, options Options) {
	t.Helper()
	d := Compare(a, b, options)
	var held, streamed, wire bytes.Buffer
	if d.WriteText(&held, nil) != nil || WriteText(&streamed, a, b, options, nil) != nil ||
		held.String() != streamed.String() {
		t.Fatalf("%s, streamed %s", &held, &streamed)
	}
	if err := WriteJSON(&wire, a, b, options); err != nil {
		t.Fatal(err)
	}
	var read Diff
	if err := json.Unmarshal(wire.Bytes(), &read); err != nil {
		t.Fatalf("%v: %s", err, &wire)
	}
	want, _ := json.Marshal(d)
	if have, _ := json.Marshal(&read); !bytes.Equal(have, want) {
		t.Fatalf("%s, streamed %s", want, have)
	}
}
