// Package heads signs the ends of audit chains, and sends them where who can write to the database can't write.
package heads

import (
	"bytes"
	"crypto/ed25519"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
)

// Head says that an organization's chain had come so far at some time, by whoever has the key.
type Head struct {
	Org     uuid.UUID `json:"organization"`
	At      time.Time `json:"at"`
	Head    string    `json:"head"` // audit.Mark as text
	Entries uint64    `json:"entries"`
	// Key is the public one, 32 bytes, and Signature is of the text.
	Key       []byte `json:"key"`
	Signature []byte `json:"signature"`
}

// Sign returns the head of a chain, signed.
func Sign(key ed25519.PrivateKey, org uuid.UUID, chain audit.Chain, at time.Time) Head {
	h := Head{Org: org, At: at.UTC().Truncate(time.Second), Head: chain.Head.String(), Entries: chain.Place,
		Key: key.Public().(ed25519.PublicKey)}
	h.Signature = ed25519.Sign(key, h.text())
	return h
}

// text is what is signed: five lines.
func (h Head) text() []byte {
	return fmt.Appendf(nil, "holdfast audit head 1\n%s\n%s\n%s\n%d\n",
		h.Org, h.At.UTC().Format(time.RFC3339), h.Head, h.Entries)
}

// Check returns why a head was not written by who has its key.
func (h Head) Check() error {
	if len(h.Key) != ed25519.PublicKeySize || !ed25519.Verify(h.Key, h.text(), h.Signature) {
		return errors.New("the signature is not of this head")
	}
	_, err := audit.ParseMark(h.Head)
	return err
}

// Line is a head as a line of JSON.
func (h Head) Line() []byte {
	line, _ := json.Marshal(h) // never fails
	return append(line, '\n')
}

// most is how large a file of heads may be.
const most = 256 << 20

// Read reads lines of heads, and checks each. A line that was cut off, as by a crash or a disk that was full, is passed
// over: its head came again.
func Read(from io.Reader) (all []Head, err error) {
	text, err := io.ReadAll(io.LimitReader(from, most+1))
	if err != nil {
		return nil, err
	}
	if len(text) > most {
		return nil, fmt.Errorf("the heads have more than %d MiB: give them in pieces", most>>20)
	}
	number := 0
	for line := range bytes.Lines(text) {
		number++
		var h Head
		err := json.NewDecoder(bytes.NewReader(bytes.TrimSuffix(line, []byte("\n")))).Decode(&h)
		if errors.Is(err, io.ErrUnexpectedEOF) {
			continue
		}
		if err == nil {
			err = h.Check()
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", number, err)
		}
		all = append(all, h)
	}
	return all, nil
}
