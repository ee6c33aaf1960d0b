package handlers

import (
	"context"
	"errors"
	"io"
	"math"
	"net/http"
	"os"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/repos"
)

// webhooks answers what git servers tell. They have no credentials of the organization's: a signature of the body shows
// who they are, so the body is read first, in a place that is the repository's organization's, with the memory for it.
// Whoever knows a repository's ID gets only some of these places at one address.
type webhooks struct {
	service *repos.Service
	memory  *budget.Budget
	senders *turns.Turns // of an organization's at one address, those that have a place or wait for one
	places  *turns.Turns
	// patience is how long a body may take to arrive once it has its place; less in tests.
	patience time.Duration
}

const (
	// maxDelivery is the largest body of a delivery. Providers send much less of what is read here.
	maxDelivery = 5 << 20
	// maxDeliveries are read at once, of which an organization has maxOwnDeliveries.
	maxDeliveries    = 32
	maxOwnDeliveries = 8
	// maxSentAtOnce have a place or wait for one, of one address for an organization. All addresses together may have
	// any number: a bound of theirs could be used up for all organizations at one of them.
	maxSentAtOnce = 4
	// deliveryPatience is as long as providers wait for an answer.
	deliveryPatience = 10 * time.Second
)

func (d Deps) routeWebhooks(open section) {
	h := webhooks{d.Repositories, d.Limits.Memory, turns.New(math.MaxInt, maxSentAtOnce),
		turns.New(maxDeliveries, maxOwnDeliveries), deliveryPatience}
	o := op("receiveWebhook", "What a git server tells of a repository, in its own words; it is one of "+providerNames()).
		takesBytes(mediaJSON, nil).givesAs(http.StatusAccepted, api.WebhookReceipt{}).anyOther().
		fails(fault.RepositoryNotFound, fault.WebhookRefused, fault.WebhookInvalid, fault.WebhooksFull, fault.Busy,
			fault.BodyTooLarge, fault.BodyUnreadable, fault.BodyTooSlow, fault.Overloaded, fault.Interrupted,
			fault.StoreUnavailable, fault.StoreFull, fault.SealCorrupt, fault.SealKeyMissing)
	open.tagged(tagRepositories).route("POST", "/webhooks/:provider/:repository", o, h.receive)
}

func (h webhooks) receive(ctx context.Context, r *request) (answer, error) {
	hooked, err := h.service.Hooked(ctx, r.inPath("provider"), r.inPath("repository"))
	if err != nil {
		return nil, err
	}
	release, err := h.place(ctx, r, hooked.Org())
	if err != nil {
		return nil, err
	}
	defer release()
	body, letGo, err := h.read(r, hooked.Org())
	if err != nil {
		return nil, err
	}
	defer letGo()
	got, err := h.service.Receive(ctx, hooked, r.header.Get, body)
	status := "accepted"
	switch {
	case got.Kind == "":
		status = "ignored"
	case got.Repeat:
		status = "repeated"
	}
	return told{status: http.StatusAccepted, body: api.WebhookReceipt{Status: status, Kind: string(got.Kind)}}, err
}

// place waits for a place to read a body in, behind the others from the same address.
func (h webhooks) place(ctx context.Context, r *request, org uuid.UUID) (release func(), err error) {
	leave, err := h.senders.Acquire(ctx, uuid.NewSHA1(org, []byte(middleware.ClientNetwork(r.c))))
	if err != nil {
		return nil, err
	}
	give, err := h.places.Acquire(ctx, org)
	if err != nil {
		leave()
		return nil, err
	}
	return func() { give(); leave() }, nil
}

// read reads the body as it came, which is what the signature is of.
func (h webhooks) read(r *request, org uuid.UUID) ([]byte, func(), error) {
	length := r.c.Request.ContentLength
	if length > maxDelivery {
		return nil, nil, tooLong()
	}
	if length < 0 {
		length = maxDelivery
	}
	letGo := func() {}
	if h.memory != nil {
		hold := h.memory.Hold(budget.Share{Org: org})
		if err := hold.AcquireNow(3 * length); err != nil { // what is read of it, and of a form, takes as much again
			return nil, nil, err
		}
		letGo = hold.Release
	}
	control := http.NewResponseController(r.c.Writer)
	_ = control.SetReadDeadline(time.Now().Add(h.patience)) // a writer without deadlines, as in tests, reads without them
	body, err := io.ReadAll(http.MaxBytesReader(r.c.Writer, r.c.Request.Body, maxDelivery))
	if err == nil {
		_ = control.SetReadDeadline(time.Time{})
		return body, letGo, nil
	}
	letGo()
	if _, long := errors.AsType[*http.MaxBytesError](err); long {
		return nil, nil, tooLong()
	}
	if _, ours := errors.AsType[*fault.Error](err); ours {
		return nil, nil, err
	}
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil, nil, fault.Wrap(err, fault.BodyTooSlow, "the body arrived too slowly, or not at all")
	}
	return nil, nil, fault.Wrap(err, fault.BodyUnreadable, "the body could not be read")
}

func tooLong() error {
	return fault.New(fault.BodyTooLarge, "a delivery has at most %d MiB", maxDelivery>>20)
}
