package linear

import (
	"net/http"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
)

// TestLeavesOpen: only those faults may stand for any outcome that say nothing of it; a server that answers
// anything with an internal error would else be right whatever it does.
func TestLeavesOpen(t *testing.T) {
	for code, want := range map[fault.Code]bool{
		fault.StoreUnavailable: true, fault.Interrupted: true, fault.Overloaded: true, fault.Busy: true,
		"internal": false, fault.StateCorrupt: false, fault.StateRewound: false, fault.StoreFull: false, "": false,
	} {
		if got := leavesOpen(&client.Error{Status: http.StatusServiceUnavailable, Code: api.ErrorCode(code)}); got != want {
			t.Errorf("%q: %v", code, got)
		}
	}
}
