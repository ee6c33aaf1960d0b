package handlers

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/layers"
)

// A layer whose run nobody will execute says so where people look first.
func TestLayerSaysThatNobodyExecutesItsRun(t *testing.T) {
	l := layers.Layer{Says: "run R: a commit", Run: &layers.Begun{Standing: layers.RunStanding{Nobody: "waits for nobody"}}}
	if said := layerOf(l, time.Time{}); !strings.HasSuffix(said.Says, "; the run waits for nobody") {
		t.Errorf("it says %q", said.Says)
	}
}
