package handlers

import (
	"bytes"
	"context"
	"log/slog"
	"slices"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/workspace"
)

// workspaces serves workspaces, their variables and configurations.
type workspaces struct {
	service *workspace.Service
	tools   func(context.Context) ([]api.ToolVersions, error) // nil for none
	lists   lists
}

const (
	// maxVariablesBytes and maxSnapshotBytes are the largest bodies that change variables, and
	// that list a snapshot's files.
	maxVariablesBytes = 4 << 20
	maxSnapshotBytes  = 16 << 20
	// maxArchiveBytes is the largest archive, packed.
	maxArchiveBytes = 128 << 20
	// maxContentBytes is more than a file may have, so that its own fault is told.
	maxContentBytes = 1 << 30
)

// workspaceHandler is a handler of what is about one workspace; or about the organization, for
// the empty name, where that makes sense.
type workspaceHandler func(ctx context.Context, r *request, name state.Name) (answer, error)

func (w workspaces) named(h workspaceHandler) handler {
	return func(ctx context.Context, r *request) (answer, error) {
		name, err := nativeName(r)
		if err != nil {
			return nil, err
		}
		r.annotate(slog.String("workspace", string(name)))
		return h(ctx, r, name)
	}
}

func (w workspaces) ofOrganization(h workspaceHandler) handler {
	return func(ctx context.Context, r *request) (answer, error) { return h(ctx, r, "") }
}

// workspaceBytes is the most that a workspace takes in a list.
const workspaceBytes = 32 << 10

// list lists workspaces by name.
func (w workspaces) list(ctx context.Context, r *request) (answer, error) {
	var after string
	r.cursor(func(text string) bool {
		_, err := state.ParseName(text)
		after = text
		return err == nil
	})
	limit := r.limit()
	return w.lists.answer(ctx, r, rowsBytes(limit), func() (listing, error) {
		page, next, err := w.service.List(ctx, r.caller, after, limit)
		return listOf(api.Workspaces{Workspaces: []api.Workspace{}, Next: orNull(next)}, "workspaces", page, workspaceBytes,
			workspaceOf), err
	})
}

// listOf is listingOf of elements that take about so many bytes each.
func listOf[T, I any](answer any, list string, all []T, each int64, render func(T) I) listing {
	return listing{answer: answer, list: list, takes: int64(len(all)) * each, items: eachRendered(all, render)}
}

// create makes a workspace.
func (w workspaces) create(ctx context.Context, r *request) (answer, error) {
	order := object[api.WorkspaceChange](r)
	name, err := state.ParseName(order.Name)
	r.check(err)
	settings := workspace.Defaults()
	applyChange(order, &settings)
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := w.service.Create(ctx, r.caller, name, settings)
	return tell(workspaceOf(made)), err
}

func (w workspaces) get(ctx context.Context, r *request, name state.Name) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := w.service.Get(ctx, r.caller, name)
	return tell(workspaceOf(found)), err
}

// change changes settings.
func (w workspaces) change(ctx context.Context, r *request, name state.Name) (answer, error) {
	order := object[api.WorkspaceChange](r)
	if order.Name != "" && order.Name != string(name) {
		r.check(fault.New(fault.WorkspaceInvalid, "a workspace can't get another name"))
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	changed, err := w.service.Configure(ctx, r.caller, name, func(s *workspace.Settings) { applyChange(order, s) })
	return tell(workspaceOf(changed)), err
}

// delete takes a workspace away; its state stays.
func (w workspaces) delete(ctx context.Context, r *request, name state.Name) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	return done(), w.service.Delete(ctx, r.caller, name)
}

// variables lists variables, without the values of sensitive ones.
func (w workspaces) variables(ctx context.Context, r *request, name state.Name) (answer, error) {
	return w.lists.answer(ctx, r, maxVariablesBytes, func() (listing, error) {
		all, revision, err := w.service.Variables(ctx, r.caller, name)
		l := listOf(api.Variables{Revision: revision, Variables: []api.Variable{}}, "variables", all, rowBytes, variableOf)
		for _, v := range all {
			l.takes += int64(len(v.Value.Value))
		}
		return l, err
	})
}

// setVariables changes variables, all that are named or none.
func (w workspaces) setVariables(ctx context.Context, r *request, name state.Name) (answer, error) {
	order := object[api.VariablesChange](r)
	if err := r.err(); err != nil {
		return nil, err
	}
	set := make([]workspace.Value, len(order.Set))
	for i, v := range order.Set {
		set[i] = workspace.Value{Key: keyOf(v.Kind, v.Name), HCL: v.HCL, Sensitive: v.Sensitive, Value: v.Value}
	}
	unset := make([]workspace.Key, len(order.Unset))
	for i, k := range order.Unset {
		unset[i] = keyOf(k.Kind, k.Name)
	}
	return done(), w.service.SetVariables(ctx, r.caller, name, set, unset)
}

func keyOf(kind, name string) workspace.Key {
	return workspace.Key{Kind: workspace.Kind(kind), Name: name}
}

// missing says which contents are to be sent before a snapshot can be made of them.
func (w workspaces) missing(ctx context.Context, r *request, name state.Name) (answer, error) {
	digests, err := digestsOf(object[api.Checksums](r).SHA256)
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	missing, err := w.service.Missing(ctx, r.caller, name, digests)
	said := api.MissingContents{Missing: []string{}}
	for _, d := range missing {
		said.Missing = append(said.Missing, d.String())
	}
	return tell(said), err
}

func digestsOf(texts []string) ([]workspace.Digest, error) {
	all := make([]workspace.Digest, len(texts))
	for i, text := range texts {
		d, err := workspace.ParseDigest(text)
		if err != nil {
			return nil, err
		}
		all[i] = d
	}
	slices.SortFunc(all, func(a, b workspace.Digest) int { return bytes.Compare(a[:], b[:]) })
	return slices.Compact(all), nil
}

// putContent keeps a content for a snapshot that is to be made.
func (w workspaces) putContent(ctx context.Context, r *request, name state.Name) (answer, error) {
	digest, err := workspace.ParseDigest(r.inPath("digest"))
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	middleware.Leave(r.c)
	return done(), w.service.PutContent(ctx, r.caller, name, digest, middleware.Stream(r.c, maxContentBytes))
}

// push makes a snapshot of contents that are there.
func (w workspaces) push(ctx context.Context, r *request, name state.Name) (answer, error) {
	order := object[api.SnapshotOrder](r)
	files := make([]workspace.File, len(order.Files))
	for i, f := range order.Files {
		digest, err := workspace.ParseDigest(f.SHA256)
		r.check(err)
		files[i] = workspace.File{Path: f.Path, Executable: f.Executable, Digest: digest}
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	made, err := w.service.Push(ctx, r.caller, name, files, order.Message, order.Parent)
	return tell(snapshotOf(made)), err
}

// pushArchive makes a snapshot of an archive, as it comes.
func (w workspaces) pushArchive(ctx context.Context, r *request, name state.Name) (answer, error) {
	message, parent := r.text("message"), r.parent()
	if err := r.err(); err != nil {
		return nil, err
	}
	middleware.Leave(r.c)
	made, err := w.service.PushArchive(ctx, r.caller, name, middleware.Stream(r.c, maxArchiveBytes), message, parent)
	return tell(snapshotOf(made)), err
}

// parent reads which snapshot the caller builds on; nil for whatever there is.
func (r *request) parent() *int64 {
	text, given := r.get("parent")
	if !given {
		return nil
	}
	n, err := jsonNumber(text)
	if err != nil {
		r.invalid("the query's parent is not the number of a snapshot, or 0")
	}
	return &n
}

// filePath reads a file's path from the address.
func (r *request) filePath() string {
	path := r.inPath("path")
	r.check(workspace.CheckPath(path))
	return path
}
