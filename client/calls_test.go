package client_test

import (
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
)

// Every name reaches its own state, whatever it reads like in an address.
func TestNamesReachTheirStates(t *testing.T) {
	c, stop := serve()
	defer stop()
	for _, name := range []string{"lock", "prod/lock", "a/b/-/lock"} { // addresses of locks
		_, err := c.Put(t.Context(), name, strings.NewReader(`{"version":4,"serial":1,"lineage":"x"}`), client.Write{})
		if !client.IsCode(err, fault.NameInvalid) {
			t.Errorf("%s: %v", name, err)
		}
	}
	names := []string{"a", "-", "prod/network", "prod/lock/release", "prod/versions/1/diff", "prod/outputs/vpc",
		"a/-/versions", "a/-", "-/a", "prod/undelete", "prod/candidates", "a.b/c_d/e~f/g-h"}
	for _, name := range names {
		body := `{"version":4,"serial":1,"lineage":"` + name + `"}`
		if _, err := c.Put(t.Context(), name, strings.NewReader(body), client.Write{}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		content, err := c.Get(t.Context(), name, client.Which{})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		got, err := io.ReadAll(content)
		if content.Close(); string(got) != body || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		for version, err := range c.Versions(name, 0).All(t.Context()) {
			if err != nil || version.Lineage != name {
				t.Errorf("%s: the versions of %s, %v", name, version.Lineage, err)
			}
		}
	}
	var listed []string
	for state, err := range c.States(client.StatesQuery{}).All(t.Context()) {
		if listed = append(listed, state.Name); err != nil {
			t.Error(err)
		}
	}
	if slices.Sort(names); !slices.Equal(listed, names) {
		t.Errorf("listed %q", listed)
	}
}

// The life of a state, call by call.
func TestCallsOfAState(t *testing.T) {
	c, stop := serve()
	defer stop()
	ctx, name := t.Context(), "prod/network"
	write := func(serial, size string) {
		t.Helper()
		body := `{"version":4,"serial":` + serial + `,"lineage":"l","outputs":{"size":{"value":"` + size +
			`","type":"string"}}}`
		if _, err := c.Put(ctx, name, strings.NewReader(body), client.Write{}); err != nil {
			t.Fatal(err)
		}
	}
	check := func(what string, ok bool, err error) {
		t.Helper()
		if !ok || err != nil {
			t.Errorf("%s: %v, %v", what, ok, err)
		}
	}
	write("1", "small")
	write("2", "large")
	diff, err := c.Diff(ctx, name, 2, client.DiffOptions{})
	check("diff", diff.Summary.Outputs == 1, err)
	outputs, err := c.Outputs(ctx, name, false)
	check("outputs", string(outputs.Outputs["size"].Value) == `"large"`, err)
	text, err := c.OutputText(ctx, name, "size")
	check("output", string(text) == "large", err)
	made, err := c.Rollback(ctx, name, 1, api.Order{Reason: "it broke"})
	check("rollback", made.Number == 3 && made.Origin.Version == 1, err)
	purged, err := c.Purge(ctx, name, 2, "leaked", true)
	check("purge", slices.Equal(purged.Purged, []uint64{2}), err)

	kept, err := c.AddCandidate(ctx, name, strings.NewReader(`{"version":4,"serial":9,"lineage":"l"}`), "lost its lock")
	check("candidate", kept.Base == 3 && kept.Status == "open", err)
	content, err := c.OpenCandidate(ctx, name, kept)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(content)
	check("its bytes", strings.Contains(string(raw), `"serial":9`), errors.Join(err, content.Close()))
	made, err = c.Promote(ctx, name, kept.ID, api.Order{Reason: "meant"})
	check("promotion", made.Number == 4, err)
	if err := c.Discard(ctx, name, kept.ID, ""); !client.IsCode(err, fault.CandidateSettled) {
		t.Errorf("discard: %v", err)
	}

	check("lock", true, c.Lock(ctx, name, api.LockInfo{ID: "l1", Who: "ann@desk"}))
	holder, err := c.Holder(ctx, name)
	check("holder", holder.Who == "ann@desk", err)
	_, err = c.Put(ctx, name, strings.NewReader(`{"version":4,"serial":10,"lineage":"l"}`), client.Write{})
	refusal, ok := errors.AsType[*client.Error](err)
	check("a write past the lock", ok && refusal.Lock != nil && refusal.Lock.ID == "l1" &&
		client.IsCode(err, fault.LockHeld), nil)
	released, err := c.ReleaseLock(ctx, name, api.Order{Reason: "gone", LockID: "l1"})
	check("release", released.Released != nil && released.Released.Who == "ann@desk", err)

	check("deletion", true, c.Delete(ctx, name, client.Condition{}))
	found, err := c.FindState(ctx, name)
	check("deleted", found != nil && found.DeletedAt != nil, err)
	newest, err := c.Undelete(ctx, name)
	check("undelete", newest.Number == 4, err)
	who, err := c.Whoami(ctx)
	check("whoami", who.OrgID == acme, err)
	ready, err := c.Ready(ctx)
	check("ready", ready.Status == "ready", err)
	for event, err := range c.Events(client.EventsQuery{Action: "lock.force"}).All(ctx) {
		check("event", event.LockID == "l1" && event.Role == "owner" && event.RequestID != "", err)
	}
}
