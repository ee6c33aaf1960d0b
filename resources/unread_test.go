package resources_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// Who asks for one state that can't be read learns why; who asks for several learns which
// of them is not in the answer. Nobody gets an answer that looks whole.
func TestStatesThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.write(acme, "prod/vault", `{"serial":1,"lineage":"l","encrypted_data":"AAAA","encryption_version":"v0"}`)
	w.write(acme, "prod/old", `{"version":3,"serial":1,"lineage":"l"}`)
	w.write(acme, "prod/net", vm(1, "i-1"))
	w.upload(acme, `{"provider":"aws","category":"c","resource_type":"vm_instance","resource_name":"u","attributes":{"id":"i-1"}}`)
	w.catchUp()
	const both = "prod/old state_format_unsupported, prod/vault state_encrypted"
	for _, c := range []struct {
		state  state.Name
		source resources.Source
		search string // what the answer says that is not in it, or the fault
		cover  string
	}{
		{"", "", both, both},
		{"", resources.FromState, both, both},
		{"", resources.FromUpload, "", both},
		{"prod/net", "", "", both},
		{"prod/vault", "", "fault state_encrypted", "fault state_encrypted"},
		{"prod/vault", resources.FromState, "fault state_encrypted", "fault state_encrypted"},
		{"prod/vault", resources.FromUpload, "", "fault state_encrypted"},
		{"prod/old", "", "fault state_format_unsupported", "fault state_format_unsupported"},
		{"prod/none", "", "", both},
	} {
		page, err := w.service.Search(t.Context(), owner(acme), resources.Query{State: c.state, Source: c.source, Limit: 10})
		if got := saysUnread(page.Extent, err); got != c.search {
			t.Errorf("a search in %q, %q says %q, want %q", c.state, c.source, got, c.search)
		}
		_, extent, err := w.service.Count(t.Context(), owner(acme), resources.CoverageQuery{State: c.state})
		if got := saysUnread(extent, err); got != c.cover {
			t.Errorf("counts of %q say %q, want %q", c.state, got, c.cover)
		}
		covered, err := w.service.Coverage(t.Context(), owner(acme),
			resources.CoverageQuery{State: c.state, Status: resources.Managed, Limit: 10})
		if got := saysUnread(covered.Extent, err); got != c.cover {
			t.Errorf("coverage of %q says %q, want %q", c.state, got, c.cover)
		}
	}
	prod, err := auth.ParsePatterns("prod/net")
	must(t, err)
	limited := auth.Principal{Org: acme, Grant: auth.Grant{Role: auth.Reader, States: prod}}
	page, err := w.service.Search(t.Context(), limited, resources.Query{State: "prod/vault", Limit: 10})
	if got := saysUnread(page.Extent, err); got != "" || len(page.Resources) > 0 {
		t.Errorf("a key that may not see the state learns %q", got)
	}
}

func saysUnread(e resources.Extent, err error) string {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return "fault " + string(f.Code)
	}
	var said []string
	for _, one := range e.Unread {
		said = append(said, string(one.Ref.Name)+" "+string(one.Unread))
	}
	return strings.Join(said, ", ")
}

// crowded has more states that can't be read than anybody wants to see.
type crowded struct{ resources.Finder }

func (c crowded) Unread(_ context.Context, org uuid.UUID, _ resources.Scope, limit int) ([]resources.Held, error) {
	return make([]resources.Held, limit), nil
}

func TestMoreStatesThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	w.catchUp()
	w.service.Index = crowded{w.index}
	page, err := w.service.Search(t.Context(), owner(acme), resources.Query{Limit: 10})
	if err != nil || len(page.Unread) != resources.MaxUnread || !page.UnreadMore {
		t.Errorf("%d unread, more %v, %v", len(page.Unread), page.UnreadMore, err)
	}
}
