package mask

import (
	"encoding/base64"
	"slices"
	"strings"
)

// addBase64 adds what a secret looks like in base64, whatever was encoded around it.
func (p patterns) addBase64(secret string) {
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 3 {
			p.addAligned(encoding, secret, before)
			p.addAligned(encoding, secret+"\n", before) // as echo has it
		}
		p.addLines(encoding.EncodeToString([]byte(secret)))
	}
}

// addAligned adds a secret that begins so many bytes behind a multiple of 3: as it is at the
// end of what was encoded, with and without padding, and as it is when more follows.
func (p patterns) addAligned(encoding *base64.Encoding, secret string, before int) {
	padded := encoding.EncodeToString(slices.Concat(make([]byte, before), []byte(secret)))
	// The first characters have bits of what comes before, or nothing but these.
	padded = padded[(before*8+5)/6:]
	bare := strings.TrimRight(padded, "=")
	p.add(padded, bare)
	if bare != padded {
		p.add(bare[:len(bare)-1]) // the last character would have bits of what follows
	}
}

// addLines adds the lines of what was encoded at usual widths.
func (p patterns) addLines(encoded string) {
	for _, width := range []int{64, 76} {
		if len(encoded) <= width {
			continue
		}
		for line := range slices.Chunk([]byte(encoded), width) {
			if len(line) >= leastLine {
				p.add(string(line), strings.TrimRight(string(line), "="))
			}
		}
	}
}
