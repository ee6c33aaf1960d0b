package main

import (
	"bytes"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/storage"
)

// TestShowRewound names what was left as it is, each with why.
func TestShowRewound(t *testing.T) {
	ref := func(name state.Name) state.Ref { return state.Ref{Org: uuid.UUID{1}, Name: name} }
	for want, done := range map[string]storage.Rewound{
		"Rolled back 1 state to what they were at T.\n": {Changed: 1},
		`Rolled back 2 states to what they were at T.
Left as the backup has them, since no version of then is kept, 1 state:
  prod/pruned of 01000000-0000-0000-0000-000000000000
Left as the backup has them, since they can't be read or rolled back, 2 states:
  prod/damaged of 01000000-0000-0000-0000-000000000000: state_corrupt
  prod/shredded of 01000000-0000-0000-0000-000000000000: seal_key_missing
`: {
			Changed: 2, Left: []state.Ref{ref("prod/pruned")},
			Unread: []storage.Unread{{Ref: ref("prod/damaged"), Why: fault.StateCorrupt},
				{Ref: ref("prod/shredded"), Why: fault.SealKeyMissing}},
		},
	} {
		var out bytes.Buffer
		(&app{stderr: &out}).showRewound(done, "T")
		if out.String() != want {
			t.Errorf("%+v: %s", done, out.String())
		}
	}
}
