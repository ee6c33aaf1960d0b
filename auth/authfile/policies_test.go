package authfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keyring"
	"github.com/holdfast/holdfast/state"
)

const day = 24 * time.Hour

// policies is a file in which an organization says something about some of its states.
const policies = "[" + idA + "]\nlock_ttl = 2h\nkeep_versions = 100\nguards = hold\n" +
	"[" + idA + ".states.prod]\nstates = prod/**\nkeep_versions = off\nkeep_days = 365\nrequire_lock = " +
	"true\nguard_shrink_percent = 10\n" +
	"[" + idA + ".states.scratch]\nstates = prod/scratch, tmp/*\nguards = off\ndeleted_days = 1\nrequire_lock = " +
	"false\nlock_ttl = off\n"

func TestPolicy(t *testing.T) {
	w := following(t, policies+"[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\n")
	a := uuid.MustParse(idA)
	for _, c := range []struct {
		name, state string
		org         uuid.UUID
		want        state.Policy
	}{
		{"the organization's own", "x", a,
			state.Policy{LockTTL: 2 * time.Hour, KeepVersions: 100, Grace: 30 * day, Guards: state.GuardsHold,
				ShrinkPercent: 50}},
		{"some states", "prod/net", a,
			state.Policy{LockTTL: 2 * time.Hour, RequireLock: true, KeepFor: 365 * day, Grace: 30 * day,
				Guards: state.GuardsHold, ShrinkPercent: 10}},
		{"two sections", "prod/scratch", a,
			state.Policy{KeepFor: 365 * day, Grace: day, Guards: state.GuardsOff, ShrinkPercent: 10}},
		{"the second one", "tmp/a", a,
			state.Policy{KeepVersions: 100, Grace: day, Guards: state.GuardsOff, ShrinkPercent: 50}},
		{"says nothing", "prod/net", uuid.MustParse("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"), state.DefaultPolicy()},
		{"not in the file", "prod/net", uuid.New(), state.Policy{Guards: state.GuardsWarn, ShrinkPercent: 50}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, w.Policy(c.org, c.state)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestAuditKept(t *testing.T) {
	w := following(t, "["+idA+"]\naudit_days = 400\n["+idB+"]\naudit_days = off\n")
	a, b := uuid.MustParse(idA), uuid.MustParse(idB)
	for org, want := range map[uuid.UUID]time.Duration{a: 400 * day, b: 0, uuid.New(): 0} {
		if got := w.AuditKept(org); got != want {
			t.Errorf("%v: %v, want %v", org, got, want)
		}
	}
}

func TestUploadsKept(t *testing.T) {
	w := following(t, "["+idA+"]\nupload_retention = 400d\n["+idB+"]\nupload_retention = off\n")
	a, b := uuid.MustParse(idA), uuid.MustParse(idB)
	for org, want := range map[uuid.UUID]time.Duration{a: 400 * day, b: 0, uuid.New(): 0} {
		if got := w.UploadsKept(org); got != want {
			t.Errorf("%v: %v, want %v", org, got, want)
		}
	}
	if said, _ := w.Settings(a); said.UploadsKept != 400*day {
		t.Errorf("the settings say %v", said.UploadsKept)
	}
}

func TestWatcherHasThePolicyInForce(t *testing.T) {
	path := writeAuth(t, "; nobody\n", 0o600)
	w := newBench().watch(t, path, time.Hour)
	a := uuid.MustParse(idA)
	if w.Policy(a, "x").Grace != 0 || notified(w, a) != "" {
		t.Error("without an organization, something would be removed or told")
	}
	if w.Quota(a) != 0 {
		t.Error("without an organization, it has a quota of its own")
	}
	put(t, path, "["+idA+"]\nguards = off\nquota = 5MiB\nnotify_url = https://hooks.example.com/s3same")
	must(t, w.Reload(t.Context()))
	if w.Policy(a, "x").Guards != state.GuardsOff || notified(w, a) != "https://hooks.example.com/s3same" ||
		w.Quota(a) != 5<<20 || w.Quota(uuid.New()) != 0 {
		t.Error("the file is not in force")
	}
}

func notified(w *Watcher, org uuid.UUID) string {
	to, _, _ := w.Notify(org)
	return to.URL
}

// What an organization says of its notices is read whole, with its name.
func TestNotify(t *testing.T) {
	w := following(t, "["+idA+"]\nname = Acme\nnotify_url = https://hooks.example.com/a\nnotify_secret = whsec_"+
		strings.Repeat("QUFB", 10)+
		"\nnotify_header = x-token:  a=b: c\nnotify_events = default, state.write, run.*\n")
	to, name, some := w.Notify(uuid.MustParse(idA))
	if !some || name != "Acme" || to.URL != "https://hooks.example.com/a" ||
		string(to.Secret) != strings.Repeat("A", 30) ||
		to.HeaderName != "X-Token" || to.HeaderValue != "a=b: c" {
		t.Errorf("%+v, %q, %t", to, name, some)
	}
	for action, want := range map[audit.Action]bool{audit.StateWrite: true, audit.RunCreate: true, audit.LockForce: true,
		audit.LockTake: false} {
		if to.Wants.Wants(audit.Event{Action: action}) != want {
			t.Errorf("%s is told: %t", action, !want)
		}
	}
	if _, _, some := w.Notify(uuid.New()); some {
		t.Error("notices of nobody go somewhere")
	}
}

// Who is asked about an organization's plans is read whole, and fails closed unless it says otherwise.
func TestDecision(t *testing.T) {
	for text, open := range map[string]bool{"": false, "\ndecision_fail = closed": false, "\ndecision_fail = open": true} {
		w := following(t, "["+idA+"]\nname = Acme\ndecision_url = https://hooks.example.com/a\ndecision_secret = whsec_"+
			strings.Repeat("QUFB", 10)+text+"\n")
		to, name, some := w.Decision(uuid.MustParse(idA))
		if !some || name != "Acme" || to.URL != "https://hooks.example.com/a" || len(to.Secret) != 30 || to.FailOpen != open {
			t.Errorf("%q: %+v, %q, %t", text, to, name, some)
		}
		if _, _, some := w.Decision(uuid.New()); some {
			t.Error("somebody is asked about the plans of nobody")
		}
	}
}

// A new key is let in only when what its organization says of states holds too.
func TestPolicyIsInForceBeforeItsKeys(t *testing.T) {
	path := writeAuth(t, "; nobody\n", 0o600)
	var w *Watcher
	var early []state.Policy
	w, err := Watch(t.Context(), WatchConfig{Path: path, Use: func(r *keyring.Keyring) {
		if w != nil && len(r.Organizations) > 0 {
			early = append(early, w.Policy(orgA, "x"))
		}
	}})
	must(t, err)
	defer w.Close()
	put(t, path, "["+idA+"]\nrequire_lock = true\n")
	must(t, w.Reload(t.Context()))
	if len(early) != 1 || !early[0].RequireLock {
		t.Errorf("when its keys came into force, its policy was %+v", early)
	}
}

func TestOnlyOrganization(t *testing.T) {
	a, b := uuid.MustParse(idA), uuid.New()
	otherID := b.String()
	for text, want := range map[string][2]bool{"": {}, "[" + idA + "]\n": {true, false}, "[" + idA + "]\n[" + otherID +
		"]\n": {}} {
		w := following(t, text)
		if got := [2]bool{w.IsOnly(a), w.IsOnly(b)}; got != want {
			t.Errorf("with %q: %v, want %v", text, got, want)
		}
	}
}

func TestPoliciesAreRefused(t *testing.T) {
	head := "[" + idA + "]\n"
	section := head + "[" + idA + ".states.x]\n"
	for _, c := range []struct{ name, text, want string }{
		{"short lock_ttl", head + "lock_ttl = 59s", "2: not a time such as"},
		{"lock_ttl without unit", head + "lock_ttl = 3600", "2: not a time such as"},
		{"zero lock_ttl", head + "lock_ttl = 0", "2: not a time such as"},
		{"odd require_lock", head + "require_lock = yes", "2: neither true nor false"},
		{"no versions", head + "keep_versions = 0", "2: not a number from 1"},
		{"many versions", head + "keep_versions = 1000001", "2: not a number from 1"},
		{"no days", head + "keep_days = 0", "2: not a number from 1"},
		{"odd days", head + "keep_days = 30d", "2: not a number from 1"},
		{"no days of the audit log", head + "audit_days = 0", "2: not a number from 1"},
		{"audit log of some states", section + "states = a\nguards = off\naudit_days = 9", "5: an unknown setting"},
		{"uploads for a week", head + "upload_retention = 7d", "2: not a number of days such as 400d, from 8d"},
		{"uploads without unit", head + "upload_retention = 400", "2: not a number of days such as 400d"},
		{"uploads for months", head + "upload_retention = 12m", "2: not a number of days such as 400d"},
		{"uploads for ever", head + "upload_retention = 36501d", "2: not a number of days such as 400d"},
		{"signed days of uploads", head + "upload_retention = +400d", "2: not a number of days such as 400d"},
		{"uploads of some states", section + "states = a\nguards = off\nupload_retention = 400d", "5: an unknown setting"},
		{"no grace", head + "deleted_days = 0", "2: not a number from 1"},
		{"signed grace", head + "deleted_days = +1", "2: not a number from 1"},
		{"odd guards", head + "guards = Hold", "2: not off, warn or hold"},
		{"large share", head + "guard_shrink_percent = 101", "2: not a share"},
		{"share with a sign", head + "guard_shrink_percent = 50%", "2: not a share"},
		{"notices in the clear", head + "notify_url = http://hooks.example.com/hunter2",
			"2: an address that is posted to starts with https"},
		{"notices to no address", head + "notify_url = hooks.example.com/hunter2", "2: not an address"},
		{"short secret", head + "notify_url = https://a.example\nnotify_secret = whsec_aHVudGVyMg==", "3: not a secret"},
		{"bare secret", head + "notify_url = https://a.example\nnotify_secret = hunter2hunter2hunter2hunter2hunter2hunter2",
			"3: not a secret"},
		{"no header", head + "notify_url = https://a.example\nnotify_header = hunter2", "3: not a header"},
		{"our header", head + "notify_url = https://a.example\nnotify_header = webhook-id: hunter2",
			"3: a header that a notice has"},
		{"unknown event", head + "notify_url = https://a.example\nnotify_events = default, lock.stolen",
			"3: there is no event \"lock.stolen\"; there are default, * and"},
		{"secret for nobody", head + "notify_secret = whsec_" + strings.Repeat("QUFB", 10),
			"2: notify_secret without a notify_url"},
		{"a decision in the clear", head + "decision_url = http://hooks.example.com/hunter2",
			"2: an address that is posted to starts with https"},
		{"a decision by nobody", head + "decision_fail = open", "2: decision_fail without a decision_url"},
		{"half open", head + "decision_url = https://a.example\ndecision_fail = ajar", "3: neither open nor closed"},
		{"short secret of decisions", head + "decision_url = https://a.example\ndecision_secret = whsec_aHVudGVyMg==",
			"3: not a secret"},
		{"second guards", head + "guards = off\nguards = hold", "3: a second guards"},
		{"no states", section + "guards = off", "2: a states section needs states"},
		{"nothing said", section + "states = prod/*", "2: a states section says nothing"},
		{"odd states", section + "guards = off\nstates = a//b", "4: not a list of states"},
		{"notices of a section", section + "guards = off\nstates = *\nnotify_url = https://a.example",
			"5: an unknown setting; a states section has"},
		{"key named so", head + "[" + idA + ".states]\nrole = owner\n" + fakeHash(1),
			"2: not a section's name: oidc, cert and states"},
		{"same section", section + "guards = off\nstates = *\n[" + idA + ".states.X]\nguards = off\nstates = *",
			"5: the same section as in line 2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("auth.cfg", c.text)
			if err == nil || !strings.HasPrefix(err.Error(), "auth.cfg:"+c.want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("error %v, want one fault, auth.cfg:%s…", err, c.want)
			}
			if err != nil && strings.Contains(err.Error(), "hunter2") {
				t.Errorf("the error shows the value: %q", err)
			}
		})
	}
}

// state_access is the organization's and, over it, that of the last section of states that matches.
func TestStateAccess(t *testing.T) {
	w := following(t, "["+idA+"]\nstate_access = summary\n"+
		"["+idA+".states.prod]\nstates = prod/**\nstate_access = internal\n"+
		"["+idA+".states.open]\nstates = prod/open\nstate_access = full\n[aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee]\n")
	a := uuid.MustParse(idA)
	for name, want := range map[string]auth.StateAccess{"x": auth.AccessSummary, "prod/net": auth.AccessInternal,
		"prod/open": auth.AccessFull} {
		if got := w.StateAccess(a, name); got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := w.StateAccess(uuid.MustParse("aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee"), "x"); got != auth.AccessFull {
		t.Errorf("an organization that says nothing: %s", got)
	}
	if got := w.StateAccess(uuid.New(), "x"); got != auth.AccessInternal {
		t.Errorf("an organization that isn't there: %s", got)
	}
	for _, text := range []string{"state_access = none\n", "state_access = full\nstate_access = internal\n"} {
		if _, err := Parse("auth.cfg", "["+idA+"]\n"+text); err == nil {
			t.Errorf("%q was accepted", text)
		}
	}
}
