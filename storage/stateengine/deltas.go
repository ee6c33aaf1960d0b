package stateengine

import (
	"encoding/binary"
	"errors"

	"github.com/klauspost/compress/zstd"

	"github.com/holdfast/holdfast/internal/delta"
)

// A version of a state is stored whole, or as what it has that another one, its base, has
// not. A base is whole itself: to read any version takes two rows.
const (
	// DeltaFrom and DeltaTo bound the bodies that are stored as deltas, in bytes. Smaller
	// ones save little beside their rows, and larger ones would take long to read. A delta of
	// 10 KB takes 1.0 KB on disk with its rows instead of 4.5, and a tenth of a cycle's CPU.
	DeltaFrom = 4 << 10
	DeltaTo   = 32 << 20
	// BaseTo bounds their bases.
	BaseTo = baseRatio * DeltaTo
	// baseRatio is how many times as long as a version its base may be.
	baseRatio = 2
	// GroupLength bounds how far the numbers of a version and its base lie apart: so few
	// versions are rewritten when a base goes, and so few are lost when one is damaged. It
	// may grow, but never shrink: what is there must be found again.
	GroupLength = 32
)

// newScriptEncoder makes the one for deltas. What is new in them repeats nothing, so it
// matters that digits take fewer bits than letters: they get a third shorter, in 10 µs.
func newScriptEncoder(concurrency int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithAllLitEntropyCompression(true),
		zstd.WithEncoderConcurrency(concurrency), zstd.WithWindowSize(1<<17), zstd.WithEncoderCRC(false))
}

// Difference encodes a body as a delta. ok is false when that would take more than about
// half of what the body takes by itself.
//
// It is quicker than Encode, by as much as there is less to compress: 0.1 ms of CPU for
// 1 MB with four changed resources, against 1.5.
func (c *Codec) Difference(from *Base, body []byte) (s Stored, ok bool) {
	script, ok := delta.Diff(from.Body, body, from.most(body))
	if !ok {
		return Stored{}, false
	}
	return c.delta(from, script), true
}

// most is how long a script may be that leads to body.
func (b *Base) most(body []byte) int { return min(len(body)*b.Packed/b.Size/2, len(body)/4) }

// delta stores a script that leads from a base.
func (c *Codec) delta(from *Base, script []byte) Stored {
	packed := binary.AppendUvarint(nil, uint64(from.Size))
	packed = binary.AppendUvarint(packed, uint64(len(script)))
	return Stored{Encoding: EncodingDelta, Bytes: c.scripts.EncodeAll(script, packed), Base: from.BaseID}
}

// patch undoes Difference.
func (c *Codec) patch(packed []byte, base Stored, size int64) ([]byte, error) {
	switch base.Encoding {
	case "":
		return nil, errors.New("the version that it is a delta of is gone")
	case EncodingDelta:
		return nil, errors.New("it is a delta of a delta")
	}
	baseSize, n := binary.Uvarint(packed)
	scriptSize, m := binary.Uvarint(packed[max(n, 0):])
	if n <= 0 || m <= 0 || baseSize > BaseTo || scriptSize > uint64(size) {
		return nil, errors.New("the delta's lengths can't be")
	}
	from, err := c.unpack(base, Stored{}, int64(baseSize))
	if err != nil {
		return nil, err
	}
	script, err := c.decompress(packed[n+m:], make([]byte, 0, scriptSize))
	if err != nil {
		return nil, err
	}
	return delta.Patch(from, script, int(size))
}
