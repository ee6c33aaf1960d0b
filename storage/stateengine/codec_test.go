package stateengine

import (
	"bytes"
	"crypto/sha256"
	"runtime"
	"testing"

	"github.com/holdfast/holdfast/state"
)

// A codec keeps no large body that nobody else has.
func TestCodecLetsGoOfLargeBodies(t *testing.T) {
	c, err := NewCodec()
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	body := bytes.Repeat([]byte("resource "), ownDecoder)
	version := state.Version{Size: int64(len(body)), Digest: sha256.Sum256(body)}
	kept := c.Encode(body)
	before := inUse()
	for range 2 * runtime.GOMAXPROCS(0) { // so that each decoder has its turn
		if got, err := c.Decode(version, kept, Stored{}); err != nil || !bytes.Equal(got, body) {
			t.Fatalf("%d bytes, %v", len(got), err)
		}
	}
	if after := inUse(); after > before+uint64(len(body))/2 {
		t.Errorf("%d bytes are kept beside %d", after-before, before)
	}
	runtime.KeepAlive(body)
}

func inUse() uint64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
