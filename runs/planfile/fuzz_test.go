package planfile

import (
	"bytes"
	"testing"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/fuzzseeds"
)

// FuzzInspect: whatever the file, it is read or refused as one of the two faults, twice alike, and
// what is read keeps to the limits. The second argument replaces the plan of a real file, so that
// fuzzing need not make an archive first; the third its state.
func FuzzInspect(f *testing.F) {
	fuzzseeds.Add(f)
	for _, tool := range []string{"opentofu", "terraform"} {
		members := unpack(f, fixture(f, tool))
		f.Add(fixture(f, tool), content(members, "tfplan"), content(members, "tfstate"), content(members, manifestName))
	}
	f.Add([]byte(`{"meta":{},"encrypted_data":"eA==","encryption_version":"v0"}`), []byte{}, []byte("{}"), []byte("[]"))
	base := unpack(f, fixture(f, "opentofu"))
	f.Fuzz(func(t *testing.T, file, plan, state, manifest []byte) {
		look(t, file)
		members := with(with(with(append([]packed(nil), base...), "tfplan", plan), "tfstate", state), manifestName, manifest)
		look(t, pack(t, members))
	})
}

func look(t *testing.T, file []byte) {
	limits := Limits{Size: 1 << 20, Total: 4 << 20, Member: 2 << 20, Members: 100}
	facts, err := Inspect(bytes.NewReader(file), int64(len(file)), limits)
	if err != nil {
		if !fault.Is(err, fault.PlanFileInvalid) && !fault.Is(err, fault.PlanFileTooLarge) {
			t.Errorf("another error: %v", err)
		}
		return
	}
	if len(facts.Config) > limits.Members || !facts.Encrypted && facts.ToolVersion == "" {
		t.Errorf("%+v", facts)
	}
	if err := facts.Match(Want{}); err == nil {
		t.Error("it is what nobody wants")
	}
	again, err := Inspect(bytes.NewReader(file), int64(len(file)), limits)
	if err != nil || again.Prior != facts.Prior || again.Modules != facts.Modules || again.LockFile != facts.LockFile {
		t.Errorf("%+v, then %+v, %v", facts, again, err)
	}
}
