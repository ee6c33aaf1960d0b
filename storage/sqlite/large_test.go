package sqlite

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// A large body is compressed in a buffer of its own size, to guess by its middle, and
// whatever the guess was worth nothing is lost.
func TestLargeBodies(t *testing.T) {
	c, err := newCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
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
		"even":                   {bytes.Repeat([]byte(`{"id":"i-0abc"}`), ownEncoder/10), ownEncoder / 100, encodingZstd},
		"dense at the end":       {append(zeros, random...), ownEncoder + 1<<16, encodingZstd},
		"dense at the beginning": {append(bytes.Clone(random), zeros...), ownEncoder + 1<<16, encodingZstd},
		"dense":                  {random, ownEncoder, encodingRaw},
	} {
		t.Run(name, func(t *testing.T) {
			packed := c.encode(test.body)
			if packed.encoding != test.encoding || len(packed.bytes) > test.atMost {
				t.Errorf("%d bytes as %s; want at most %d as %s", len(packed.bytes), packed.encoding, test.atMost, test.encoding)
			}
			if name == "even" && cap(packed.bytes) > ownEncoder/10 {
				t.Errorf("the buffer has %d bytes", cap(packed.bytes))
			}
			back, err := c.unpack(packed, stored{}, int64(len(test.body)))
			if err != nil || !bytes.Equal(back, test.body) {
				t.Errorf("%d bytes back, %v; want the same %d", len(back), err, len(test.body))
			}
		})
	}
}
