package dual

import (
	"bytes"
	"encoding/gob"
	"runtime"

	"github.com/klauspost/compress/zstd"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/inventory"
)

// maxBatch is more than any batch takes unpacked.
const maxBatch = 512 << 20

// codec packs resources, byte for byte. Its frames have checksums: the database has none.
type codec struct {
	encoder *zstd.Encoder
	decoder *zstd.Decoder
}

func newCodec() (*codec, error) {
	n := runtime.GOMAXPROCS(0)
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(n))
	if err != nil {
		return nil, err
	}
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(n), zstd.WithDecoderMaxMemory(maxBatch))
	if err != nil {
		return nil, err
	}
	return &codec{encoder, decoder}, nil
}

func (c *codec) close() {
	_ = c.encoder.Close() // has no stream to finish
	c.decoder.Close()
}

func (c *codec) pack(resources []inventory.Resource) ([]byte, error) {
	var plain bytes.Buffer
	if err := gob.NewEncoder(&plain).Encode(resources); err != nil {
		return nil, err
	}
	return c.encoder.EncodeAll(plain.Bytes(), nil), nil
}

func (c *codec) unpack(body []byte) ([]inventory.Resource, error) {
	plain, err := c.decoder.DecodeAll(body, nil)
	if err != nil {
		return nil, damaged(err)
	}
	var resources []inventory.Resource
	if err := gob.NewDecoder(bytes.NewReader(plain)).Decode(&resources); err != nil {
		return nil, damaged(err)
	}
	return resources, nil
}

func damaged(err error) error {
	return fault.Wrap(err, fault.StoreCorrupt, "a batch in the outbox is damaged; an operator must restore it")
}
