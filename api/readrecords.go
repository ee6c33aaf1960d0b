package api

import (
	"encoding/json"
	"errors"
	"io"
)

// ErrForeign says that an answer is none of this package's shapes: no Holdfast server sent it.
var ErrForeign = errors.New("the answer is not what a Holdfast server sends")

// ReadRecords reads an answer that is Records and hands its records on one by one, as they came.
// It holds one of them at a time, and ends with each's first error. An answer that broke off is
// io.ErrUnexpectedEOF or io.EOF.
func ReadRecords(answer io.Reader, each func(record json.RawMessage) error) (end RecordsEnd, err error) {
	d := json.NewDecoder(answer)
	if err := expect(d, json.Delim('{')); err != nil {
		return end, err
	}
	for d.More() {
		name, err := d.Token()
		if err == nil {
			err = end.read(d, name, each)
		}
		if err != nil {
			return end, err
		}
	}
	return end, expect(d, json.Delim('}'))
}

func (e *RecordsEnd) read(d *json.Decoder, name json.Token, each func(json.RawMessage) error) error {
	switch name {
	case "data":
		return readElements(d, each)
	case "count":
		return d.Decode(&e.Count)
	case "next":
		return d.Decode(&e.Next)
	case "last":
		return d.Decode(&e.Last)
	}
	var other json.RawMessage
	return d.Decode(&other)
}

func readElements(d *json.Decoder, each func(json.RawMessage) error) error {
	if err := expect(d, json.Delim('[')); err != nil {
		return err
	}
	for d.More() {
		var element json.RawMessage
		if err := d.Decode(&element); err != nil {
			return err
		}
		if err := each(element); err != nil {
			return err
		}
	}
	return expect(d, json.Delim(']'))
}

func expect(d *json.Decoder, want json.Delim) error {
	token, err := d.Token()
	if err == nil && token != want {
		err = ErrForeign
	}
	return err
}
