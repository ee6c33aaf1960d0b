package stateengine

import (
	"bytes"
	"crypto/sha256"
	"runtime"

	"github.com/klauspost/compress/zstd"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/seal"
	"github.com/holdfast/holdfast/state"
)

// MaxBody is the largest state: what doesn't compress must fit in a row as well, and
// SQLite's limit for a row is 1,000,000,000 bytes.
const MaxBody = 900 << 20

// How a body is stored. Later ones stand beside these in the same column.
const (
	EncodingRaw   = "raw"
	EncodingZstd  = "zstd"
	EncodingDelta = "delta"
)

// Stored is a body as a database keeps it.
type Stored struct {
	Encoding string
	Bytes    []byte
	Base     BaseID // of what a delta needs; zero for none
	// Digest and Content are what its row has for them.
	Digest, Content []byte
}

// Counted is how many bytes of what is sealed count as an organization's: not what sealing adds.
func (s Stored) Counted() int {
	if s.Encoding == "" {
		return 0
	}
	return len(s.Bytes) - seal.Overhead
}

// Codec compresses bodies. All calls share its few encoders and decoders and wait for a
// free one, which bounds their memory.
type Codec struct {
	encoder *zstd.Encoder
	scripts *zstd.Encoder
	decoder *zstd.Decoder
}

// NewCodec returns a codec, which the caller closes.
func NewCodec() (*Codec, error) {
	n := runtime.GOMAXPROCS(0)
	encoder, err := newEncoder(n)
	if err != nil {
		return nil, err
	}
	scripts, err := newScriptEncoder(n)
	if err != nil {
		return nil, err
	}
	decoder, err := newDecoder(n)
	if err != nil {
		return nil, err
	}
	return &Codec{encoder, scripts, decoder}, nil
}

// newEncoder makes no checksums: every body has a SHA-256.
func newEncoder(concurrency int) (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(concurrency), zstd.WithEncoderCRC(false))
}

func newDecoder(concurrency int) (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(concurrency),
		zstd.WithDecoderMaxMemory(MaxBody), zstd.WithDecodeAllCapLimit(true))
}

// Close ends the use of the codec.
func (c *Codec) Close() {
	_, _ = c.encoder.Close(), c.scripts.Close() // have no streams to finish
	c.decoder.Close()
}

// Encode compresses body, or keeps it as it is when that is no longer.
func (c *Codec) Encode(body []byte) Stored {
	if len(body) == 0 {
		return Stored{Encoding: EncodingRaw, Bytes: []byte{}} // nil would be stored as null
	}
	if packed := c.compress(body); len(packed) < len(body) {
		return Stored{Encoding: EncodingZstd, Bytes: packed}
	}
	return Stored{Encoding: EncodingRaw, Bytes: body}
}

// Decode returns the exact bytes that v describes, or a fault.StateCorrupt. base is what a
// delta needs; without it no delta is decoded. The result shares nothing with either.
func (c *Codec) Decode(v state.Version, s, base Stored) ([]byte, error) {
	if v.Size < 0 || v.Size > MaxBody {
		return nil, fault.New(fault.StateCorrupt, "version %d says that it has %d bytes, which can't be", v.Number, v.Size)
	}
	body, err := c.unpack(s, base, v.Size)
	if err != nil {
		return nil, fault.Wrap(err, fault.StateCorrupt,
			"the stored bytes of version %d can't be read; an operator must restore them", v.Number)
	}
	if int64(len(body)) != v.Size || sha256.Sum256(body) != v.Digest {
		return nil, fault.New(fault.StateCorrupt,
			"the stored bytes of version %d do not match their digest; an operator must restore them", v.Number)
	}
	return body, nil
}

// unpack decompresses into a buffer of the known size, and never beyond it.
func (c *Codec) unpack(s, base Stored, size int64) ([]byte, error) {
	switch s.Encoding {
	case EncodingRaw:
		return bytes.Clone(s.Bytes), nil
	case EncodingZstd:
		return c.decompress(s.Bytes, make([]byte, 0, size))
	case EncodingDelta:
		return c.patch(s.Bytes, base, size)
	case "":
		return nil, fault.New(fault.StateCorrupt, "the bytes are gone")
	default:
		return nil, fault.New(fault.StateCorrupt, "the encoding %q is unknown", s.Encoding)
	}
}

// ownDecoder is the size from which on a body has a decoder of its own. The shared ones keep
// what they decoded last from the garbage collector, each of them a body.
const ownDecoder = 4 << 20

func (c *Codec) decompress(packed, room []byte) ([]byte, error) {
	if cap(room) < ownDecoder {
		return c.decoder.DecodeAll(packed, room)
	}
	decoder, err := newDecoder(1)
	if err != nil {
		return nil, err
	}
	defer decoder.Close()
	return decoder.DecodeAll(packed, room)
}
