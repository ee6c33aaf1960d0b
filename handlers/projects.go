package handlers

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/projects"
	"github.com/holdfast/holdfast/state"
)

// projectHandlers serves projects.
type projectHandlers struct {
	service  *projects.Service
	lists    lists
	stopping <-chan struct{}
	// streams are the places of those who are sent what a run prints, waits of those who wait for its end.
	streams, waits *turns.Turns
}

func (d Deps) projectHandlers() projectHandlers {
	return projectHandlers{
		service: projects.NewService(d.projects()),
		lists:   lists{d.Limits.Memory}, stopping: d.Stopping,
		streams: turns.New(maxStreams, maxOwnStreams), waits: turns.New(maxWaits, maxOwnWaits),
	}
}

func (d Deps) projects() projects.Deps {
	deps := projects.Deps{Workspaces: d.Workspaces, Runs: d.Runs}
	if d.Insights != nil { // or the interface would hold a nil pointer
		deps.Insights = d.Insights
	}
	return deps
}

// projectHandler is a handler of what is about one project.
type projectHandler func(ctx context.Context, r *request, name state.Name) (answer, error)

func (h projectHandlers) named(serve projectHandler) handler {
	return func(ctx context.Context, r *request) (answer, error) {
		name, err := h.service.Name(ctx, r.caller, r.inPath("project"))
		if err != nil {
			return nil, err
		}
		r.annotate(slog.String("workspace", string(name)))
		return serve(ctx, r, name)
	}
}

// fileBytes is what a project's files take in an answer: as they were read, and as JSON.
const fileBytes = 3*projects.MaxFiles + maxOrderBytes

// files lists a project's files with their contents.
func (h projectHandlers) files(ctx context.Context, r *request, name state.Name) (answer, error) {
	return h.lists.answer(ctx, r, fileBytes, func() (listing, error) {
		found, err := h.service.Files(ctx, r.caller, name)
		takes := int64(0)
		for _, f := range found.Files {
			takes += int64(2*len(f.Name)+len(f.Content)+len(f.Base64)) + partBytes
		}
		return listing{answer: found, takes: takes}, err
	})
}

// checksums has the SHA-256 of each of a project's files.
func (h projectHandlers) checksums(ctx context.Context, r *request, name state.Name) (answer, error) {
	return h.lists.answer(ctx, r, fileBytes, func() (listing, error) {
		found, err := h.service.Checksums(ctx, r.caller, name)
		return listing{answer: found, takes: int64(len(found)) * fileRowBytes}, err
	})
}

// pull has a project's files for a folder.
func (h projectHandlers) pull(ctx context.Context, r *request, name state.Name) (answer, error) {
	runObject[struct{}](r)
	return h.lists.answer(ctx, r, fileBytes, func() (listing, error) {
		found, err := h.service.Pull(ctx, r.caller, name)
		takes := int64(0)
		for _, f := range found.Files {
			takes += int64(len(f.Name)+len(f.Content)+len(f.Base64)) + partBytes
		}
		return listing{answer: found, takes: takes}, err
	})
}

// put creates or replaces a file.
func (h projectHandlers) put(ctx context.Context, r *request, name state.Name) (answer, error) {
	order := object[api.ProjectFileOrder](r)
	if err := r.err(); err != nil {
		return nil, err
	}
	done, err := h.service.Put(ctx, r.caller, name, order)
	done.File.Content = "" // its sender has it
	return tell(done), err
}

// remove takes a file away.
func (h projectHandlers) remove(ctx context.Context, r *request, name state.Name) (answer, error) {
	path := r.inPath("name")
	if err := r.err(); err != nil {
		return nil, err
	}
	done, err := h.service.Remove(ctx, r.caller, name, path)
	return tell(done), err
}

// list lists a project's runs.
func (h projectHandlers) list(ctx context.Context, r *request, name state.Name) (answer, error) {
	limit := r.within("limit", projects.UsualLimit, projects.MaxLimit)
	offset := r.atMost("offset", r.count("offset"), projects.MaxOffset)
	return h.lists.answer(ctx, r, rowsBytes(limit+projects.MaxLimit), func() (listing, error) {
		found, err := h.service.List(ctx, r.caller, name, limit, offset)
		all := found.Runs
		found.Runs = []api.ProjectRunBrief{}
		return listOf(found, "runs", all, rowBytes/2, func(run api.ProjectRunBrief) api.ProjectRunBrief { return run }), err
	})
}

// within reads a number of 1 or more of the query that has a bound.
func (r *request) within(name string, usual, most int) int {
	if r.filled(name) == "" {
		return usual
	}
	return r.atMost(name, r.number(name), most)
}

// atMost refuses a number of the query that is above a bound.
func (r *request) atMost(name string, n uint64, most int) int {
	if n > uint64(most) {
		r.check(fault.New(fault.ParameterInvalid, "the query's %s is at most %d", name, most))
	}
	return int(min(n, uint64(most)))
}

// show is a run with all that is known of it.
func (h projectHandlers) show(ctx context.Context, r *request, name state.Name) (answer, error) {
	return h.whole(ctx, r, name, r.run())
}

func (h projectHandlers) whole(ctx context.Context, r *request, name state.Name, id string) (answer, error) {
	return h.lists.answer(ctx, r, projects.RunBytes, func() (listing, error) {
		found, err := h.service.Run(ctx, r.caller, name, id)
		return listing{answer: found, takes: projects.RunBytes / 2}, err
	})
}

// approve says yes to a run's plan, deny says no to it.
func (h projectHandlers) approve(ctx context.Context, r *request, name state.Name) (answer, error) {
	return h.decide(ctx, r, name, true)
}

func (h projectHandlers) deny(ctx context.Context, r *request, name state.Name) (answer, error) {
	return h.decide(ctx, r, name, false)
}

func (h projectHandlers) decide(ctx context.Context, r *request, name state.Name, yes bool) (answer, error) {
	id, d := r.run(), runObject[api.ProjectDecision](r)
	d.Reason = r.mayHaveReason(d.Reason)
	if err := r.err(); err != nil {
		return nil, err
	}
	decide := h.service.Deny
	if yes {
		decide = h.service.Approve
	}
	if err := decide(ctx, r.caller, name, id, d); err != nil {
		return nil, err
	}
	return h.whole(ctx, r, name, id)
}

// begin makes a run, and answers when it has ended, or waits for somebody.
func (h projectHandlers) begin(ctx context.Context, r *request, name state.Name) (answer, error) {
	order, key := objectOr[api.ProjectRunOrder](r, fault.RunInvalid), r.idempotencyKey()
	if err := r.err(); err != nil {
		return nil, err
	}
	release, ok := h.waits.TryAcquire(r.caller.Org)
	if !ok {
		return nil, errCrowded("requests wait for runs")
	}
	defer release()
	id, err := h.service.Begin(ctx, r.caller, name, order, key)
	if err != nil {
		return nil, err
	}
	r.annotate(slog.String("run", id))
	middleware.Leave(r.c)
	waiting, stop := untilStop(ctx, h.stopping)
	defer stop()
	if err := h.service.Wait(waiting, r.caller, name, id); err != nil && ctx.Err() != nil {
		return nil, err
	}
	// That may have taken hours: who is answered is the caller as it is now.
	if err := middleware.StillGood(r.c); err != nil {
		return nil, revokedSince(err, id)
	}
	r.caller = middleware.Principal(r.c)
	return h.whole(ctx, r, name, id)
}

// revokedSince says that the run which was made is there all the same.
func revokedSince(err error, id string) error {
	if !fault.Is(err, fault.CredentialsRevoked) {
		return err
	}
	return fault.Wrap(err, fault.CredentialsRevoked,
		"these credentials were taken back while run %s was waited for; the run is there", id)
}

// inRun lets in who has a run's token, and answers everybody else as if they had shown nothing.
func inRun(c *gin.Context) {
	if middleware.Principal(c).Org != uuid.Nil && middleware.Principal(c).Run == nil {
		middleware.Fail(c, fault.New(fault.CredentialsNeeded, "a project's state is for its runs alone: show a run's token"))
	}
}

// infraState is the spelling of a project's state, which runs alone are shown.
func (h projectHandlers) infraState() dialect {
	return dialect{
		name: "infra", path: "/api/v1/infra/:project/state", absent: http.StatusNotFound,
		removed: http.StatusNotFound, stored: http.StatusOK,
		read: func(r *request) (state.Name, error) {
			return h.service.Name(r.c.Request.Context(), r.caller, r.inPath("project"))
		},
	}
}
