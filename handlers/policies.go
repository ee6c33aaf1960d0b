package handlers

import (
	"context"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight/policy"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
)

// policyHandlers serve bundles of policies.
type policyHandlers struct {
	service *policy.Service
	lists   lists
}

// maxPolicyBytes is the largest body that pushes a bundle: a byte may take six in JSON.
const maxPolicyBytes = 6*policy.MaxBytes + 64<<10

// routePolicies routes what is about bundles of policies.
func (d Deps) routePolicies(all section, native gin.HandlerFunc, guard *middleware.Guard) {
	h := policyHandlers{d.Policies, lists{d.Limits.Memory}}
	at := all.under("/api/v1/policies", native, guard.States(nil)).tagged(tagPolicies)
	of := textOf("workspace", "The bundle of this workspace, and not one of all the organization's.")
	at.route("GET", "", op("listPolicies", "The bundles of policies, by workspace and name").
		with(textOf("workspace", "Only those that count for this workspace.")).gives(api.Policies{}).needs(auth.ReadRun).
		fails(fault.NameInvalid), h.list, middleware.Admit(0))
	one := at.tagged(tagPolicies, fault.NameInvalid)
	one.route("GET", "/:bundle", op("getPolicy", "A bundle of policies with its files and its versions").
		with(of, numberOf("version", "This version; else the newest.")).gives(api.PolicyBundle{}).needs(auth.ReadRun).
		fails(fault.PolicyNotFound, fault.PolicyInvalid), h.show, middleware.Admit(0))
	one.route("PUT", "/:bundle", op("pushPolicy",
		"Make a version of a bundle of policies, which is compiled and tested before").
		with(of).takes(api.PolicyOrder{}).gives(api.Policy{}).needs(auth.ManagePolicies).
		fails(fault.PolicyInvalid, fault.PoliciesFull, fault.StoreFull), h.push, middleware.Admit(maxPolicyBytes))
	one.route("DELETE", "/:bundle", op("removePolicy", "Take a bundle of policies away with all its versions").
		with(of).gives(api.Done{}).needs(auth.ManagePolicies).fails(fault.StoreFull, fault.PolicyInvalid), h.remove,
		middleware.Admit(0))
}

// workspace reads whose bundles are meant; empty for the organization's.
func (r *request) workspace() string {
	text, given := r.get("workspace")
	if !given || text == "" {
		return ""
	}
	name, err := state.ParseName(text)
	r.check(err)
	return string(name)
}

func (h policyHandlers) list(ctx context.Context, r *request) (answer, error) {
	workspace := r.workspace()
	return h.lists.answer(ctx, r, policy.MaxBundles*policyRowBytes, func() (listing, error) {
		all, err := h.service.List(ctx, r.caller, workspace)
		return listOf(api.Policies{Policies: []api.Policy{}}, "policies", all, policyRowBytes, policyOf), err
	})
}

// policyRowBytes is about what a bundle takes in a list.
const policyRowBytes = 4 << 10

func policyOf(b policy.Bundle) api.Policy {
	return api.Policy{
		Name: b.Name, Workspace: b.Workspace, Version: b.Version, Digest: b.Digest, Enforce: string(b.Enforce),
		Message: b.Message, Files: b.Files, Bytes: b.Bytes, Rules: b.Rules, Tests: b.Tests, CreatedAt: b.CreatedAt,
		CreatedBy: api.Actor{KeyID: b.CreatedBy.KeyID, KeyName: b.CreatedBy.KeyName, Subject: b.CreatedBy.Subject},
	}
}

func (h policyHandlers) show(ctx context.Context, r *request) (answer, error) {
	workspace, version := r.workspace(), int64(r.number("version"))
	if err := r.err(); err != nil {
		return nil, err
	}
	if err := middleware.Beside(r.c, 2*maxPolicyBytes); err != nil {
		return nil, err
	}
	one, files, all, err := h.service.Get(ctx, r.caller, workspace, r.inPath("bundle"), version)
	return tell(api.PolicyBundle{Policy: policyOf(one), Versions: items(all, policyOf),
		Contents: items(files, func(f policy.File) api.PolicyFile { return api.PolicyFile(f) })}), err
}

func (h policyHandlers) push(ctx context.Context, r *request) (answer, error) {
	workspace := r.workspace()
	if err := h.service.Permit(ctx, r.caller, workspace); err != nil {
		return nil, err
	}
	order := objectOr[api.PolicyOrder](r, fault.PolicyInvalid)
	enforce, err := policy.ParseEnforcement(order.Enforce)
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	files := make([]policy.File, len(order.Files))
	for i, f := range order.Files {
		files[i] = policy.File(f)
	}
	made, err := h.service.Push(ctx, r.caller, workspace, r.inPath("bundle"), files, enforce, order.Message)
	return tell(policyOf(made)), err
}

func (h policyHandlers) remove(ctx context.Context, r *request) (answer, error) {
	workspace := r.workspace()
	if err := r.err(); err != nil {
		return nil, err
	}
	return done(), h.service.Remove(ctx, r.caller, workspace, r.inPath("bundle"))
}
