package agent

import (
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/holdfast/holdfast/api"
)

// How many resources a command was at work on, how fast, and which took longest.
func TestWorkOfACommand(t *testing.T) {
	e := newEvents(io.Discard, true)
	say := func(second int, what, address string) {
		fmt.Fprintf(e, `{"@level":"info","@message":"x","@timestamp":"2026-11-22T12:00:%02dZ","type":%q,"hook":{"resource":{"addr":%q},"action":"create","elapsed_seconds":1}}`+"\n", second, what, address)
	}
	if got := e.work(); got.Resources != 0 || got.Slowest != nil {
		t.Errorf("before anything it is %+v", got)
	}
	for i := range 8 {
		say(0, "apply_start", fmt.Sprint("t.r", i))
	}
	for i := range 8 {
		say(i+1, "apply_complete", fmt.Sprint("t.r", i))
	}
	want := []api.ResourceTime{{Address: "t.r7", Action: "create", Seconds: 8},
		{Address: "t.r6", Action: "create", Seconds: 7}, {Address: "t.r5", Action: "create", Seconds: 6},
		{Address: "t.r4", Action: "create", Seconds: 5}, {Address: "t.r3", Action: "create", Seconds: 4}}
	if got := e.work(); got.Resources != 8 || got.PerSecond != 1 || !slices.Equal(got.Slowest, want) {
		t.Errorf("it is %+v", got)
	}
}
