// Package remote is an executor's server over HTTP.
package remote

import (
	"context"
	"errors"
	"io"

	"github.com/holdfast/holdfast/agent"
	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/fault"
)

// Server is an agent.Server that asks over HTTP. The zero value is of no use: see New.
type Server struct{ client *client.Client }

var _ agent.Server = Server{}

// New returns the server that a client asks.
func New(c *client.Client) Server { return Server{c} }

// Register implements agent.Server.
func (s Server) Register(ctx context.Context, token string, r api.AgentRegistration) (api.Agent, error) {
	made, err := s.client.RegisterAgent(ctx, token, r)
	return made, faultOf(err)
}

// Claim implements agent.Server.
func (s Server) Claim(ctx context.Context, as agent.Identity, claim api.AgentClaim) (*api.Assignment, error) {
	found, err := s.client.ClaimRun(ctx, as.ID, as.Secret, claim)
	if err != nil {
		return nil, faultOf(err)
	}
	return found, nil
}

// Lease implements agent.Server.
func (s Server) Lease(ctx context.Context, hold agent.Hold, r api.LeaseRenewal) (api.Lease, error) {
	lease, err := s.client.RenewLease(ctx, hold.Token, hold.Run, r)
	return lease, faultOf(err)
}

// AppendLog implements agent.Server.
func (s Server) AppendLog(ctx context.Context, hold agent.Hold, offset int64, piece []byte) (int64, error) {
	end, err := s.client.AppendRunLog(ctx, hold.Token, hold.Run, hold.Stage, hold.Attempt, offset, piece)
	return end, faultOf(err)
}

// PutArtefact implements agent.Server.
func (s Server) PutArtefact(ctx context.Context, hold agent.Hold, described api.Artefact, content io.ReadSeeker) error {
	_, err := s.client.PutArtefact(ctx, hold.Token, hold.Run, described, content)
	return faultOf(err)
}

// OpenArtefact implements agent.Server.
func (s Server) OpenArtefact(ctx context.Context, hold agent.Hold, kind string, attempt int) (io.ReadCloser, error) {
	content, err := s.client.OpenArtefact(ctx, hold.Token, hold.Run, kind, attempt)
	return content, faultOf(err)
}

// OpenConfiguration implements agent.Server.
func (s Server) OpenConfiguration(ctx context.Context, hold agent.Hold) (io.ReadCloser, error) {
	content, err := s.client.OpenRunConfiguration(ctx, hold.Token, hold.Run)
	return content, faultOf(err)
}

// Report implements agent.Server.
func (s Server) Report(ctx context.Context, hold agent.Hold, r api.PhaseReport) (api.PhaseAnswer, error) {
	answer, err := s.client.ReportPhase(ctx, hold.Token, hold.Run, r)
	return answer, faultOf(err)
}

// faultOf returns the fault that a refusal was on the server. What is no refusal of Holdfast's,
// such as the answer of a proxy, stays what it is.
func faultOf(err error) error {
	refusal, ok := errors.AsType[*client.Error](err)
	if !ok || refusal.Code == "" {
		return err
	}
	f := fault.Wrap(err, fault.Code(refusal.Code), "%s", refusal.Message)
	f.RetryAfter = refusal.RetryAfter
	return f
}
