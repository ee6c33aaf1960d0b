package stateengine

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A large body is compressed in a buffer of its own size, to guess by its middle, and
// whatever the guess was worth nothing is lost.
func TestLargeBodies(t *testing.T) {
	c, err := NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	random := make([]byte, ownEncoder)
	for i := range random {
		random[i] = byte(rand.Uint32())
	}
	zeros := make([]byte, ownEncoder)
	for name, test := range map[string]struct {
		body     []byte
		atMost   int
		encoding string
	}{
		"even":                   {bytes.Repeat([]byte(`{"id":"i-0abc"}`), ownEncoder/10), ownEncoder / 100, EncodingZstd},
		"dense at the end":       {append(zeros, random...), ownEncoder + 1<<16, EncodingZstd},
		"dense at the beginning": {append(bytes.Clone(random), zeros...), ownEncoder + 1<<16, EncodingZstd},
		"dense":                  {random, ownEncoder, EncodingRaw},
	} {
		t.Run(name, func(t *testing.T) {
			packed := c.Encode(test.body)
			if packed.Encoding != test.encoding || len(packed.Bytes) > test.atMost {
				t.Errorf("%d bytes as %s; want at most %d as %s", len(packed.Bytes), packed.Encoding, test.atMost, test.encoding)
			}
			if name == "even" && cap(packed.Bytes) > ownEncoder/10 {
				t.Errorf("the buffer has %d bytes", cap(packed.Bytes))
			}
			back, err := c.unpack(packed, Stored{}, int64(len(test.body)))
			if err != nil || !bytes.Equal(back, test.body) {
				t.Errorf("%d bytes back, %v; want the same %d", len(back), err, len(test.body))
			}
		})
	}
}
