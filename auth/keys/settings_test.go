package keys_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/fault"
)

func guards(value string) []authfile.Setting {
	return []authfile.Setting{{Name: "guards", Value: value}}
}

func TestSettingsAreChangedOnTopOfWhatWasRead(t *testing.T) {
	r := newRig(t, "guards = warn ; ours\n")
	owner, ctx := r.as(""), t.Context()
	read, err := r.Settings(ctx, owner)
	if err != nil {
		t.Fatal(err)
	}
	after, err := r.Configure(ctx, owner, read.Version, guards("hold"))
	if err != nil || after.Version == read.Version || !strings.Contains(r.text(), "guards = hold ; ours\n") {
		t.Fatalf("%+v %v\n%s", after, err, r.text())
	}
	// Who has read the same before learns that it is another one's by now; nothing is lost.
	if _, err := r.Configure(ctx, owner, read.Version, guards("off")); !fault.Is(err, fault.SettingsChanged) {
		t.Errorf("%v", err)
	}
	// A client whose answer got lost asks again, and is told that it is so.
	if again, err := r.Configure(ctx, owner, read.Version, guards("hold")); err != nil || again.Version != after.Version {
		t.Errorf("%+v %v", again, err)
	}
	for _, wrong := range [][]authfile.Setting{guards("never"), {{Name: "quota", Value: "off"}}} {
		if _, err := r.Configure(ctx, owner, after.Version, wrong); !fault.Is(err, fault.SettingInvalid) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
	if got := r.log.events; len(got) != 1 || got[0].Action != audit.OrganizationChange ||
		got[0].Note != "guards: warn to hold" ||
		got[0].Actor.KeyID != owner.KeyID {
		t.Errorf("%+v", got)
	}
}

func TestSettingsAreWhoeverHasTheRightForAllStates(t *testing.T) {
	r := newRig(t, "alias = 77:shop\n\n[ORG.near]\napikey = "+newHash()+
		"\nrole = owner\nstates = dev/*\n\n"+
		"[ORG.ana]\napikey = "+newHash()+"\nrole = writer\n\n[ORG.states.prod]\nstates = prod/**\nguards = hold\n")
	ctx := t.Context()
	before := r.text()
	for _, name := range []string{"near", "ana"} {
		if _, err := r.Configure(ctx, r.as(name), "", guards("off")); !fault.Is(err, fault.RightMissing) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if r.text() != before || len(r.log.events) != 2 || r.log.events[0].Action != audit.AccessRefused {
		t.Errorf("%+v", r.log.events)
	}
	if said, err := r.Settings(ctx, r.as("ana")); err != nil || len(said.Sections) != 1 || len(said.Aliases) != 1 {
		t.Errorf("%+v %v", said, err)
	}
	// Names of states that a key is not for stand in them.
	if said, err := r.Settings(ctx, r.as("near")); err != nil || said.Sections != nil || said.Aliases != nil {
		t.Errorf("%+v %v", said, err)
	}
	if _, err := r.Settings(ctx,
		auth.Principal{Org: acme, Grant: auth.Grant{Role: auth.Uploader}}); !fault.Is(err, fault.RightMissing) {
		t.Errorf("%v", err)
	}
	if _, err := r.Settings(ctx, auth.Principal{Org: uuid.New(), Grant: auth.Grant{Role: auth.Owner}}); err == nil {
		t.Error("there are settings of nobody")
	}
	// Who was taken out of the file meanwhile, or may do less by now, changes nothing.
	gone := r.as("near")
	gone.States = nil
	for _, p := range []auth.Principal{gone, {Org: acme, KeyID: "nobody", Grant: auth.Grant{Role: auth.Owner}}} {
		if _, err := r.Configure(ctx, p, "", guards("off")); !fault.Is(err, fault.CredentialsRevoked) {
			t.Errorf("%v", err)
		}
	}
}

func TestSettingsAreNotChangedWithoutARecord(t *testing.T) {
	r := newRig(t, "")
	owner := r.as("")
	read, _ := r.Settings(t.Context(), owner)
	before := r.text()
	r.log.err = errors.New("the disk is full")
	if _, err := r.Configure(t.Context(), owner, read.Version, guards("off")); err == nil || r.text() != before {
		t.Errorf("%v\n%s", err, r.text())
	}
}
