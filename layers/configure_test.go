package layers_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
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
	if l := w.layer(); err != nil || l.Settings.Remediation != layers.Dry || l.Settings.Retries != 7 {
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

// The folder of a workspace is that of its layer, though a change of the layer is refused, before the workspace is
// touched or behind that.
func TestRefusedChangeLeavesTheWorkspace(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, owner := w.service(), w.principal(auth.Owner)
	w.add(func(*layers.Settings) {})
	elsewhere := settings(func(s *layers.Settings) { s.Path = "modules/m" })
	folder := func(want string) {
		t.Helper()
		if got := w.folders["prod"]; got != want {
			t.Errorf("the workspace's folder is %q, not %q", got, want)
		}
	}
	if _, err := s.Add(t.Context(), owner, layers.New{Name: "prod", Settings: elsewhere}); !fault.Is(err,
		fault.LayerExists) {
		t.Error(err)
	}
	folder("envs/prod")
	s.MaxLayers = 1
	if _, err := s.Add(t.Context(), owner, layers.New{Name: "more", Settings: elsewhere}); !fault.Is(err,
		fault.LayersFull) {
		t.Error(err)
	}
	if _, made := w.folders["more"]; made {
		t.Error("a workspace was made of a layer that may not be")
	}
	w.onMake = func() { // somebody else is faster
		w.onMake = nil
		if _, err := s.Configure(t.Context(), owner, "prod", func(s *layers.Settings) { s.Path = "docs" }); err != nil {
			t.Error(err)
		}
	}
	_, err := s.Configure(t.Context(), owner, "prod", func(s *layers.Settings) { s.Path = "modules/m" })
	if l := w.layer(); err != nil || l.Settings.Path != "modules/m" { // made anew of what there is by then
		t.Errorf("%v, %s", err, l.Settings.Path)
	}
	folder("modules/m")
}

// What a check finds can be kept, however much it is.
func TestLongDriftIsKept(t *testing.T) {
	suite.Deep(t)
	t.Parallel()
	long := func(n int, text string) string { return strings.Repeat(text, n) }
	for name, make := range map[string]func(i int) layers.Changed{
		"attributes": func(i int) layers.Changed {
			after := map[string]any{"id": "1"}
			for j := range 100 {
				after[fmt.Sprint(long(60, "<"), j)] = "b"
			}
			raw, _ := json.Marshal(after)
			return layers.Changed{Address: fmt.Sprint("a.b", i), Actions: []string{"update"}, Before: []byte(`{"id":"1"}`),
				After: raw}
		},
		"addresses": func(i int) layers.Changed {
			return layers.Changed{Address: fmt.Sprintf("a.b[%q]", fmt.Sprint(long(10_000, "<"), i)),
				Actions: []string{"update"}, Before: []byte(`{"x":1}`), After: []byte(`{"x":2}`)}
		},
	} {
		w := newWorld(t)
		s := w.service()
		w.add(func(*layers.Settings) {})
		w.planAndApply(s)
		w.pass(23 * time.Minute)
		w.settle(s)
		w.ends(layers.EndedWell, func(r *run) {
			for i := range 210 {
				r.found = append(r.found, make(i))
			}
		})
		w.pass(3 * time.Second)
		w.settle(s)
		if l := w.layer(); l.Run != nil && l.Run.Want == layers.WantCheck || len(l.Drifted) == 0 {
			t.Errorf("%s: %+v, %s, %d drifted", name, l.Run, l.Says, len(l.Drifted))
		}
	}
}

// A list for some layers goes on by names of these alone, however small its pages are.
func TestListsNameNoOtherLayer(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s, some := w.service(), w.principal(auth.Reader)
	for _, name := range []string{"a-secret", "b/1", "b/2", "b0-secret", "c/secret", "b/3"} {
		if _, err := s.Add(t.Context(), w.principal(auth.Owner), layers.New{Name: name,
			Settings: settings(func(*layers.Settings) {})}); err != nil {
			t.Fatal(err)
		}
	}
	var err error
	if some.States, err = auth.ParsePatterns("b/*"); err != nil {
		t.Fatal(err)
	}
	for limit := 1; limit < 5; limit++ {
		var seen []string
		for after, pages := "", 0; pages == 0 || after != ""; pages++ {
			page, next, err := s.List(t.Context(), some, layers.Query{After: after, Limit: limit})
			if err != nil || len(page) > limit || pages > 10 {
				t.Fatalf("%d at a time: page %d has %d, %v", limit, pages, len(page), err)
			}
			if next != "" && !some.States.Match(next) {
				t.Errorf("%d at a time: the list goes on behind %q", limit, next)
			}
			for _, one := range page {
				seen = append(seen, one.Name)
			}
			after = next
		}
		if got := strings.Join(seen, " "); got != "b/1 b/2 b/3" {
			t.Errorf("%d at a time: %s", limit, got)
		}
	}
}

// A layer is shown as changed also where accepting it changes only its workspace: nobody has runs read more without
// seeing it.
func TestWhatChangesAWorkspaceIsShown(t *testing.T) {
	w := newWorld(t)
	s, owner := w.service(), w.principal(auth.Owner)
	for _, c := range []struct{ says, want string }{
		{"", layers.IsNew}, {"", layers.IsSame}, {", reads: [dns]", layers.IsChanged}, {", reads: [dns]", layers.IsSame},
		{`, reads: [dns, "**"]`, layers.IsChanged}, {", tool: terraform, reads: []", layers.IsChanged},
		{`, tool: terraform, version: "1.5.7"`, layers.IsChanged}, {", tool: terraform", layers.IsSame},
	} {
		declared := "layers: [{name: prod, path: envs/prod" + c.says + "}]"
		w.tree[layers.DeclarationFile] = &fstest.MapFile{Data: []byte(declared)}
		found, err := s.Discover(t.Context(), owner, "infra", "", "")
		if err != nil || len(found.Layers) != 1 || found.Layers[0].Status != c.want {
			t.Fatalf("with %q it is %+v, want %s; %v", c.says, found.Layers, c.want, err)
		}
		if err := s.Accept(t.Context(), owner, found, []string{"prod"}); err != nil {
			t.Fatal(err)
		}
	}
}
