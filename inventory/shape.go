package inventory

import (
	"errors"
	"fmt"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

// malformed makes the scanner's error a fault with one detail.
func malformed(err error) error {
	detail := fault.Detail{Rule: rule(err)}
	if place, ok := errors.AsType[*jsonscan.PlaceError](err); ok {
		detail.Pointer = place.Pointer
	}
	f := fault.Wrap(err, fault.UploadMalformed, "the upload is malformed: %s; nothing was stored", detail.Rule)
	f.Details = []fault.Detail{detail}
	return f
}

// rule says what the scanner's error means. It tells the place, never what stands there.
func rule(err error) string {
	if e, ok := errors.AsType[*jsonscan.LimitError](err); ok {
		return fmt.Sprintf(limitRule(e.Limit)+" (byte offset %d)", e.Max, e.Offset)
	}
	if e, ok := errors.AsType[*jsonscan.DuplicateError](err); ok {
		return fmt.Sprintf("a name appears once in its object (byte offset %d)", e.Offset)
	}
	if e, ok := errors.AsType[*jsonscan.NULError](err); ok {
		return fmt.Sprintf("no string contains the character NUL (byte offset %d)", e.Offset)
	}
	if e, ok := errors.AsType[*jsonscan.NotObjectError](err); ok {
		return fmt.Sprintf("an upload is a JSON object, not %s (byte offset %d)", e.Kind, e.Offset)
	}
	if e, ok := errors.AsType[*jsonscan.SyntaxError](err); ok {
		return fmt.Sprintf("it is not valid JSON: %s (byte offset %d)", e.Reason, e.Offset)
	}
	return "it can't be read"
}

// limitRule is a format, of the limit.
func limitRule(limit string) string {
	switch limit {
	case "depth":
		return "objects and arrays are nested at most %d deep"
	case "names":
		return "there are at most %d names in all objects together"
	default:
		return "there are at most %d objects and arrays"
	}
}
