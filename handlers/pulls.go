package handlers

import (
	"context"
	"strconv"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/pulls"
)

// pullHandlers serves pull requests.
type pullHandlers struct {
	service *pulls.Service
	lists   lists
}

// pullBytes is what a pull request takes in a list, about.
const pullBytes = 16 << 10

func (d Deps) routePulls(at section, guard *middleware.Guard) {
	if d.Pulls == nil {
		return
	}
	h := pullHandlers{d.Pulls, lists{d.Limits.Memory}}
	all := at.under("", guard.States(nil)).tagged(tagPulls)
	none, order := middleware.Admit(0), middleware.Admit(maxOrderBytes)
	all.route("GET", "/pulls", op("listPulls", "The pull requests that are known, the highest numbers first").
		with(numberOf("limit", "How many are shown.")).
		with(textOf("repository", "Those of this repository alone.")).gives(api.Pulls{}).needs(auth.ReadRun), h.list, none)
	repository := all.under("/repositories/:repository").tagged(tagPulls)
	repository.route("GET", "/pull-settings", op("getPullSettings", "What a repository wants of pull requests").
		gives(api.PullSettings{}).needs(auth.ReadRepository).fails(fault.RepositoryNotFound), h.settings, none)
	repository.route("PUT", "/pull-settings", op("setPullSettings",
		"Say what a repository wants of pull requests; to have any planned takes the right to approve, too").
		takes(api.PullSettings{}).gives(api.PullSettings{}).needs(auth.WriteRepository).
		fails(fault.RepositoryNotFound, fault.ParameterInvalid, fault.StoreFull), h.configure, order)
	one := repository.under("/pulls/:number").tagged(tagPulls, fault.PullNotFound)
	one.route("GET", "", op("getPull", "A pull request, with the plans of the layers that it changes").gives(api.Pull{}).
		needs(auth.ReadRun), h.named(h.get), none)
	one.route("POST", "/look", op("lookAtPull", "Have a pull request looked at now, as a webhook does").
		gives(api.Done{}).needs(auth.PlanRun).fails(fault.PullsOff, fault.StoreFull), h.named(h.look), none)
	one.route("POST", "/allow", op("allowPull", "Let a commit of a fork be planned").takes(api.PullCommit{}).
		gives(api.Pull{}).needs(auth.ApproveRun).
		fails(fault.PullsOff, fault.PullMoved, fault.ChangedMeanwhile, fault.StoreFull), h.named(h.allow), order)
}

func (h pullHandlers) list(ctx context.Context, r *request) (answer, error) {
	repository, limit := r.filled("repository"), r.limit()
	return h.lists.answer(ctx, r, int64(limit)*pullBytes, func() (listing, error) {
		all, err := h.service.Pulls(ctx, r.caller, repository, limit)
		return listOf(api.Pulls{Pulls: []api.Pull{}}, "pulls", all, pullBytes, pullOf), err
	})
}

// pullHandler is a handler of what is about one pull request.
type pullHandler func(ctx context.Context, r *request, ref pulls.Ref) (answer, error)

func (h pullHandlers) named(do pullHandler) handler {
	return func(ctx context.Context, r *request) (answer, error) {
		number, err := strconv.ParseInt(r.inPath("number"), 10, 64)
		if err != nil || number <= 0 {
			r.invalid("a pull request has a number of 1 or more")
		}
		return do(ctx, r, pulls.Ref{Org: r.caller.Org, Repository: r.repository(), Number: number})
	}
}

func (h pullHandlers) get(ctx context.Context, r *request, ref pulls.Ref) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.service.Pull(ctx, r.caller, ref)
	return tell(pullOf(found)), err
}

// look has it looked at soon.
func (h pullHandlers) look(ctx context.Context, r *request, ref pulls.Ref) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return done(), h.service.Look(ctx, r.caller, ref)
}

func (h pullHandlers) allow(ctx context.Context, r *request, ref pulls.Ref) (answer, error) {
	order := objectOr[api.PullCommit](r, fault.ParameterInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.service.Allow(ctx, r.caller, ref, order.Commit)
	return tell(pullOf(found)), err
}

func (h pullHandlers) settings(ctx context.Context, r *request) (answer, error) {
	name := r.repository()
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := h.service.SettingsOf(ctx, r.caller, name)
	return tell(pullSettingsOf(found)), err
}

func (h pullHandlers) configure(ctx context.Context, r *request) (answer, error) {
	order, name := objectOr[api.PullSettings](r, fault.ParameterInvalid), r.repository()
	if err := r.err(); err != nil {
		return nil, err
	}
	if planned := order.Planned; planned != "" && planned != "merge" && planned != "head" {
		return nil, fault.New(fault.ParameterInvalid, "planned is merge or head, and not %.40q", planned)
	}
	set := pulls.Settings{Plan: offAsNothing(order.Plan), Apply: offAsNothing(order.Apply), Branch: order.Branch,
		HeadAlone: order.Planned == "head"}
	return tell(pullSettingsOf(set)), h.service.Configure(ctx, r.caller, name, set)
}
