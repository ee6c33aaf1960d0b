package handlers

import (
	"time"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/layers"
)

func layerOf(l layers.Layer, now time.Time) api.Layer {
	said := api.Layer{
		Name: l.Name, Settings: layerSettingsOf(l.Settings), State: string(l.State), Says: l.Says,
		Conditions: layerConditionsOf(l.Conditions), Branch: l.Facts.Branch.ID, Relevant: l.Facts.Relevant.ID,
		Planned: l.Facts.Plan.Commit, Applied: l.Facts.Applied.Commit, Drifted: l.Facts.Drift.Count,
		Failures: l.Facts.Failures.Count, RetryAt: timeOrNull(l.Facts.Failures.RetryAt),
		CheckedAt: timeOrNull(l.Facts.Checked), CreatedAt: l.CreatedAt, UpdatedAt: l.UpdatedAt,
		UpdatedBy: api.Actor(l.UpdatedBy),
	}
	if l.Run != nil && l.Run.Standing.Nobody != "" {
		said.Says += "; the run " + l.Run.Standing.Nobody
	}
	if b, conditions := l.RunConditions(now); b != nil {
		said.Run = &api.LayerRun{ID: b.ID, Kind: string(b.Want), Commit: b.Commit, Why: b.Why, At: b.At,
			Ended: l.Run == nil, State: string(layers.RunStateOf(conditions)), Conditions: layerConditionsOf(conditions)}
	}
	return said
}

// wholeLayer has the commits too.
func wholeLayer(l layers.Layer, now time.Time) api.Layer {
	said := layerOf(l, now)
	for _, c := range l.Commits {
		said.Commits = append(said.Commits, api.LayerCommit{Commit: c.ID, At: c.At, Subject: c.Subject,
			Relevant: c.Relevant,
			Why:      c.Why})
	}
	return said
}

func timeOrNull(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	return &t
}

func layerConditionsOf(set layers.Set) []api.LayerCondition {
	all := make([]api.LayerCondition, len(set))
	for i, c := range set {
		all[i] = api.LayerCondition{Type: string(c.Type), Status: string(c.Status), Reason: c.Reason, Message: c.Message,
			LastTransition: c.LastTransition}
	}
	return all
}

func layerSettingsOf(s layers.Settings) api.LayerSettings {
	said := api.LayerSettings{
		Repository: s.Repository, Branch: s.Branch, Path: s.Path, Triggers: s.Triggers, Remediation: string(s.Remediation),
		MaxChanges: s.MaxChanges, Retries: s.Retries,
		Drift: api.LayerChecks{Off: s.Drift.Off, Every: seconds(s.Drift.Every), Cron: s.Drift.Cron, TimeZone: s.Drift.Zone,
			RefreshOnly: s.Drift.RefreshOnly},
	}
	for _, w := range s.Windows {
		said.Windows = append(said.Windows, api.LayerWindow{Kind: w.Kind, Schedule: w.Schedule, TimeZone: w.Zone,
			Duration: seconds(w.Duration), Actions: w.Actions})
	}
	for _, r := range s.Ignore {
		said.Ignore = append(said.Ignore, api.LayerRule(r))
	}
	return said
}

// applyLayerChange changes the settings that a change names.
func applyLayerChange(c api.LayerChange, s *layers.Settings) {
	setTo(&s.Repository, c.Repository)
	setTo(&s.Branch, c.Branch)
	setTo(&s.Path, c.Path)
	setTo(&s.Triggers, c.Triggers)
	if c.Remediation != nil {
		s.Remediation = layers.Remediation(*c.Remediation)
	}
	setTo(&s.MaxChanges, c.MaxChanges)
	setTo(&s.Retries, c.Retries)
	if c.Windows != nil {
		s.Windows = nil
		for _, w := range *c.Windows {
			made := layers.Window{Kind: w.Kind, Schedule: w.Schedule, Zone: w.TimeZone, Actions: w.Actions}
			setSeconds(&made.Duration, &w.Duration)
			s.Windows = append(s.Windows, made)
		}
	}
	if d := c.Drift; d != nil {
		s.Drift = layers.Checks{Off: d.Off, Cron: d.Cron, Zone: d.TimeZone, RefreshOnly: d.RefreshOnly}
		setSeconds(&s.Drift.Every, &d.Every)
	}
	if c.Ignore != nil {
		s.Ignore = nil
		for _, r := range *c.Ignore {
			s.Ignore = append(s.Ignore, layers.Rule(r))
		}
	}
}

func driftOf(l layers.Layer, claims map[string][]layers.Claim) api.LayerDrift {
	said := api.LayerDrift{Run: l.Facts.Drift.Run, At: timeOrNull(l.Facts.Drift.At),
		Resources: []api.DriftedResource{}, Expectations: []api.DriftExpectation{}, Checks: []api.DriftCheck{}}
	for _, r := range l.Drifted {
		one := driftedOf("", r)
		for _, c := range claims[r.Address] {
			kind := "state"
			if c.Upload {
				kind = "upload"
			}
			one.Claims = append(one.Claims, api.DriftClaim{Kind: kind, Name: c.Name, At: c.At})
		}
		said.Resources = append(said.Resources, one)
	}
	for _, e := range l.Expected {
		said.Expectations = append(said.Expectations, api.DriftExpectation{ID: e.ID, LayerRule: api.LayerRule(e.Rule),
			Owner: e.Owner, Reason: e.Reason, Expires: e.Expires, By: api.Actor(e.By), At: e.At})
	}
	for _, c := range l.Checks {
		said.Checks = append(said.Checks, api.DriftCheck{At: c.At, Run: c.Run, Drifted: c.Drifted, Expected: c.Expected,
			New: c.Fresh, Healed: c.Healed})
	}
	return said
}

func driftedOf(layer string, r layers.Resource) api.DriftedResource {
	return api.DriftedResource{Layer: layer, Address: r.Address, Type: r.Type, Action: r.Action, Attributes: r.Attributes,
		ID: r.ID, Since: r.Since, Run: r.Run, Expected: r.Expected, Ignored: r.Ignored}
}

func trendOf(days []layers.Trend) api.DriftTrend {
	said := api.DriftTrend{Days: make([]api.DriftDay, len(days))}
	for i, d := range days {
		said.Days[i] = api.DriftDay{Day: d.Day.Time().Format(time.DateOnly), Checks: d.Checks, Found: d.Found,
			Layers: d.Layers, Drifted: d.Drifted, Resources: d.Resources, New: d.Fresh, Healed: d.Healed}
	}
	return said
}

const (
	// maxCauses and maxOfCause are how many causes are shown, and resources of each.
	maxCauses  = 200
	maxOfCause = 20
)

func causesOf(groups []layers.Group) api.Drift {
	said := api.Drift{Causes: []api.DriftCause{}, Cut: len(groups) > maxCauses}
	for _, g := range groups[:min(len(groups), maxCauses)] {
		cause := api.DriftCause{Type: g.Type, Action: g.Action, Attributes: g.Attributes, Since: g.Since,
			Count: len(g.Resources)}
		of := map[string]bool{}
		for _, r := range g.Resources {
			if of[r.Layer] = true; len(cause.Resources) < maxOfCause {
				cause.Resources = append(cause.Resources, driftedOf(r.Layer, r.Resource))
			}
		}
		cause.Layers = len(of)
		said.Causes = append(said.Causes, cause)
	}
	return said
}
