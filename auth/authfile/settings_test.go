package authfile

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
)

func TestSettingsAreThoseThatHold(t *testing.T) {
	w := following(t, "["+idA+"]\nkeep_versions = 5\nguards = warn\nstate_access = summary\nalias = 42, 77:shop\n"+
		"notify_url = https://example.com/hunter2\nnotify_events = default, lock.*\ndecision_url = https://example.com/hunter2\n"+
		"decision_fail = open\naudit_days = 90\n\n["+idA+".states.prod]\nstates = prod/**, x\nguards = hold\nstate_access = internal\n")
	got, ok := w.Settings(orgA)
	var plain []PlainSetting
	for _, usual := range plainDefaults() {
		plain = append(plain, PlainSetting{Setting: usual, Default: usual.Value})
	}
	plain[0].Value, plain[0].Said, plain[5].Said = "5", true, true
	want := Settings{
		Version: got.Version, Plain: plain, Access: auth.AccessSummary,
		AuditKept: 90 * 24 * time.Hour,
		Sections: []StatesSettings{{States: []string{"prod/**", "x"},
			Set: []Setting{{"guards", "hold"}, {"state_access", "internal"}}}},
		Aliases: []Alias{{ID: "42"}, {ID: "77", Folder: "shop"}},
		Notify:  Posted{Is: true, Events: []string{"default", "lock.*"}}, Decision: Posted{Is: true}, FailOpen: true,
	}
	if diff := cmp.Diff(want, got); !ok || diff != "" {
		t.Errorf("%v (-want +got):\n%s", ok, diff)
	}
	if _, ok := w.Settings(uuid.New()); ok {
		t.Error("there are settings of nobody")
	}
}

func TestPlainDefaultsAreTheDefaults(t *testing.T) {
	var got state.Policy
	for _, s := range plainDefaults() {
		apply, problem, known := policySetting(line{setting: s.Name, value: s.Value})
		if problem != "" || !known || !strings.Contains(policySettings, s.Name) {
			t.Fatalf("%+v: %s", s, problem)
		}
		apply(&got)
	}
	if got != state.DefaultPolicy() || len(plainDefaults()) != strings.Count(policySettings, ",")+2 {
		t.Errorf("%+v", got)
	}
}

func TestConfigureChangesNothingElse(t *testing.T) {
	const before = "# us\n[" + idA + "]\nname = Acme\nguards=hold  ; after March\nkeep_days = 9\n# keys\n[" + idA +
		".states.prod]\nstates = prod/**\nguards = off\n\n" +
		"[shredded.66666666-7777-8888-9999-aaaaaaaaaaaa]\nname = Globex\nat = 2026-11-22T17:30:00Z\n"
	d := mustParse(t, before)
	o, _ := d.Find(orgA)
	version := o.Settings().Version
	for _, wrong := range [][]Setting{{{"guards", "sometimes"}}, {{"quota", "1GiB"}}, {{"name", "x"}},
		{{"guards", "off\nx"}},
		{{"keep_days", "4"}, {"keep_versions", "-1"}},
		{{"keep_days", "4"}, {"keep_days", "5"}}, {{"apikey", ""}}, {{"", ""}}} {
		if err := d.Configure(orgA, wrong...); err == nil || d.String() != before {
			t.Errorf("%q is taken: %v", wrong, err)
		}
	}
	if err := d.Configure(orgA, Setting{"guards", "hold"}, Setting{"lock_ttl", ""}); err != nil || d.String() != before {
		t.Errorf("%v\n%s", err, d)
	}
	if _, ok := d.Shredding(uuid.MustParse("66666666-7777-8888-9999-aaaaaaaaaaaa")); !ok {
		t.Error("what is destroyed is forgotten")
	}
	if err := d.Configure(orgA, Setting{"guards", "off"}, Setting{"keep_days", ""},
		Setting{"lock_ttl", "90m"}); err != nil {
		t.Fatal(err)
	}
	want := strings.Replace(before, "guards=hold  ; after March\nkeep_days = 9\n",
		"guards = off ; after March\nlock_ttl = 90m\n", 1)
	if d.String() != want {
		t.Errorf("the file is\n%s\nwant\n%s", d, want)
	}
	o, _ = d.Find(orgA)
	if o.Settings().Version == version {
		t.Error("another text has the same version")
	}
	if err := d.Configure(uuid.New(), Setting{"guards", "off"}); err == nil {
		t.Error("nobody was configured")
	}
}
