package audit_test

import (
	"slices"
	"testing"

	"github.com/holdfast/holdfast/audit"
)

func TestCommands(t *testing.T) {
	for name, test := range map[string]struct {
		event audit.Event
		want  []string
	}{
		"held": {audit.Event{Action: audit.CandidateHold, State: "prod/network", Note: "6cfe64124c473b25: emptied, shrunk"},
			[]string{"holdfast candidate diff prod/network 6cfe64124c473b25",
				"holdfast candidate promote prod/network 6cfe64124c473b25",
				"holdfast candidate discard prod/network 6cfe64124c473b25"}},
		"fenced": {audit.Event{Action: audit.CandidateFence, State: "x", Note: "6cfe64124c473b25"},
			[]string{"holdfast candidate diff x 6cfe64124c473b25", "holdfast candidate promote x 6cfe64124c473b25",
				"holdfast candidate discard x 6cfe64124c473b25"}},
		"a home": {audit.Event{Action: audit.StateWrite, State: "~root"},
			[]string{"holdfast state diff '~root'", "holdfast state versions '~root'"}},
		"a flag": {audit.Event{Action: audit.StateWrite, State: "-rf"},
			[]string{"holdfast state diff -- -rf", "holdfast state versions -- -rf"}},
		"taken over": {audit.Event{Action: audit.LockTakeOver, State: "x"},
			[]string{"holdfast lock list", "holdfast audit list --state x"}},
		"nothing": {audit.Event{Action: audit.RunFail, State: "x"}, nil},
	} {
		if got := test.event.Commands(); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
