package main

import (
	"context"
	"fmt"
	"net/http"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/client"
)

// rate is one of an organization's limits, of those that a benchmark meets.
type rate struct {
	org           string
	name, what    string // of the setting, and what it is a limit of
	perMinute     int
	left, minimum int // what is left now, and what setting up and tidying up need
}

// headroom is which part of a limit has to be left for a benchmark to begin: it ends when the
// server says that less than a quarter is.
const headroom = 2

// checkLimits asks whose the keys are before anything is measured. It reports whether an
// organization has a limit that the benchmark has to keep within, which somebody must have said
// yes to.
func (a *app) checkLimits(ctx context.Context, target bench.Target, plans []bench.Options,
	flags benchFlags) (limited bool, err error) {
	asked := map[uuid.UUID]bool{}
	for _, id := range target.Identities {
		if asked[id.Org] {
			continue
		}
		asked[id.Org] = true
		who, err := client.New(client.Options{Address: target.Address, Org: id.Org, Key: id.Key,
			HTTP: http.DefaultClient}).Whoami(ctx)
		if err != nil {
			return false, err
		}
		for _, met := range ratesOf(who, plans) {
			if err := a.checkRate(ctx, met, flags); err != nil {
				return false, err
			}
			limited = true
		}
	}
	return limited, nil
}

// ratesOf returns the limits of an organization that the plans would meet.
func ratesOf(who api.Identity, plans []bench.Options) (all []rate) {
	org := who.OrgName
	if org == "" {
		org = who.OrgID.String()
	}
	states := rate{org: org, name: "state_rate_limit", what: "requests to states"}
	uploads := rate{org: org, name: "rate_limit", what: "uploads"}
	hasStates, hasUploads := false, false
	for _, plan := range plans {
		if plan.Mix == bench.Upload {
			hasUploads, uploads.minimum = true, max(uploads.minimum, plan.Connections)
		} else {
			hasStates, states.minimum = true, max(states.minimum, 2*plan.Connections) // they are made, and deleted
		}
	}
	add := func(has bool, r rate, perMinute, left *int) {
		if has && perMinute != nil {
			r.perMinute, r.left = *perMinute, *perMinute
			if left != nil {
				r.left = *left
			}
			all = append(all, r)
		}
	}
	add(hasStates, states, who.Limits.States, who.Limits.StatesLeft)
	add(hasUploads, uploads, who.Limits.Requests, who.Limits.RequestsLeft)
	return all
}

// checkRate goes on within a limit only if somebody says so, and only if that is possible.
func (a *app) checkRate(ctx context.Context, r rate, flags benchFlags) error {
	says := fmt.Sprintf("%s may send %d %s a minute, and has %d left: that limit would be measured, and nothing else. "+
		"For the time of it, put `%s = off` into the organization's section of auth.cfg, or limits.%s of the server's "+
		"settings to off",
		r.org, r.perMinute, r.what, r.left, r.name, r.name)
	if !flags.withinLimits {
		if !a.interactive {
			return usagef("%s; --within-limits goes on within it", says)
		}
		if err := a.confirm(ctx, false, says+". Go on within it, and stop while a quarter of it is left?"); err != nil {
			return err
		}
	}
	if r.left*headroom < r.perMinute {
		return fmt.Errorf("%s has %d of %d %s a minute left, which others may need: come again in a minute", r.org, r.left,
			r.perMinute, r.what)
	}
	if r.minimum*headroom*headroom > r.perMinute {
		return usagef("--connections: setting up and tidying up would take %d of %d %s a minute; take fewer", r.minimum,
			r.perMinute, r.what)
	}
	return nil
}
