package handlers

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"io"
	"net/http"
	"strings"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/runs"
)

// What executors may send at once.
const (
	maxClaimBytes  = 16 << 10
	maxLeaseBytes  = 1 << 20 // it names what is in flight
	maxReportBytes = 2 << 20 // it has the tool's diagnostics
	// A server has as many of them wait at once, and as many of one organization's.
	maxWaits, maxOwnWaits = 2000, 400
	// maxFileBytes is more than a file may have, so that its own fault is told.
	maxFileBytes = 1 << 40
)

// executors is a verifier that lets those in who have a run, and tells who had one that it is
// theirs no more: no new credentials would help them.
type executors struct{ middleware.Verifier }

// Verify implements middleware.Verifier.
func (e executors) Verify(ctx context.Context, given auth.Credentials, client auth.Client) (auth.Principal, error) {
	p, err := e.Verifier.Verify(ctx, given, client)
	if auth.IsRunToken(given.Key) && (fault.Is(err, fault.CredentialsRevoked) || fault.Is(err, fault.KeyExpired)) {
		return p, fault.Wrap(err, fault.EpochOld, "the run is this executor's no more")
	}
	if err == nil && p.Run == nil {
		return p, fault.New(fault.RightMissing, "only the executor of a run may do that, with the token of its assignment")
	}
	return p, err
}

func (h runHandlers) poolCaller(ctx context.Context, _ *gin.Context, token string) (auth.Principal, error) {
	if h.service == nil {
		return auth.Principal{}, fault.New(fault.RunsOff, "this server keeps no runs")
	}
	return h.service.PoolCaller(ctx, token)
}

func (h runHandlers) agentCaller(ctx context.Context, c *gin.Context, secret string) (auth.Principal, error) {
	return h.service.AgentCaller(ctx, c.Param("agent"), secret)
}

// register makes an agent of a pool.
func (h runHandlers) register(ctx context.Context, r *request) (answer, error) {
	said := objectOr[api.AgentRegistration](r, fault.RunInvalid)
	token, err := middleware.BearerSecret(r.c.Request)
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	agent, secret, err := h.service.Register(ctx, r.caller, token, said)
	made := agent.Wire()
	made.Secret = secret
	return told{status: http.StatusCreated, body: made}, err
}

// claim gives an agent work, and has it wait for some.
func (h runHandlers) claim(ctx context.Context, r *request) (answer, error) {
	claim := objectOr[api.AgentClaim](r, fault.RunInvalid)
	secret, err := middleware.BearerSecret(r.c.Request)
	r.check(err)
	if err := r.err(); err != nil {
		return nil, err
	}
	worker, err := h.service.WorkerOf(ctx, r.inPath("agent"), secret, claim)
	if err != nil {
		return nil, err
	}
	if claim.Wait > 0 {
		release, ok := h.waits.TryAcquire(r.caller.Org)
		if !ok {
			return nil, errCrowded("requests wait for work")
		}
		defer release()
	}
	middleware.Leave(r.c)
	waiting, stop := untilStop(ctx, h.stopping)
	defer stop()
	found, err := h.service.Claim(waiting, worker, claim)
	switch {
	case found == nil && (err == nil || waiting.Err() != nil && ctx.Err() == nil):
		return nothing{http.StatusNoContent}, nil
	case err != nil:
		return nil, err
	}
	return tell(found), nil
}

// untilStop is a context that ends when the server stops.
func untilStop(ctx context.Context, stopping <-chan struct{}) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(ctx)
	if stopping == nil {
		return ctx, cancel
	}
	go func() {
		select {
		case <-stopping:
			cancel()
		case <-ctx.Done():
		}
	}()
	return ctx, cancel
}

func (h runHandlers) lease(ctx context.Context, r *request) (answer, error) {
	id, l := r.run(), objectOr[api.LeaseRenewal](r, fault.RunInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	lease, err := h.service.Renew(ctx, r.caller, id, l)
	if err != nil || l.Wait <= 0 {
		return tell(lease), err
	}
	release, ok := h.waits.TryAcquire(r.caller.Org)
	if !ok { // it is renewed, which must not fail; what is wanted is said the next time
		return tell(lease), nil
	}
	defer release()
	middleware.Leave(r.c)
	waiting, stop := untilStop(ctx, h.stopping)
	defer stop()
	return tell(h.service.AwaitWish(waiting, r.caller, l, lease)), nil
}

func (h runHandlers) phase(ctx context.Context, r *request) (answer, error) {
	id, report := r.run(), objectOr[api.PhaseReport](r, fault.RunInvalid)
	if err := r.err(); err != nil {
		return nil, err
	}
	said, err := h.service.Report(ctx, r.caller, id, report)
	return tell(said), err
}

// appendLog adds bytes to a log.
func (h runHandlers) appendLog(ctx context.Context, r *request) (answer, error) {
	id, stream, attempt, offset := r.run(), r.inPath("stream"), r.attempt(), r.offset()
	if err := r.err(); err != nil {
		return nil, err
	}
	end, err := h.service.AppendLog(ctx, r.caller, id, runs.Stream(stream), attempt, offset, r.body())
	return logAnswer(ctx, end, err)
}

// offset reads where in a log something begins; 0 where nothing is said.
func (r *request) offset() int64 { return int64(r.count("offset")) }

// putArtefact keeps a file that a stage has made, as it comes.
func (h runHandlers) putArtefact(ctx context.Context, r *request) (answer, error) {
	id, described := r.run(), api.Artefact{Kind: r.inPath("kind"), Attempt: r.attempt(), Digest: r.digest()}
	if err := r.err(); err != nil {
		return nil, err
	}
	hold := h.memory.Hold(budget.Share{Org: r.caller.Org, Holder: true})
	if err := hold.Acquire(ctx, pieceBytes); err != nil {
		return nil, err
	}
	defer hold.Release()
	middleware.Leave(r.c)
	kept, err := h.service.PutFile(ctx, r.caller, id, described, middleware.Stream(r.c, maxFileBytes))
	return tell(kept.Wire()), err
}

// digest reads the SHA-256 of the body, which must be given: in hexadecimal as X-Digest, or as
// Content-Digest (RFC 9530).
func (r *request) digest() string {
	if text := strings.ToLower(r.header.Get("X-Digest")); text != "" {
		if raw, err := hex.DecodeString(text); err == nil && len(raw) == 32 {
			return text
		}
	}
	for given := range strings.SplitSeq(r.header.Get("Content-Digest"), ",") {
		text, ok := strings.CutPrefix(strings.TrimSpace(given), "sha-256=:")
		if raw, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(text, ":")); ok && err == nil && len(raw) == 32 {
			return hex.EncodeToString(raw)
		}
	}
	r.check(fault.New(fault.DigestMismatch,
		"say the body's SHA-256: in hexadecimal as X-Digest, or as Content-Digest: sha-256=:…:"))
	return ""
}

// artefact sends a file that a stage has made.
func (h runHandlers) artefact(ctx context.Context, r *request) (answer, error) {
	id, kind, attempt := r.run(), r.inPath("kind"), r.attempt()
	if err := r.err(); err != nil {
		return nil, err
	}
	file, content, err := h.service.OpenFile(ctx, r.caller, id, runs.FileKind(kind), attempt)
	if err != nil {
		return nil, err
	}
	return h.pieces(r, streamed{"application/octet-stream", func(to io.Writer) error {
		_, err := io.Copy(to, content)
		return err
	}, func(header http.Header) {
		if file.Digest != "" {
			header.Set("X-Digest", file.Digest)
		}
	}}), nil
}

// configuration sends the run's configuration as a tar archive.
func (h runHandlers) configuration(ctx context.Context, r *request) (answer, error) {
	id := r.run()
	if err := r.err(); err != nil {
		return nil, err
	}
	write, err := h.service.Archive(ctx, r.caller, id)
	if err != nil {
		return nil, err
	}
	return h.pieces(r, streamed{"application/x-tar", write, nil}), nil
}
