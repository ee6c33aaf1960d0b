// Package hooks has hooks of the engine's that stand between a plan and what is done about it, and what looks
// for drift. They use nothing that others couldn't use.
package hooks

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/diag"
	"github.com/holdfast/holdfast/engine/oplog"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/internal/outbound"
)

// webhookPatience is how long one answer may take.
const webhookPatience = 30 * time.Second

// maxAnswer bounds what is read of an answer.
const maxAnswer = 64 << 10

// Webhook asks somebody, over HTTP, whether a plan may be done. It is asked with the state locked, before
// anything is done.
type Webhook struct {
	URL    string
	Client *http.Client

	// Open lets the apply go on when nobody answers. Otherwise it doesn't.
	Open bool

	// Policy says how often to ask; the zero one is that of calls of providers, with 30 seconds for each.
	Policy apply.Policy

	breaker apply.Breaker
}

// question is what is sent.
type question struct {
	ID    string          `json:"correlation_id"`
	Plan  json.RawMessage `json:"plan"`
	State json.RawMessage `json:"state"`
}

// answer is what comes back.
type answer struct {
	Result string `json:"result"` // APPROVED or REJECTED
	Reason string `json:"reason"`
}

// Hooks are to be given to an engine.
func (w *Webhook) Hooks() engine.Hooks { return engine.Hooks{BeforeApply: w.ask} }

func (w *Webhook) ask(ctx context.Context, p *plan.Plan) error {
	q := question{ID: oplog.ID(ctx)}
	var err error
	if q.Plan, err = p.JSON(); err != nil {
		return err
	}
	if q.State, err = p.Recorded.Bytes(); err != nil {
		return err
	}
	body, err := json.Marshal(q)
	if err != nil {
		return err
	}
	policy := w.Policy
	if policy.Attempts == 0 {
		policy = apply.DefaultPolicy()
		policy.Timeout = webhookPatience
	}
	var said answer
	_, err = policy.Do(ctx, func(ctx context.Context) error {
		if err := w.breaker.Allow("policy"); err != nil {
			return err
		}
		var err error
		said, err = w.send(ctx, body)
		w.breaker.Done(err)
		return err
	})
	switch {
	case err != nil && w.Open && unanswered(err):
		oplog.From(ctx, "hooks").WarnContext(ctx, "nobody says whether the plan may be done, so it is", "exception", err.Error())
		return nil
	case err != nil:
		return &diag.Error{Category: diag.Planning, Summary: "nobody says whether the plan may be done, so it isn't",
			Detail: err.Error(), Err: err}
	case said.Result == "APPROVED":
		return nil
	}
	return &diag.Error{Category: diag.Planning, Summary: "the policy rejects the plan", Detail: said.Reason}
}

// unanswered reports whether an error says that nobody answered. Whoever answers something else than was asked may be
// anybody, and lets nothing through.
func unanswered(err error) bool {
	fault, ok := errors.AsType[*diag.Error](err)
	return apply.Retryable(err) || ok && fault.Category == diag.Transient // the breaker is open
}

func (w *Webhook) send(ctx context.Context, body []byte) (said answer, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.URL, bytes.NewReader(body))
	if err != nil {
		return said, fmt.Errorf("the address of the policy can't be read")
	}
	request.Header.Set("Content-Type", "application/json")
	client := w.Client
	if client == nil {
		client = http.DefaultClient
	}
	response, err := client.Do(request)
	if err != nil {
		return said, &provider.Fault{Summary: "the policy can't be asked", Detail: outbound.WithoutAddress(err).Error(),
			Transient: true}
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer))
	if err != nil {
		return said, &provider.Fault{Summary: "the policy's answer broke off", Transient: true}
	}
	if response.StatusCode != http.StatusOK {
		return said, &provider.Fault{Summary: fmt.Sprintf("the policy answered %d", response.StatusCode),
			Code: response.StatusCode}
	}
	if err := json.Unmarshal(text, &said); err != nil || said.Result != "APPROVED" && said.Result != "REJECTED" {
		return said, &provider.Fault{Summary: "the policy's answer is neither APPROVED nor REJECTED"}
	}
	return said, nil
}
