package authfile

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// Setting is a setting and its value, as they stand in the file.
type Setting struct{ Name, Value string }

// Settings is what an organization's sections say but of credentials, for people to read. Nothing in it is a secret.
type Settings struct {
	// Version is another one when the organization's own section says something else of Plain.
	Version string
	// Plain are the settings of how states are kept, of states that no section is about.
	Plain     []PlainSetting
	Access    auth.StateAccess // to the same states
	Sections  []StatesSettings
	Aliases   []Alias
	RunsLocal bool
	// AuditKept and UploadsKept are as Organization has them.
	AuditKept, UploadsKept time.Duration
	Notify                 Posted
	// Decision says where questions about plans go; FailOpen is Decision.FailOpen.
	Decision Posted
	FailOpen bool
}

// PlainSetting is a setting of how states are kept, with what it is where nothing is said.
type PlainSetting struct {
	Setting
	Default string
	Said    bool // it stands in the file
}

// StatesSettings is what a section says of some states, in the order of the file; the last section that says
// something of a state holds.
type StatesSettings struct {
	States []string // patterns
	Set    []Setting
}

// Posted says that something is posted to an address, which is a secret itself.
type Posted struct {
	Is, Signed, Header bool
	Events             []string
}

// plainDefaults are the settings of how states are kept, in the order of docs/operating.md, with what holds where
// nothing is said: state.DefaultPolicy.
func plainDefaults() []Setting {
	return []Setting{{"keep_versions", "off"}, {"keep_days", "off"}, {"deleted_days", "30"}, {"require_lock", "false"},
		{"lock_ttl", "off"}, {"guards", "warn"}, {"guard_shrink_percent", "50"}}
}

// Settings returns what the file says of the organization.
func (o *Organization) Settings() Settings {
	said := Settings{
		Version: versionOf(o.said), Access: auth.AccessFull, Sections: append([]StatesSettings{}, o.sections...),
		Aliases: append([]Alias{}, o.Aliases...), RunsLocal: o.RunsLocal, AuditKept: o.AuditKept, UploadsKept: o.UploadsKept,
		Notify:   Posted{Is: o.Notify.URL != "", Signed: o.Notify.Secret != nil, Header: o.Notify.HeaderName != ""},
		Decision: Posted{Is: o.Decision.URL != "", Signed: o.Decision.Secret != nil}, FailOpen: o.Decision.FailOpen,
	}
	if said.Notify.Is {
		said.Notify.Events = o.Notify.Wants.List()
	}
	if o.access != "" {
		said.Access = o.access
	}
	for _, usual := range plainDefaults() {
		one := PlainSetting{Setting: usual, Default: usual.Value}
		if i := slices.IndexFunc(o.said, func(s Setting) bool { return s.Name == usual.Name }); i >= 0 {
			one.Setting, one.Said = o.said[i], true
		}
		said.Plain = append(said.Plain, one)
	}
	return said
}

// versionOf is the same for the same settings, in whatever order.
func versionOf(said []Setting) string {
	lines := make([]string, len(said))
	for i, s := range said {
		lines[i] = s.Name + " = " + s.Value
	}
	slices.Sort(lines)
	sum := sha256.Sum256([]byte(strings.Join(lines, "\n")))
	return hex.EncodeToString(sum[:8])
}

// Settings returns what the file in force says of an organization; false for one that is not there.
func (w *Watcher) Settings(org uuid.UUID) (Settings, bool) {
	o, ok := w.find(org)
	if !ok {
		return Settings{}, false
	}
	return o.Settings(), true
}

// Configure gives settings of how states are kept other values in an organization's own section. An empty value
// takes the setting out, so that the default holds. What stands on its line for a comment stays with it.
func (d *Document) Configure(org uuid.UUID, changes ...Setting) error {
	edited, named := *d, map[string]bool{}
	for _, change := range changes {
		if err := checkPlain(change); err != nil {
			return err
		}
		if named[change.Name] {
			return fmt.Errorf("%s is named twice", change.Name)
		}
		named[change.Name] = true
		if err := edited.set(org, change); err != nil {
			return err
		}
	}
	*d = edited
	return nil
}

func checkPlain(s Setting) error {
	_, problem, known := policySetting(line{setting: s.Name, value: s.Value})
	switch {
	case !known:
		return fmt.Errorf("%.80q is no setting that can be changed here; there are %s", s.Name, policySettings)
	case s.Value != "" && problem != "":
		return fmt.Errorf("%s: %.80q is %s", s.Name, s.Value, problem)
	}
	return nil
}

func (d *Document) set(org uuid.UUID, s Setting) error {
	o, err := d.organization(org)
	if err != nil {
		return err
	}
	text := s.Name + " = " + s.Value
	for i := o.span.first; i <= o.span.last; i++ {
		l := d.lines[i]
		switch {
		case l.kind != lineSetting || l.setting != s.Name:
			continue
		case l.value == s.Value:
			return nil
		case s.Value == "":
			return d.become(slices.Concat(d.lines[:i], d.lines[i+1:]))
		case l.comment != "":
			text += " ; " + l.comment
		}
		lines := slices.Clone(d.lines)
		lines[i].text = text + ending(l.text)
		return d.become(lines)
	}
	if s.Value == "" {
		return nil
	}
	return d.insert(o.span.last+1, text+d.lineBreak())
}
