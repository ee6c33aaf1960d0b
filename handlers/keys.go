package handlers

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/auth/keys"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

// KeyUses says when and from where a key was last used; zero where that is not known.
type KeyUses func(org uuid.UUID, id string) (at time.Time, from string)

// keyHandlers serve what is about keys.
type keyHandlers struct {
	service *keys.Service
	uses    KeyUses
	now     func() time.Time
}

const (
	// maxKeyOrder is what a key that is wanted may take, in bytes: a hundred patterns of the longest.
	maxKeyOrder = 64 << 10
	// usualOverlap is how long an old key stays good, unless its rotation says otherwise.
	usualOverlap = 7 * 24 * time.Hour
)

// routeKeys routes what is about keys.
func (d Deps) routeKeys(at section, known gin.HandlerFunc, guard *middleware.Guard) {
	h := keyHandlers{d.KeyEdits, d.KeyUses, d.Now}
	group := at.under("/api/v1/keys", known, guard.States(nil))
	changes := []fault.Code{fault.KeyInvalid, fault.KeysReadOnly}
	group.route("GET", "", op("listKeys",
		"The organization's keys, without their texts").gives(api.Keys{}).needs(auth.ReadKeys), h.list, middleware.Admit(0))
	group.route("POST", "", op("makeKey",
		"Make a key, whose text is shown once").takes(api.KeyWanted{}).givesAs(http.StatusCreated, api.KeyMade{}).
		needs(auth.ManageKeys).fails(changes...), h.make, middleware.Admit(maxKeyOrder))
	group.route("POST", "/:key/rotate",
		op("rotateKey", "Make a key that takes another one's place").mayTake(api.KeyRotation{}).givesAs(http.StatusCreated,
			api.KeyMade{}).
			needs(auth.ManageKeys).fails(append(changes, fault.KeyNotFound)...), h.rotate, middleware.Admit(maxKeyOrder))
	group.route("DELETE", "/:key",
		op("revokeKey", "Revoke a key").gives(api.KeyRevoked{}).needs(auth.ManageKeys).fails(append(changes,
			fault.KeyNotFound, fault.KeyLast)...),
		h.revoke, middleware.Admit(0))
}

func (h keyHandlers) list(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	all, err := h.service.List(ctx, r.caller)
	if err != nil {
		return nil, err
	}
	return tell(api.Keys{Keys: items(all, func(k keys.Key) api.Key { return h.keyOf(r.caller, k) })}), nil
}

func (h keyHandlers) keyOf(p auth.Principal, k keys.Key) api.Key {
	said := api.Key{
		ID: k.ID, Name: k.Name, Kind: "key", Role: string(k.Role), States: k.States.List(), Expires: orNever(k.Expires),
		Label: k.Label, Own: k.ID == p.KeyID,
	}
	if kind, _, rule := strings.Cut(k.ID, "."); rule {
		said.Kind = kind
	}
	for _, network := range k.From {
		said.From = append(said.From, network.String())
	}
	if h.uses != nil {
		at, from := h.uses(p.Org, k.ID)
		said.UsedAt, said.UsedFrom = orNever(at), from
	}
	return said
}

// orNever makes the zero time null.
func orNever(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC()
	return &t
}

func (h keyHandlers) make(ctx context.Context, r *request) (answer, error) {
	order := objectOr[api.KeyWanted](r, fault.KeyInvalid)
	wanted := keys.Wanted{Name: order.Name, Label: order.Label, Grant: auth.Grant{Role: auth.Role(order.Role)}}
	if order.States != nil {
		patterns, err := auth.ParsePatterns(strings.Join(order.States, ","))
		r.check(keyInvalid(err))
		wanted.States = patterns
	}
	if order.Expires != nil {
		wanted.Expires = order.Expires.UTC()
	}
	if order.From != nil {
		networks, err := keys.ReadNetworks(order.From)
		r.check(keyInvalid(err))
		wanted.From = networks
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	made, text, err := h.service.Make(ctx, r.caller, wanted)
	if err != nil {
		return nil, err
	}
	return told{status: http.StatusCreated, body: api.KeyMade{Key: h.keyOf(r.caller, made), Text: text}}, nil
}

func keyInvalid(err error) error {
	if err == nil {
		return nil
	}
	return fault.Wrap(err, fault.KeyInvalid, "there can't be such a key: %v", err)
}

func (h keyHandlers) rotate(ctx context.Context, r *request) (answer, error) {
	var order api.KeyRotation
	if len(r.body()) > 0 {
		order = objectOr[api.KeyRotation](r, fault.KeyInvalid)
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	rotation := keys.Rotation{Until: h.now().Add(usualOverlap), Label: order.Label}
	if order.Until != nil {
		rotation.Until = order.Until.UTC()
	}
	if order.Expires != nil {
		rotation.Expires = order.Expires.UTC()
	}
	made, old, text, err := h.service.Rotate(ctx, r.caller, r.inPath("key"), rotation)
	if err != nil {
		return nil, err
	}
	before := h.keyOf(r.caller, old)
	return told{status: http.StatusCreated, body: api.KeyMade{Key: h.keyOf(r.caller, made), Text: text, Old: &before}}, nil
}

func (h keyHandlers) revoke(ctx context.Context, r *request) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	gone, left, err := h.service.Revoke(ctx, r.caller, r.inPath("key"))
	if err != nil {
		return nil, err
	}
	return tell(api.KeyRevoked{Key: h.keyOf(r.caller, gone), Left: left}), nil
}
