package stateengine

import (
	"context"
	"errors"
	"runtime"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/delta"
	"github.com/holdfast/holdfast/internal/turns"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// detachers is how many purges and prunings store versions anew at once, one of each
// organization's.
const detachers = 2

// Bodies makes of bodies what is to be stored, and keeps the bases that help with that.
type Bodies struct {
	Codec *Codec
	Bases *Bases
	Seals *Seals
	// DeltaFrom is the constant; tests have all bodies stored as deltas.
	DeltaFrom int

	find      Find
	newest    func(state.Ref) (state.Snapshot, bool) // nil for none
	differing *turns.Turns                           // to look for differences, of which each takes two bodies
	detaching *turns.Turns                           // to store versions anew without a base, likewise
}

// Find looks a state's newest base up, among versions of from to to bytes that the client has not
// encrypted; nil when there is none. What it lent itself to do so it has given back when it returns.
type Find func(ctx context.Context, ref state.Ref, from, to int) (*Found, error)

// Found is a base whose body is to be decoded yet.
type Found struct {
	Base    Base
	Version state.Version
	Kept    Stored
}

// NewBodies returns one that looks bases up with find. The caller closes it.
func NewBodies(find Find) (*Bodies, error) {
	codec, err := NewCodec()
	if err != nil {
		return nil, err
	}
	processors := runtime.GOMAXPROCS(0)
	return &Bodies{
		Codec: codec, Bases: NewBases(BasesBytes), Seals: &Seals{}, DeltaFrom: DeltaFrom, find: find,
		differing: turns.New(processors, max(processors-1, 1)),
		detaching: turns.New(detachers, 1),
	}, nil
}

// Close ends the use of it.
func (b *Bodies) Close() { b.Codec.Close() }

// Encode makes of a body what is to be stored: a delta, and then from is its base; or the
// whole body.
func (b *Bodies) Encode(ctx context.Context, ref state.Ref, body []byte) (packed Stored, from *Base) {
	if len(body) >= b.DeltaFrom && len(body) <= DeltaTo {
		if packed, from = b.difference(ctx, ref, body); from != nil {
			return packed, from
		}
	}
	return b.Codec.Encode(body), nil
}

// Lend has newest versions compared with that newest returns, of those that are in memory anyway: any version will do,
// with its digest. It must be called before the Bodies are used.
func (b *Bodies) Lend(newest func(state.Ref) (state.Snapshot, bool)) { b.newest = newest }

// difference encodes body as a delta of the state's newest base; from is nil when there is
// none that helps. As many run at once as there are processors, which bounds the memory of
// the bases that they use.
func (b *Bodies) difference(ctx context.Context, ref state.Ref, body []byte) (packed Stored, from *Base) {
	release, err := b.differing.Acquire(ctx, ref.Org)
	if err != nil {
		return Stored{}, nil // it is stored whole
	}
	defer release()
	if from = b.Bases.Get(ref); from != nil {
		if !from.Serves(from.Newest+1, len(body)) {
			return Stored{}, nil
		}
		if from.Body == nil {
			script, ok, all := b.goOn(ref, from, body)
			if ok || all {
				return b.made(from, script, ok)
			}
			from = nil
		}
	}
	if from == nil {
		if from = b.load(ctx, ref); from == nil || !from.Serves(from.Newest+1, len(body)) {
			return Stored{}, nil
		}
	}
	script, ok := delta.Diff(from.Body, body, from.most(body))
	return b.made(from, script, ok)
}

// goOn makes a script from a base whose body is not in memory: it goes on from the newest version, if that is lent.
// all says that the base itself would be of no more help.
func (b *Bodies) goOn(ref state.Ref, from *Base, body []byte) (script []byte, ok, all bool) {
	if b.newest == nil {
		return nil, false, false
	}
	newest, some := b.newest(ref)
	if !some || newest.Digest != from.To {
		return nil, false, false
	}
	last, ok := delta.Diff(newest.Body, body, from.most(body))
	if ok {
		script, ok = delta.Join(newest.Body, from.Steps, last, from.most(body))
	}
	return script, ok, from.To == from.Digest
}

// made is a delta of a script, if there is one.
func (b *Bodies) made(from *Base, script []byte, ok bool) (Stored, *Base) {
	if !ok {
		return Stored{}, nil
	}
	from.Steps = script
	return b.Codec.delta(from, script), from
}

// load returns nil when there is no base, and when it can't be read: then the version
// stands on its own.
func (b *Bodies) load(ctx context.Context, ref state.Ref) *Base {
	found, err := b.find(ctx, ref, b.DeltaFrom, BaseTo)
	if err != nil || found == nil {
		return nil
	}
	v := found.Version
	found.Base.Number, found.Base.Digest, found.Base.Packed = v.Number, v.Digest, len(found.Kept.Bytes)
	found.Base.Body, err = b.Decode(b.Seals.Of(ctx, ref), Place{Number: v.Number}, v, found.Kept, Stored{})
	if err != nil {
		return nil
	}
	found.Base.Size = len(found.Base.Body)
	b.Bases.Keep(ref, found.Base)
	return &found.Base
}

// Decode opens what a row has of a body of e's state, and returns the exact bytes. base is what a delta needs, whose
// number own.Base has. What is damaged, or is not what was sealed for this place, is a fault.StateCorrupt.
func (b *Bodies) Decode(e Envelope, p Place, v state.Version, own, base Stored) (_ []byte, err error) {
	if own, err = e.Open(p, own); err == nil && own.Encoding == EncodingDelta {
		base, err = e.Open(Place{Number: own.Base.Number}, base)
	}
	if fault.Is(err, fault.SealCorrupt) || errors.Is(err, seal.ErrUnknownKey) {
		err = fault.Wrap(err, fault.StateCorrupt, "the stored bytes of version %d are not what was sealed for it: they were "+
			"changed, damaged or put there from elsewhere; an operator must restore them", v.Number)
		b.Seals.tell(e, p, err)
	}
	if err != nil {
		return nil, err
	}
	return b.Codec.Decode(v, own, base)
}

// Learn takes in what an update of this body has recorded.
func (b *Bodies) Learn(u *Update, body []byte) {
	v := u.Head.Version
	switch {
	case u.Row == 0:
	case u.From != nil:
		known := *u.From
		known.Newest, known.To = v.Number, v.Digest
		b.Bases.Keep(u.Ref, known)
	case u.Size < b.DeltaFrom || u.Size > BaseTo:
		b.Bases.Drop(u.Ref)
	default:
		known := Base{BaseID: BaseID{u.Row, v.Number, v.Digest}, Kept: u.kept, Body: body, Size: len(body),
			Packed: len(u.Body.Bytes), Newest: v.Number, Steps: delta.Whole(len(body)), To: v.Digest}
		if v.Encrypted {
			known.Body, known.Size, known.Steps = nil, 0, nil
		}
		b.Bases.Keep(u.Ref, known)
	}
}
