package handlers

import (
	"cmp"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/pulls"
)

func pullOf(p pulls.Pull) api.Pull {
	at := p.At
	said := api.Pull{Repository: p.Repository, Number: p.Number, Title: at.Title, Link: at.Link, Author: at.Author.Login,
		State: string(at.State), Commit: at.Head, Base: at.BaseRef, Fork: at.Fork, Lacks: p.Lacks,
		Apart: p.Apart, Waits: p.Waits, Trouble: p.Trouble,
		Plans: []api.PullPlan{}, SeenAt: timeOrNull(p.SeenAt)}
	if a := p.Allowed; a != nil {
		said.Allowed = &api.PullAllowed{Commit: a.Commit, By: a.By.Login, At: a.At}
	}
	for _, plan := range p.Plans {
		one := api.PullPlan{Layer: plan.Layer, Commit: plan.Commit, Onto: plan.Onto, Behind: plan.Behind,
			Run: plan.Run, Status: string(plan.Status),
			Reason: plan.Reason, Counts: plan.Counts, Digest: plan.Digest}
		if a := plan.Apply; a != nil {
			one.Apply = &api.PullApply{By: a.By.Login, Run: a.Run, Status: string(a.Status), Reason: a.Reason}
		}
		said.Plans = append(said.Plans, one)
	}
	return said
}

// pullsOff is how the settings say that nobody may.
const pullsOff = "off"

func pullSettingsOf(s pulls.Settings) api.PullSettings {
	return api.PullSettings{Plan: cmp.Or(s.Plan, pullsOff), Apply: cmp.Or(s.Apply, pullsOff), Branch: s.Branch,
		Planned: map[bool]string{true: "head", false: "merge"}[s.HeadAlone]}
}

func offAsNothing(text string) string {
	if text == pullsOff {
		return ""
	}
	return text
}
