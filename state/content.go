package state

import (
	"context"
	"crypto/sha256"
	"errors"
	"hash"

	"github.com/holdfast/holdfast/internal/jsonscan"
)

// What clients write of one apply differs in its serial from try to try: errored.tfstate has
// another one than the write that was refused, and `state push` raises it once more, and the file
// is indented otherwise. All of these are one candidate, so a candidate is known by its content.
// To find that out takes a look at all bytes, for which a decision has no time: it ends with
// errContent, and is made again with the content.
var errContent = errors.New("state: the content of what is to be kept was not looked at")

// decide has the store record what a decision of the call says; where that needs the body's content, it is
// asked again. decision returns it with what the call knows by then.
func (s *Service) decide(ctx context.Context, ref Ref, body []byte, call *call, decision func() Decide) (Head, error) {
	head, err := s.update(ctx, ref, body, call.actor, decision())
	if !errors.Is(err, errContent) {
		return head, err
	}
	content := contentOf(body)
	call.content = &content
	return s.update(ctx, ref, body, call.actor, decision())
}

// contentOf is a digest of a body without its serial, and without the white space around its
// values. It is the digest of the bytes where they are no JSON object, which no state is.
func contentOf(body []byte) Digest {
	serial, err := serialIn(body)
	if err != nil {
		return sha256.Sum256(body)
	}
	c := compactor{to: sha256.New()}
	start := offsetIn(body, serial)
	c.write(body[:start])
	c.write(body[start+len(serial):])
	return Digest(c.to.Sum(nil))
}

// compactor passes on JSON without the white space around its values.
type compactor struct {
	to                hash.Hash // never fails
	inString, escaped bool
}

func (c *compactor) write(text []byte) {
	from := 0
	for i, b := range text {
		switch {
		case c.escaped:
			c.escaped = false
		case c.inString && b == '\\':
			c.escaped = true
		case b == '"':
			c.inString = !c.inString
		case !c.inString && (b == ' ' || b == '\n' || b == '\r' || b == '\t'):
			c.to.Write(text[from:i])
			from = i + 1
		}
	}
	c.to.Write(text[from:])
}

// serialIn returns the serial's text, a part of the body; empty at the body's end without one.
func serialIn(body []byte) (at []byte, err error) {
	at = body[len(body):]
	err = jsonscan.Object(body, jsonscan.Limits{}, func(key, value []byte) error {
		if string(key) == "serial" {
			at = value
		}
		return nil
	})
	return at, err
}

// offsetIn is where a part of the body begins.
func offsetIn(body, part []byte) int {
	if len(part) == 0 {
		return len(body)
	}
	start := 0
	for &body[start] != &part[0] {
		start++
	}
	return start
}
