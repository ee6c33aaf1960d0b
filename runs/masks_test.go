package runs

import (
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
)

// Another server may have given the run's next executor other values: those of the one before are no
// use to mask what it says.
func TestMaskersAreOfOneExecutor(t *testing.T) {
	m, run := newMasks(), Run{Org: uuid.Max, ID: "RUN", Epoch: 1}
	m.put(run, Inputs{Variables: []api.Input{{Name: "password", Value: "hunter2", Sensitive: true}}}, nil)
	if masker, ok := m.get(run); !ok || string(masker.Bytes([]byte("hunter2"))) != "***" {
		t.Errorf("the masker is known: %v", ok)
	}
	run.Epoch++
	if _, ok := m.get(run); ok {
		t.Error("the next executor's words are masked by the values of the one before")
	}
}
