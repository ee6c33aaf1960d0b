package repos

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/repos/gitmirror"
	"github.com/holdfast/holdfast/repos/hook"
)

// Event is a pull request, or a comment on one, that a provider has told of. The provider has sent it, and
// strangers have written it: who acts on it asks the provider who somebody is and what is true.
type Event struct {
	Org        uuid.UUID
	Repository string
	hook.Event
}

// Moved are branches that have other commits than before.
type Moved struct {
	Org        uuid.UUID
	Repository string
	Branches   []gitmirror.Moved
}

// OnMoved has a function told of each fetch that has moved branches, or that fails or goes well other than the one
// before, in this process. It must not take long. It is called before Run.
func (s *Service) OnMoved(tell func(context.Context, Moved)) { s.onMoved = append(s.onMoved, tell) }

// OnEvent has a function told of each pull request and comment. Each is told at least once, and again after an error
// or when a process died: Event.Delivery tells repetitions. It is called before Run.
func (s *Service) OnEvent(tell func(context.Context, Event) error) {
	s.onEvent = append(s.onEvent, tell)
}

// OnRemove has a function told of each repository that is to be removed, before it is. An error keeps it. It is called
// before Run.
func (s *Service) OnRemove(tell func(ctx context.Context, org uuid.UUID, name string) error) {
	s.onRemove = append(s.onRemove, tell)
}

func (s *Service) tellMoved(ctx context.Context, r Repository, all []gitmirror.Moved) {
	for _, tell := range s.onMoved {
		tell(ctx, Moved{r.Org, r.Name, all})
	}
}

const (
	// deliveryMemory is for how long deliveries are remembered. What is older is refused, if it says when it was.
	deliveryMemory = 48 * time.Hour
	// deliveryTime is how long dealing with one may take; then it is somebody else's.
	deliveryTime = time.Minute
	maxDelivery  = 200
)

// Hooked is a repository that a delivery is for.
type Hooked struct {
	repository Repository
	provider   hook.Provider
	secret     []byte
}

// Org is whose it is.
func (h Hooked) Org() uuid.UUID { return h.repository.Org }

// Hooked finds what a delivery is for by its address, before its body is read. Fault: RepositoryNotFound, also where
// the repository is another provider's.
func (s *Service) Hooked(ctx context.Context, provider, id string) (Hooked, error) {
	parsed, err := uuid.Parse(id)
	if err != nil || parsed.String() != id {
		return Hooked{}, fault.New(fault.WebhookInvalid, "the address does not end in the ID of a repository")
	}
	r, err := s.Store.ByID(ctx, parsed)
	if err != nil {
		return Hooked{}, err
	}
	if string(r.Settings.Provider) != provider {
		return Hooked{}, notFound(id)
	}
	secrets, err := s.open(ctx, r)
	return Hooked{r, r.Settings.Provider, []byte(secrets.Webhook)}, err
}

// Received is what became of a delivery.
type Received struct {
	Kind   hook.Kind // empty where it is about nothing that matters here
	Repeat bool      // it was dealt with before
}

// Receive deals with a delivery. Faults: WebhookRefused, WebhookInvalid, WebhooksFull, Busy.
func (s *Service) Receive(ctx context.Context, h Hooked, header hook.Header, body []byte) (Received, error) {
	if !hook.IsSigned(h.provider, header, body, h.secret) {
		return Received{}, fault.New(fault.WebhookRefused, "the delivery is not signed with this repository's secret")
	}
	e, err := hook.Parse(h.provider, header, body)
	if err != nil {
		return Received{}, fault.New(fault.WebhookInvalid, "the delivery can't be read: %v", err)
	}
	if e.Kind == "" {
		return Received{}, nil
	}
	if e.Delivery == "" || len(e.Delivery) > maxDelivery {
		return Received{}, fault.New(fault.WebhookInvalid, "the delivery has no ID of 1 to %d bytes", maxDelivery)
	}
	if !e.At.IsZero() && e.Kind == hook.Comment && e.At.Before(s.clock().Add(-deliveryMemory)) {
		return Received{}, fault.New(fault.WebhookInvalid, "the delivery is about something of more than 48 hours ago")
	}
	return s.once(ctx, h, e, body)
}

// once deals with a delivery unless somebody has. The ID isn't signed, so the body counts as well: who has seen a
// delivery can't send it again under another ID. What was dealt with before the repository got other settings or
// secrets, another address say, is dealt with again: it may have come to nothing because of these. A push may come
// again, however often: it is only looked for, and of it nothing is remembered that could become too much.
func (s *Service) once(ctx context.Context, h Hooked, e hook.Event, body []byte) (Received, error) {
	r := h.repository
	if e.Kind == hook.Push {
		return Received{Kind: e.Kind}, s.deal(ctx, r, e)
	}
	of := strconv.FormatInt(r.Revision, 10) + " "
	keys := []string{keyOf("id", []byte(of+e.Delivery)), keyOf("body", append([]byte(of), body...))}
	now := s.clock()
	known, err := s.Store.BeginDelivery(ctx, r.Org, r.ID, keys, now, now.Add(-deliveryTime), s.Limits.Deliveries)
	switch {
	case err != nil:
		return Received{}, err
	case known == DeliveryDone:
		return Received{Kind: e.Kind, Repeat: true}, nil
	case known == DeliveryBegun:
		return Received{}, fault.New(fault.Busy, "this delivery is being dealt with; send it again later")
	}
	err = s.deal(ctx, r, e)
	if ended := s.Store.EndDelivery(context.WithoutCancel(ctx), r.Org, r.ID, keys, err == nil); ended != nil {
		err = errors.Join(err, ended)
	}
	return Received{Kind: e.Kind}, err
}

func (s *Service) deal(ctx context.Context, r Repository, e hook.Event) error {
	if e.Kind == hook.Push || e.Kind == hook.Pull && e.Action == hook.Merged {
		if err := s.Store.Hint(ctx, r.Org, r.ID, r.Status.soonest(s.clock())); err != nil {
			return err
		}
		s.rouse()
	}
	if e.Kind == hook.Push {
		return nil
	}
	for _, tell := range s.onEvent {
		if err := tell(ctx, Event{r.Org, r.Name, e}); err != nil {
			return err
		}
	}
	return nil
}

func keyOf(what string, content []byte) string {
	sum := sha256.Sum256(content)
	return what + ":" + hex.EncodeToString(sum[:])
}
