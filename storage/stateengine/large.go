package stateengine

import "github.com/klauspost/compress/zstd"

const (
	// ownEncoder is the size from which on a body has an encoder of its own: the shared ones
	// keep 8 MiB each once they had a large body.
	ownEncoder = 4 << 20
	// sampled is the part of a large body that tells how well the rest will compress.
	sampled = 1 << 20
)

func (c *Codec) compress(body []byte) []byte {
	if len(body) < ownEncoder {
		return c.encoder.EncodeAll(body, nil)
	}
	encoder, err := newEncoder(1)
	if err != nil {
		return c.encoder.EncodeAll(body, nil)
	}
	defer encoder.Close()
	return encoder.EncodeAll(body, bufferFor(encoder, body))
}

// bufferFor returns a buffer that the compressed body will fit in, by the look of a part of
// it. Without one the encoder grows its own by a quarter at a time, and lets go of five times
// as much as the result has.
func bufferFor(encoder *zstd.Encoder, body []byte) []byte {
	packed := encoder.EncodeAll(body[len(body)/2:][:sampled], nil)
	return make([]byte, 0, len(body)/sampled*len(packed)/8*9)
}
