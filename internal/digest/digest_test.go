package digest

import (
	"crypto/sha256"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReader(t *testing.T) {
	tooLong, broken := errors.New("too long"), errors.New("broken")
	over := func() error { return tooLong }
	r := NewReader(iotest.OneByteReader(strings.NewReader("hello")), 5, over)
	if text, err := io.ReadAll(r); string(text) != "hello" || err != nil || r.N != 5 || r.Failed != nil ||
		r.Sum() != sha256.Sum256([]byte("hello")) {
		t.Errorf("%q, %v: %+v", text, err, r)
	}
	for _, r := range []*Reader{NewReader(strings.NewReader("hello!"), 5, over),
		NewBounded(strings.NewReader("hello!"), 5, over)} {
		if text, err := io.ReadAll(r); len(text) > 5 || err != tooLong || r.Failed != tooLong {
			t.Errorf("%q, %v: %+v", text, err, r)
		}
	}
	counter := NewCounter(io.MultiReader(strings.NewReader("hello!"), iotest.ErrReader(broken)))
	if _, err := io.ReadAll(counter); err != broken || counter.Failed != broken || counter.N != 6 {
		t.Errorf("%v: %+v", err, counter)
	}
	if got := r.Sum().String(); got != "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824" {
		t.Errorf("the digest is %s", got)
	}
}
