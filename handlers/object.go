package handlers

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
	"github.com/holdfast/holdfast/middleware"
)

const (
	// maxParts is how many values an order may have: more than a snapshot of the most files. A
	// body of nothing but small values would take many times its length.
	maxParts = 1 << 17
	// partBytes is what a value of an order takes beside its text.
	partBytes = 160
	// unacquired is what a request may take by itself.
	unacquired = 64 << 10
)

// object reads the body as one JSON object of a type of package api.
func object[T any](r *request) T { return objectOr[T](r, fault.WorkspaceInvalid) }

// objectOr is object with the code of the fault that the body is none.
func objectOr[T any](r *request, code fault.Code) (v T) {
	body := r.body()
	parts, err := partsOf(body)
	if err != nil {
		r.check(fault.Wrap(err, code, "the body is not one JSON object of this address: %v", err))
		return v
	}
	// The decoder has a copy of the body, and the texts in it are another one.
	if takes := 2*int64(len(body)) + parts*partBytes; takes > unacquired {
		if err := middleware.Beside(r.c, takes); err != nil {
			r.check(err)
			return v
		}
	}
	v, err = decode[T](body, code)
	if err != nil {
		r.check(err)
	}
	return v
}

// decodeObject is objectOr of a small body of somebody for whom nothing is acquired yet.
func decodeObject[T any](body []byte, code fault.Code) (v T, err error) {
	if _, err := partsOf(body); err != nil {
		return v, fault.Wrap(err, code, "the body is not one JSON object of this address: %v", err)
	}
	return decode[T](body, code)
}

func decode[T any](body []byte, code fault.Code) (v T, err error) {
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&v); err != nil {
		return v, fault.Wrap(err, code, "the body has %s", misfit(err))
	}
	return v, nil
}

// misfit says what the decoder did not take. It is not the error's text: that may quote a value, which may be a secret.
func misfit(err error) string {
	if typed, ok := errors.AsType[*json.UnmarshalTypeError](err); ok && isPlainName(typed.Field) {
		kind, _, _ := strings.Cut(typed.Value, " ") // of a number, the number follows
		return fmt.Sprintf("a member %q, which takes no %s", typed.Field, kind)
	}
	quoted, _ := strings.CutPrefix(err.Error(), `json: unknown field `)
	if name := strings.Trim(quoted, `"`); isPlainName(name) {
		return fmt.Sprintf("a member %q, which is unknown here", name)
	}
	return "a member that is unknown here, or one of another type"
}

// isPlainName reports whether a text is what a member is called, and hardly what a secret looks like.
func isPlainName(text string) bool {
	return text != "" && len(text) <= 40 && strings.Trim(text, "abcdefghijklmnopqrstuvwxyz_.") == ""
}

// partsOf checks the shape of an order, and counts its values.
func partsOf(body []byte) (n int64, err error) {
	limits := jsonscan.Limits{Depth: 4, Containers: maxParts, Names: maxParts}
	err = jsonscan.Walk(body, limits, func(*jsonscan.Value) error {
		if n++; n > 2*maxParts { // a container is reported twice
			return fmt.Errorf("it has more than %d values", maxParts)
		}
		return nil
	})
	return n, err
}
