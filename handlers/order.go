package handlers

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/jsonscan"
)

const (
	maxOrderBytes = 16 << 10
	maxReason     = 1000 // characters
)

// order reads the order in the body, and checks its reason by reasoned.
func (r *request) order(reasoned func(string) (string, error)) api.Order {
	o, err := orderIn(r.body())
	if err == nil {
		o.Reason, err = reasoned(o.Reason)
	}
	r.check(err)
	return o
}

// reason reads the reason that must be in the query.
func (r *request) reason() string {
	text, err := needsReason(r.text("reason"))
	r.check(err)
	return text
}

// orderIn reads an order. No body at all is an empty one.
func orderIn(body []byte) (api.Order, error) {
	if len(body) == 0 {
		return api.Order{}, nil
	}
	if err := jsonscan.Shape(body, jsonscan.Limits{Depth: 1}); err != nil {
		return api.Order{}, fault.Wrap(err, fault.ParameterInvalid,
			"the body is not one JSON object with reason, lock_id, anyway and restore_purged")
	}
	decoder := json.NewDecoder(bytes.NewReader(body))
	decoder.DisallowUnknownFields()
	var o api.Order
	if err := decoder.Decode(&o); err != nil {
		return api.Order{}, fault.Wrap(err, fault.ParameterInvalid,
			"the body has reason and lock_id, which are text, anyway and restore_purged, which are true or false, and "+
				"nothing else")
	}
	return o, nil
}

// mayHaveReason checks what is recorded as one where it may be missing.
func mayHaveReason(text string) (string, error) {
	if text = strings.TrimSpace(text); text == "" {
		return "", nil
	}
	return needsReason(text)
}

// needsReason checks what is recorded as one.
func needsReason(text string) (string, error) {
	text = strings.TrimSpace(text)
	n := utf8.RuneCountInString(text)
	if n == 0 || n > maxReason || !utf8.ValidString(text) {
		return "", fault.New(fault.ReasonMissing, "say why, as `reason`, in 1 to %d characters; it is recorded", maxReason)
	}
	return text, nil
}
