package state

import (
	"bytes"
	"strconv"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/jsonscan"
)

// withSerial returns the body with another serial, and every other byte as it was.
func withSerial(body []byte, serial uint64) ([]byte, error) {
	var at []byte
	err := jsonscan.Object(body, jsonscan.Limits{}, func(key, value []byte) error {
		if string(key) == "serial" {
			at = value
		}
		return nil
	})
	if err != nil {
		return nil, stateInvalid(err)
	}
	if at == nil {
		return nil, fault.New(fault.StateUnsupported, "the state has no serial that could be raised")
	}
	start := 0
	for &body[start] != &at[0] { // at is a part of body
		start++
	}
	return bytes.Join([][]byte{body[:start], strconv.AppendUint(nil, serial, 10), body[start+len(at):]}, nil), nil
}
