package layers_test

import (
	"testing"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/layers"
)

// Two who change different settings at once undo nothing of one another's, and a layer that was taken away meanwhile
// does not come back.
func TestConfigureAtOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, owner := w.service(), w.principal(auth.Owner)
	w.add(func(s *layers.Settings) { s.Remediation = layers.Auto })
	_, err := s.Configure(t.Context(), owner, "prod", func(mine *layers.Settings) {
		_, err := s.Configure(t.Context(), owner, "prod", func(s *layers.Settings) { s.Remediation = layers.Dry })
		if err != nil {
			t.Fatal(err)
		}
		mine.Retries = 7
	})
	if l := w.layer(); !fault.Is(err, fault.Busy) || l.Settings.Remediation != layers.Dry {
		t.Errorf("%v, %s", err, l.Settings.Remediation)
	}
	l, err := s.Configure(t.Context(), owner, "prod", func(s *layers.Settings) { s.Retries = 7 })
	if err != nil || l.Settings.Retries != 7 || l.Settings.Remediation != layers.Dry {
		t.Errorf("%v, %+v", err, l.Settings)
	}
	_, err = s.Configure(t.Context(), owner, "prod", func(mine *layers.Settings) {
		if err := s.Remove(t.Context(), owner, "prod"); err != nil {
			t.Fatal(err)
		}
		mine.Retries = 8
	})
	if _, gone := w.store.Layer(t.Context(), layers.Ref{Org: w.org, Name: "prod"}); !fault.Is(err, fault.LayerNotFound) ||
		!fault.Is(gone, fault.LayerNotFound) {
		t.Errorf("%v, %v", err, gone)
	}
}
