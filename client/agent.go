package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"

	"github.com/holdfast/holdfast/api"
)

// The calls of an agent. Each takes the token that it is made with: a pool's for the first, the
// agent's own secret for a claim, the run's for all others. The client's own key is not sent.

// RegisterAgent presents an agent to the server, with its pool's token. The answer has the ID
// and the secret that it claims with.
func (c *Client) RegisterAgent(ctx context.Context, token string, r api.AgentRegistration) (api.Agent, error) {
	return ask[api.Agent](ctx, c.stranger(), bearing(token, http.MethodPost, "agents").with(r))
}

// ClaimRun asks for work. It returns nil where there is none.
func (c *Client) ClaimRun(ctx context.Context, agent, secret string, claim api.AgentClaim) (*api.Assignment, error) {
	response, err := c.stranger().send(ctx, bearing(secret, http.MethodPost, "agents", agent, "claim").with(claim))
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode == http.StatusNoContent {
		return nil, nil
	}
	assignment, err := readObject[api.Assignment](response.Body)
	return &assignment, err
}

// RenewLease is an executor's sign of life.
func (c *Client) RenewLease(ctx context.Context, token, run string, r api.LeaseRenewal) (api.Lease, error) {
	return ask[api.Lease](ctx, c.stranger(), bearing(token, http.MethodPost, "runs", run, "lease").with(r))
}

// ReportPhase says how a phase ended.
func (c *Client) ReportPhase(ctx context.Context, token, run string, r api.PhaseReport) (api.PhaseAnswer, error) {
	return ask[api.PhaseAnswer](ctx, c.stranger(), bearing(token, http.MethodPost, "runs", run, "phase").with(r))
}

// AppendRunLog writes a piece of a log at an offset, and returns where the log ends: also beside
// the error that there is a gap before the piece. Beside the error that the log has other bytes it
// returns where those begin.
func (c *Client) AppendRunLog(ctx context.Context, token, run, stream string, attempt int, offset int64,
	piece []byte) (int64, error) {
	r := bearing(token, http.MethodPut, "runs", run, "log", stream, strconv.Itoa(attempt))
	r.query = map[string]string{"offset": strconv.FormatInt(offset, 10)}
	r.header["Content-Type"] = octets
	r.body = bodyOf(bytes.NewReader(piece))
	answer, err := ask[api.LogEnd](ctx, c.stranger(), r)
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal.logEnd, err
	}
	return answer.End, err
}

// PutArtefact uploads a file that a stage made; its Digest and Size are those of the content.
func (c *Client) PutArtefact(ctx context.Context, token, run string, described api.Artefact,
	content io.Reader) (api.Artefact, error) {
	r := bearing(token, http.MethodPut, "runs", run, "artefacts", described.Kind, strconv.Itoa(described.Attempt))
	r.header["Content-Type"], r.header["X-Digest"] = octets, described.Digest
	r.body = bodyOf(content)
	return ask[api.Artefact](ctx, c.stranger(), r)
}

// OpenArtefact opens a file that a stage of the run made. The caller closes it.
func (c *Client) OpenArtefact(ctx context.Context, token, run, kind string, attempt int) (io.ReadCloser, error) {
	return c.stranger().open(ctx, bearing(token, http.MethodGet, "runs", run, "artefacts", kind, strconv.Itoa(attempt)))
}

// OpenRunConfiguration opens the run's configuration, as an archive in tar format. The caller
// closes it.
func (c *Client) OpenRunConfiguration(ctx context.Context, token, run string) (io.ReadCloser, error) {
	return c.stranger().open(ctx, bearing(token, http.MethodGet, "runs", run, "configuration"))
}

const octets = "application/octet-stream"

// stranger returns the client without its key: a token goes in its place.
func (c *Client) stranger() *Client {
	stranger := *c
	stranger.options.Key = ""
	return &stranger
}

// bearing returns a request with a token, for what is below these segments.
func bearing(token, method string, segments ...string) request {
	path := base
	for i, segment := range segments {
		if i > 0 {
			path += "/"
		}
		path += pathSegment(segment)
	}
	return request{method: method, path: path, header: map[string]string{"Authorization": "Bearer " + token}}
}

// logEndOf reads up to where a log is as its executor has it out of a refusal; 0 where it says
// nothing of it.
func logEndOf(raw json.RawMessage) int64 {
	var refusal api.LogRefusal
	if json.Unmarshal(raw, &refusal) != nil {
		return 0
	}
	return refusal.End
}
