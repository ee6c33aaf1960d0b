// Package local is what the server's own executor has its work from: the service of runs, in the
// same process. It does what the handlers do for agents, without HTTP.
package local

import (
	"context"
	"fmt"
	"io"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/runs"
)

// ID is the server's own executor's.
const ID = "builtin"

// Verifier recognises the tokens of runs.
type Verifier interface {
	VerifyRun(ctx context.Context, token string) (auth.Principal, error)
}

// Server implements agent.Server.
type Server struct {
	// Runs is the service of runs, Tokens recognises those that it gives.
	Runs   *runs.Service
	Tokens Verifier
	// Orgs returns those whose runs the executor takes.
	Orgs func() []uuid.UUID
}

// Register implements agent.Server. The server's own executor needs no pool.
func (s *Server) Register(context.Context, string, api.AgentRegistration) (api.Agent, error) {
	return api.Agent{ID: ID, Name: ID}, nil
}

// Claim implements agent.Server.
func (s *Server) Claim(ctx context.Context, _ agent.Identity, claim api.AgentClaim) (*api.Assignment, error) {
	orgs := s.Orgs()
	if err := s.Runs.ProveDead(ctx, orgs, ID, claim.BootID); err != nil {
		return nil, err
	}
	return s.Runs.Claim(ctx, runs.Worker{ID: ID, Name: ID, Orgs: orgs}, claim)
}

// Lease implements agent.Server.
func (s *Server) Lease(ctx context.Context, hold agent.Hold, r api.LeaseRenewal) (api.Lease, error) {
	p, err := s.Tokens.VerifyRun(ctx, hold.Token)
	if err != nil {
		return api.Lease{}, lost(err)
	}
	lease, err := s.Runs.Renew(ctx, p, hold.Run, r)
	if err != nil || r.Wait <= 0 {
		return lease, err
	}
	return s.Runs.AwaitWish(ctx, p, r, lease), nil
}

// AppendLog implements agent.Server.
func (s *Server) AppendLog(ctx context.Context, hold agent.Hold, offset int64, piece []byte) (int64, error) {
	p, err := s.Tokens.VerifyRun(ctx, hold.Token)
	if err != nil {
		return 0, lost(err)
	}
	return s.Runs.AppendLog(ctx, p, hold.Run, runs.Stream(hold.Stage), hold.Attempt, offset, piece)
}

// PutArtefact implements agent.Server.
func (s *Server) PutArtefact(ctx context.Context, hold agent.Hold, described api.Artefact,
	content io.ReadSeeker) error {
	p, err := s.Tokens.VerifyRun(ctx, hold.Token)
	if err != nil {
		return lost(err)
	}
	_, err = s.Runs.PutFile(ctx, p, hold.Run, described, content)
	return err
}

// OpenArtefact implements agent.Server.
func (s *Server) OpenArtefact(ctx context.Context, hold agent.Hold, kind string, attempt int) (io.ReadCloser, error) {
	p, err := s.Tokens.VerifyRun(ctx, hold.Token)
	if err != nil {
		return nil, lost(err)
	}
	_, content, err := s.Runs.OpenFile(ctx, p, hold.Run, runs.FileKind(kind), attempt)
	if err != nil {
		return nil, err
	}
	return io.NopCloser(content), nil
}

// OpenConfiguration implements agent.Server.
func (s *Server) OpenConfiguration(ctx context.Context, hold agent.Hold) (io.ReadCloser, error) {
	p, err := s.Tokens.VerifyRun(ctx, hold.Token)
	if err != nil {
		return nil, lost(err)
	}
	write, err := s.Runs.Archive(ctx, p, hold.Run)
	if err != nil {
		return nil, err
	}
	from, to := io.Pipe()
	go func() { to.CloseWithError(write(to)) }()
	return from, nil
}

// Report implements agent.Server.
func (s *Server) Report(ctx context.Context, hold agent.Hold, r api.PhaseReport) (api.PhaseAnswer, error) {
	p, err := s.Tokens.VerifyRun(ctx, hold.Token)
	if err != nil {
		return api.PhaseAnswer{}, lost(err)
	}
	return s.Runs.Report(ctx, p, hold.Run, r)
}

// lost is what an executor hears whose token is good no more.
func lost(err error) error {
	if fault.Is(err, fault.CredentialsRevoked) || fault.Is(err, fault.TokenRefused) ||
		fault.Is(err, fault.CredentialsWrong) {
		return fault.Wrap(fmt.Errorf("its token: %w", err), fault.EpochOld, "the run is this executor's no more")
	}
	return err
}
