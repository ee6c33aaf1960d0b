package runs_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/runworld"
	"github.com/holdfast/holdfast/runs"
)

// elsewhere is somebody who makes a run of a workspace on their machine.
type elsewhere struct {
	*runworld.World
	t  *testing.T
	as auth.Principal
	id string
}

func begunElsewhere(t *testing.T) *elsewhere {
	e := &elsewhere{World: runworld.New(t), t: t,
		as: auth.Principal{Org: uuid.New(), KeyID: "k1", Grant: auth.Grant{Role: auth.Owner}}}
	e.id = e.begin("first").ID
	return e
}

func (e *elsewhere) must(err error) {
	e.t.Helper()
	if err != nil {
		e.t.Fatal(err)
	}
}

func (e *elsewhere) begin(key string) runs.Run {
	e.t.Helper()
	what := runs.Elsewhere{Workspace: "e/p", Kind: runs.Apply, Tool: "tofu"}
	run, err := e.BeginElsewhere(e.t.Context(), e.as, what, key)
	e.must(err)
	return run
}

func (e *elsewhere) sign(phase runs.Phase) (api.Lease, error) {
	return e.RenewElsewhere(e.t.Context(), e.as, "e/p", e.id, phase)
}

func (e *elsewhere) log(stream runs.Stream, offset int64, text string) (int64, error) {
	return e.LogElsewhere(e.t.Context(), e.as, "e/p", e.id, stream, offset, []byte(text))
}

func (e *elsewhere) end(status string) error {
	outputs := `{"url":{"sensitive":false,"type":"string","value":"u"},"key":{"sensitive":true,"value":"s"}}`
	_, err := e.EndElsewhere(e.t.Context(), e.as, "e/p", e.id, api.IACRunEnd{Status: status, Reason: "apply failed: x",
		Outputs: json.RawMessage(outputs)})
	return err
}

func (e *elsewhere) run() runs.Run {
	e.t.Helper()
	run, err := e.Get(e.t.Context(), e.as, e.id)
	e.must(err)
	return run
}

// Every call comes twice, as that of somebody whose answers got lost, and the record is as if each had come once.
func TestRecordElsewhereIsKeptAsItComes(t *testing.T) {
	e := begunElsewhere(t)
	for range 2 {
		if again := e.begin("first"); again.ID != e.id {
			t.Fatalf("beginning again makes %s of %s", again.ID, e.id)
		}
		_, err := e.log("plan", 0, "init\n")
		e.must(err)
	}
	for range 2 {
		lease, err := e.sign(runs.PhaseApply)
		e.must(err)
		if lease.Every <= 0 || e.run().Status != runs.Applying {
			t.Errorf("%+v, %s", lease, e.run().Status)
		}
		_, err = e.log("apply", 0, "made\n")
		e.must(err)
	}
	for range 2 {
		e.must(e.end("Succeeded"))
	}
	if err := e.end("Failed"); !fault.Is(err, fault.EpochOld) {
		t.Errorf("another end: %v", err)
	}
	run := e.run()
	if run.Status != runs.Succeeded || !run.Elsewhere {
		t.Errorf("%+v", run)
	}
	for stream, want := range map[runs.Stream]string{"plan": "init\n", "apply": "made\n"} {
		log, err := e.ReadLog(t.Context(), e.as, e.id, stream, 0, 0, 100)
		if err != nil || string(log.Text) != want {
			t.Errorf("%s: %q, %v", stream, log.Text, err)
		}
	}
	said, err := e.Outputs(t.Context(), e.as, e.id)
	raw, _ := json.Marshal(said)
	if err != nil || !strings.Contains(string(raw), `"u"`) || strings.Contains(string(raw), `"s"`) {
		t.Errorf("%s, %v", raw, err)
	}
}

// What is brought passes the masker of logs, and values are for who may read the state's outputs.
func TestOutputsAreMaskedAndForWhoMayReadThem(t *testing.T) {
	e := begunElsewhere(t)
	e.Sensitive = []api.Input{{Name: "password", Value: "hunter2-hunter2", Sensitive: true}}
	_, err := e.sign(runs.PhaseApply)
	e.must(err)
	outputs := `{"u":{"sensitive":false,"type":"string","value":"x hunter2-hunter2"},"v":{"sensitive":false,"value":["aHVudGVyMi1odW50ZXIy"]}}`
	_, err = e.EndElsewhere(t.Context(), e.as, "e/p", e.id,
		api.IACRunEnd{Status: "Succeeded", Outputs: json.RawMessage(outputs)})
	e.must(err)
	for role, want := range map[auth.Role]string{
		auth.Owner: `[{"name":"u","type":"string","sensitive":false,"value":"x ***"},{"name":"v","type":null,"sensitive":false,"value":["***"]}]`,
		auth.Operator: `[{"name":"u","type":"string","sensitive":false,"value":null,"withheld":true},` +
			`{"name":"v","type":null,"sensitive":false,"value":null,"withheld":true}]`,
	} {
		as := e.as
		as.Role = role
		said, err := e.Outputs(t.Context(), as, e.id)
		raw, _ := json.Marshal(said.Outputs)
		if err != nil || string(raw) != want {
			t.Errorf("%s is shown %s, %v", role, raw, err)
		}
	}
}

// It holds up nobody, and nobody else speaks for it.
func TestRecordElsewhereIsNobodyElses(t *testing.T) {
	e := begunElsewhere(t)
	other, stranger := e.as, e.as
	other.KeyID, stranger.Org = "k2", uuid.New()
	if _, err := e.RenewElsewhere(t.Context(), other, "e/p", e.id, ""); !fault.Is(err, fault.RightMissing) {
		t.Errorf("another key: %v", err)
	}
	if _, err := e.RenewElsewhere(t.Context(), stranger, "e/p", e.id, ""); !fault.Is(err, fault.RunNotFound) {
		t.Errorf("another organization: %v", err)
	}
	if _, err := e.RenewElsewhere(t.Context(), e.as, "e/q", e.id, ""); !fault.Is(err, fault.RunNotFound) {
		t.Errorf("another partition: %v", err)
	}
	ordered, err := e.Create(t.Context(), e.as, api.RunOrder{Workspace: "e/p", Kind: "apply"}, "")
	e.must(err)
	if got := e.Claim(t, e.as.Org); got.Run != ordered.ID {
		t.Errorf("%s is claimed, not %s", got.Run, ordered.ID)
	}
	if _, err := e.RenewElsewhere(t.Context(), e.as, "e/p", ordered.ID, ""); !fault.Is(err, fault.RunNotFound) {
		t.Errorf("a run that is none of a record's: %v", err)
	}
	if _, err := e.Retry(t.Context(), e.as, e.id, ""); !fault.Is(err, fault.RunStatus) {
		t.Errorf("retried: %v", err)
	}
	limited := e.as
	limited.Grant = auth.Grant{Role: auth.Reader}
	_, err = e.BeginElsewhere(t.Context(), limited, runs.Elsewhere{Workspace: "e/p", Kind: runs.Apply}, "")
	if !fault.Is(err, fault.RightMissing) {
		t.Errorf("a reader: %v", err)
	}
}

// A machine that is silent for long is waited for, in either stage; it goes on where it was.
func TestSilentMachineGoesOn(t *testing.T) {
	for _, phase := range []runs.Phase{runs.PhaseInit, runs.PhaseApply} {
		e := begunElsewhere(t)
		_, err := e.sign(phase)
		e.must(err)
		was := e.run().Status
		e.Later(t, 10*time.Minute)
		if got := e.run().Status; got != runs.Orphaned {
			t.Fatalf("%s: it is %s", phase, got)
		}
		stream := runs.Stream(e.run().Stage)
		_, err = e.log(stream, 0, "still here\n")
		e.must(err)
		_, err = e.sign("")
		e.must(err)
		if got := e.run().Status; got != was {
			t.Errorf("%s: it is %s", phase, got)
		}
		if _, err := e.sign(runs.PhaseApply); err != nil {
			t.Error(err)
		}
		e.must(e.end("Failed"))
		if run := e.run(); run.Status != runs.Failed || run.Reason != "apply failed: x" || run.Follow != nil {
			t.Errorf("%s: %+v", phase, run)
		}
	}
}

// One that never comes back has failed once another run is begun there, or after a day.
func TestMachineThatNeverComesBack(t *testing.T) {
	e := begunElsewhere(t)
	e.Later(t, 2*time.Minute)
	first := e.id
	e.id = e.begin("second").ID
	got, err := e.Get(t.Context(), e.as, first)
	if err != nil || got.Status != runs.Failed || got.Follow != nil {
		t.Errorf("%+v %v", got, err)
	}
	e.Later(t, 2*time.Minute)
	e.Jump(25 * time.Hour)
	e.must(e.Sweep(t.Context()))
	if _, err := e.sign(""); !fault.Is(err, fault.EpochOld) || e.run().Status != runs.Failed {
		t.Errorf("%v, %s", err, e.run().Status)
	}
}

func TestMachineIsToldToEnd(t *testing.T) {
	e := begunElsewhere(t)
	_, err := e.Cancel(t.Context(), e.as, e.id, api.CancelOrder{})
	e.must(err)
	lease, err := e.sign("")
	if err != nil || lease.Cancel != runs.Soft {
		t.Errorf("%+v %v", lease, err)
	}
	e.must(e.end("Failed"))
	if e.run().Status != runs.Cancelled || !slices.Contains(e.Actions(), "run.create") {
		t.Errorf("%s %q", e.run().Status, e.Actions())
	}
}
