package plugin

import (
	"fmt"
	"strings"
	"testing"
)

// The end of a provider's log is shown, however much it has logged, and no more than so much.
func TestTailIsTheEnd(t *testing.T) {
	log := newTail()
	if said := log.said(); said != "" {
		t.Errorf("nothing was logged, and it says %q", said)
	}
	for i := range 10_000 {
		fmt.Fprintf(log, "line %d\n", i)
	}
	said := log.said()
	if !strings.HasSuffix(said, "line 9998\nline 9999") || len(said) > tailSize+100 || len(said) < tailSize-100 {
		t.Errorf("%d bytes, which end in %q", len(said), said[len(said)-40:])
	}
	if len(log.text) > 3*tailSize {
		t.Errorf("%d bytes are kept", len(log.text))
	}
}
