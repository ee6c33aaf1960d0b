package handlers

import (
	"encoding/base64"
	"testing"

	"github.com/holdfast/holdfast/resources"
)

// A cursor holds all that the next call needs; one that no call can have given is refused.
func TestStepCursor(t *testing.T) {
	for _, q := range []resources.HistoryQuery{
		{From: 1, Newer: 0, Address: "a"},
		{From: 3, Newer: 3, Address: `a["b"]`},
		{From: 3, Newer: 104, Address: "a"},
	} {
		var got resources.HistoryQuery
		if text := stepCursor(q); text == nil || !readStep(*text, &got) || got != q {
			t.Errorf("%+v came back as %+v", q, got)
		}
	}
	if stepCursor(resources.HistoryQuery{Address: "a", Newer: 1}) != nil {
		t.Error("the end has a cursor")
	}
	for _, text := range []string{`{"behind":0,"newer":1,"address":"a"}`, `{"behind":2,"newer":1,"address":"a"}`,
		`{"behind":2,"newer":9223372036854775808,"address":"a"}`, `{"behind":9223372036854775808,"newer":0,"address":"a"}`,
		`{"behind":1,"newer":0,"address":""}`, `{"from":1,"address":"a"}`} {
		if readStep(base64.RawURLEncoding.EncodeToString([]byte(text)), &resources.HistoryQuery{}) {
			t.Errorf("%s was taken", text)
		}
	}
}
