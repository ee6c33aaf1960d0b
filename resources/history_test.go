package resources_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// named is a state with one instance of this name.
func named(serial int, name, attributes string) string {
	return fmt.Sprintf(`{"version":4,"serial":%[2]d,"lineage":"l","terraform_version":"1.9.0","resources":[{"mode":"managed","type":"aws_vpc","name":%[1]q,
		"provider":"provider[\"registry.terraform.io/hashicorp/aws\"]","instances":[{"attributes":{"id":"vpc-1","password":"hunter%[2]d",
			"pin":{"value":48151623%[2]d,"type":"number"},"output":{"value":48151623%[2]d,"type":"number"},%[3]s},"identity":{"token":"hunter%[2]d"},
		"sensitive_attributes":[[{"type":"get_attr","value":"password"}],[{"type":"get_attr","value":"pin"}]]}]}]}`, name,
		serial, attributes)
}

func historyWorld(t *testing.T) *world {
	w := newWorld(t)
	w.write(acme, "a", `{"version":4,"serial":1,"lineage":"l","resources":[]}`)
	w.write(acme, "a", named(2, "old", `"size":1`))
	w.write(acme, "a", named(3, "old", `"size":2`))
	w.write(acme, "a", named(4, "new", `"size":2`))
	w.write(acme, "a", `{"serial":5,"lineage":"l","encrypted_data":"AAAA"}`)
	w.write(acme, "a", named(6, "new", `"size":3`))
	w.write(acme, "a", `{"version":4,"serial":7,"lineage":"l","resources":[]}`)
	return w
}

func TestHistory(t *testing.T) {
	w := historyWorld(t)
	var got []string
	q := resources.HistoryQuery{State: "a", Address: "aws_vpc.new", Limit: 1}
	for {
		h, err := w.service.History(t.Context(), owner(acme), q)
		must(t, err)
		for _, s := range h.Steps {
			text := fmt.Sprintf("%d<%d", s.Version.Number, s.Against)
			for _, c := range s.Changes {
				text += fmt.Sprintf(" %s %s", c.Action, c.Address)
			}
			got = append(got, text)
			if raw, err := json.Marshal(s); err != nil || strings.Contains(string(raw), "hunter") ||
				strings.Contains(string(raw), "48151623") {
				t.Errorf("a secret, or no JSON: %s %v", raw, err)
			}
		}
		for _, u := range h.Unread {
			got = append(got, fmt.Sprintf("%d %s", u.Version, u.Code))
		}
		if q = h.Next; q.From == 0 {
			break
		}
	}
	want := []string{"7<6 removed aws_vpc.new", "6<4 changed aws_vpc.new", "5 state_encrypted", "4<3 moved aws_vpc.new",
		"3<2 changed aws_vpc.old", "2<1 added aws_vpc.old"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

// The first version that is kept is a step of its own: no page has more of them than it may.
func TestHistoryPages(t *testing.T) {
	w := newWorld(t)
	for n := range 4 {
		w.write(acme, "a", named(n+1, "old", fmt.Sprintf(`"size":%d`, n)))
	}
	for limit := 1; limit <= 5; limit++ {
		var versions, pages []int
		for q := (resources.HistoryQuery{State: "a", Address: "aws_vpc.old", Limit: limit}); ; {
			h, err := w.service.History(t.Context(), owner(acme), q)
			must(t, err)
			for _, s := range h.Steps {
				versions = append(versions, int(s.Version.Number))
			}
			pages = append(pages, len(h.Steps))
			if q = h.Next; q.From == 0 {
				break
			}
		}
		if diff := cmp.Diff([]int{4, 3, 2, 1}, versions); diff != "" || slices.Max(pages) > limit {
			t.Errorf("with a limit of %d: pages of %v\n%s", limit, pages, diff)
		}
	}
}

func TestHistoryRefuses(t *testing.T) {
	w := historyWorld(t)
	w.write(acme, "e", `{"serial":5,"lineage":"l","encrypted_data":"AAAA"}`)
	w.write(acme, "n", named(1, "new", `"size":1`))
	other, err := auth.ParsePatterns("other/*")
	must(t, err)
	for name, c := range map[string]struct {
		p    auth.Principal
		name state.Name
		want fault.Code
	}{
		"unknown":      {owner(acme), "b", fault.StateNotFound},
		"never there":  {owner(acme), "n", fault.ResourceNotFound},
		"other tenant": {owner(globex), "a", fault.StateNotFound},
		"encrypted":    {owner(acme), "e", fault.StateEncrypted},
		"other pattern": {auth.Principal{Org: acme, Grant: auth.Grant{Role: auth.Owner, States: other}}, "a",
			fault.RightMissing},
		"auditor": {auth.Principal{Org: acme, Grant: auth.Grant{Role: auth.Auditor}}, "a", fault.RightMissing},
	} {
		_, err := w.service.History(t.Context(), c.p,
			resources.HistoryQuery{State: c.name, Address: "aws_vpc.never", Limit: 10})
		if !fault.Is(err, c.want) {
			t.Errorf("%s: %v, want %s", name, err, c.want)
		}
	}
}
