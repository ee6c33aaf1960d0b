package authfile

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/state"
)

// policySetting reads one of the settings that an organization's section and its sections
// of states share. apply puts it into a policy.
func policySetting(l line) (apply func(*state.Policy), problem string, known bool) {
	switch l.setting {
	case "lock_ttl":
		ttl, problem := readTTL(l.value)
		return func(p *state.Policy) { p.LockTTL = ttl }, problem, true
	case "require_lock":
		require, problem := readYesNo(l.value)
		return func(p *state.Policy) { p.RequireLock = require }, problem, true
	case "keep_versions":
		n, problem := readCount(l.value, maxKept)
		return func(p *state.Policy) { p.KeepVersions = n }, problem, true
	case "keep_days":
		n, problem := readCount(l.value, maxDays)
		return func(p *state.Policy) { p.KeepFor = days(n) }, problem, true
	case "deleted_days":
		n, problem := readCount(l.value, maxDays)
		return func(p *state.Policy) { p.Grace = days(n) }, problem, true
	case "guards":
		mode, problem := readGuards(l.value)
		return func(p *state.Policy) { p.Guards = mode }, problem, true
	case "guard_shrink_percent":
		percent, problem := readPercent(l.value)
		return func(p *state.Policy) { p.ShrinkPercent = percent }, problem, true
	}
	return nil, "", false
}

// accessSetting says who is shown what of states; it stands where policies do.
const accessSetting = "state_access"

// readAccess adds what is said of some states to what was said before; nil is all of them.
func readAccess(said *auth.Exposure, states *auth.Patterns, text string) (*auth.Exposure, string) {
	access, err := auth.ParseStateAccess(text)
	if err != nil {
		return said, err.Error()
	}
	return said.With(states, access), ""
}

// policySettings names them, for people.
const policySettings = "lock_ttl, require_lock, keep_versions, keep_days, deleted_days, guards and guard_shrink_percent"

// The bounds of numbers.
const (
	maxKept = 1_000_000
	maxDays = 36_500
)

func days(n int) time.Duration { return time.Duration(n) * 24 * time.Hour }

// minTTL is far above what a slow client takes between two signs of life.
const minTTL = time.Minute

func readTTL(text string) (time.Duration, string) {
	if text == "off" {
		return 0, ""
	}
	ttl, err := time.ParseDuration(text)
	if err != nil || ttl < minTTL || ttl > days(maxDays) {
		return 0, "not a time such as 90m or 24h, of a minute or more, nor off"
	}
	return ttl, ""
}

func readYesNo(text string) (bool, string) {
	if text != "true" && text != "false" {
		return false, "neither true nor false"
	}
	return text == "true", ""
}

// readCount reads how much is kept; off, which is everything, is 0.
func readCount(text string, most int) (int, string) {
	if text == "off" {
		return 0, ""
	}
	n, err := strconv.ParseUint(text, 10, 32)
	if err != nil || n < 1 || n > uint64(most) {
		return 0, "not a number from 1 to " + strconv.Itoa(most) + ", nor off"
	}
	return int(n), ""
}

// readUploadRetention reads for how long uploads are kept; off, which is for ever, is 0. For RememberFor a store
// answers an upload that is sent again with its first receipt: its records must be there for as long.
func readUploadRetention(text string) (time.Duration, string) {
	if text == "off" {
		return 0, ""
	}
	const least = int(inventory.RememberFor / (24 * time.Hour))
	number, isDays := strings.CutSuffix(text, "d")
	n, err := strconv.ParseUint(number, 10, 32)
	if !isDays || err != nil || n < uint64(least) || n > maxDays {
		return 0, fmt.Sprintf("not a number of days such as 400d, from %dd (for as long, an upload that is sent again is "+
			"recognised) to %dd, nor off", least, maxDays)
	}
	return days(int(n)), ""
}

func readGuards(text string) (state.GuardMode, string) {
	switch mode := state.GuardMode(text); mode {
	case state.GuardsOff, state.GuardsWarn, state.GuardsHold:
		return mode, ""
	}
	return "", "not off, warn or hold"
}

func readPercent(text string) (int, string) {
	n, err := strconv.ParseUint(text, 10, 8)
	if err != nil || n > 100 {
		return 0, "not a share of 0 to 100"
	}
	return int(n), ""
}

// policyRule is what an organization says about its states, or about some of them.
type policyRule struct {
	states *auth.Patterns // nil for all
	apply  func(*state.Policy)
}

// statesSection is an [<org>.states.<name>] section: a policy for some states.
type statesSection struct {
	p      *parser
	org    *Organization
	states *auth.Patterns
	rules  []func(*state.Policy)
	access string    // as it stands there; empty where it doesn't
	said   []Setting // the same and the others
}

func (*statesSection) about() sectionKind {
	return sectionKind{has: "a states section has states, " + accessSetting + ", " + policySettings}
}

func (s *statesSection) set(l line) (problem string, known bool) {
	if l.setting == "states" {
		patterns, err := auth.ParsePatterns(l.value)
		if s.states = patterns; err != nil {
			problem = "not a list of states: " + err.Error()
		}
		return problem, true
	}
	s.said = append(s.said, Setting{l.setting, l.value})
	if l.setting == accessSetting {
		s.access = l.value
		_, problem := readAccess(nil, nil, l.value)
		return problem, true
	}
	apply, problem, known := policySetting(l)
	if known {
		s.rules = append(s.rules, apply)
	}
	return problem, known
}

func (s *statesSection) end(span) {
	s.p.lacks("a states section needs states: patterns such as prod/*", "states")
	if len(s.rules) == 0 && s.access == "" {
		s.p.faults.add(s.p.span.first+1, "a states section says nothing; it has %s, %s", accessSetting, policySettings)
	}
	if s.access != "" && s.states != nil {
		s.org.Exposure, _ = readAccess(s.org.Exposure, s.states, s.access)
	}
	s.org.sections = append(s.org.sections, StatesSettings{s.states.List(), s.said})
	for _, apply := range s.rules {
		s.org.policies = append(s.org.policies, policyRule{s.states, apply})
	}
}

// orgSettings is what the organizations of a file say.
type orgSettings struct {
	orgs    map[uuid.UUID]*Organization
	aliases map[aliasOf]state.Name // the folder of each
	keys    map[keyOf]string       // what each is called, if anything
}

// keyOf is a key of one organization's.
type keyOf struct {
	org uuid.UUID
	id  string
}

func settingsOf(d *Document) orgSettings {
	s := orgSettings{make(map[uuid.UUID]*Organization, len(d.orgs)), make(map[aliasOf]state.Name), make(map[keyOf]string)}
	for i := range d.orgs {
		o := &d.orgs[i]
		s.orgs[o.ID] = o
		for _, alias := range o.Aliases {
			s.aliases[aliasOf{o.ID, alias.key()}] = alias.Folder
		}
		for i := range o.Keys {
			if called := o.Keys[i].Called(); called != "" {
				s.keys[keyOf{o.ID, o.Keys[i].ID}] = called
			}
		}
	}
	return s
}

func (w *Watcher) find(org uuid.UUID) (*Organization, bool) {
	o, ok := w.inForce.Load().orgs[org]
	return o, ok
}

// Policy returns how an organization wants a state kept: what its own section says, then
// what its sections of states say that match the name, in the order of the file, so that
// the last one holds. Nothing of an organization that is not there is ever removed: it may
// come back.
func (w *Watcher) Policy(org uuid.UUID, name string) state.Policy {
	policy := state.DefaultPolicy()
	o, ok := w.find(org)
	if !ok {
		policy.Grace = 0
		return policy
	}
	for _, rule := range o.policies {
		if rule.states.Match(name) {
			rule.apply(&policy)
		}
	}
	return policy
}

// KeyName returns what people call an organization's key, by the key's ID: its name, or else what
// its label says; empty for a key that is gone, or has neither.
func (w *Watcher) KeyName(org uuid.UUID, id string) string {
	return w.inForce.Load().keys[keyOf{org, id}]
}

// Organizations returns all organizations, in no order.
func (w *Watcher) Organizations() []uuid.UUID {
	return slices.Collect(maps.Keys(w.inForce.Load().orgs))
}

// RunsLocal returns the organizations whose runs the server itself executes, in no order: what
// their configurations say runs on its machine, if in a sandbox.
func (w *Watcher) RunsLocal() []uuid.UUID {
	var orgs []uuid.UUID
	for id, o := range w.inForce.Load().orgs {
		if o.RunsLocal {
			orgs = append(orgs, id)
		}
	}
	return orgs
}

// AuditKept is for how long entries of an organization's audit log are kept; 0 for ever, as of one that is not there.
func (w *Watcher) AuditKept(org uuid.UUID) time.Duration {
	if o, ok := w.find(org); ok {
		return o.AuditKept
	}
	return 0
}

// UploadsKept is for how long records of an organization's uploads are kept; 0 for ever, as of one that is not there.
func (w *Watcher) UploadsKept(org uuid.UUID) time.Duration {
	if o, ok := w.find(org); ok {
		return o.UploadsKept
	}
	return 0
}

// Quota is how many bytes an organization may have stored, as its section says: zero for
// the server's default, auth.Unlimited for as many as it likes.
func (w *Watcher) Quota(org uuid.UUID) int64 {
	if o, ok := w.find(org); ok {
		return o.Limits.Quota
	}
	return 0
}

// IsOnly reports whether there is no other organization.
func (w *Watcher) IsOnly(org uuid.UUID) bool {
	all := w.inForce.Load().orgs
	_, ok := all[org]
	return ok && len(all) == 1
}

// StateAccess returns how much of a state an organization's people are shown.
func (w *Watcher) StateAccess(org uuid.UUID, name string) auth.StateAccess {
	o, ok := w.find(org)
	if !ok {
		return auth.AccessInternal
	}
	return o.Exposure.Of(name)
}
