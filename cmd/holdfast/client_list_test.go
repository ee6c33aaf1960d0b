package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"testing"
)

// A server whose list never goes on is left, not asked for ever.
func TestListEndsWhereTheServerStandsStill(t *testing.T) {
	c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
		if n > 5 {
			t.Error("asked again and again")
			w.WriteHeader(http.StatusTeapot)
			return
		}
		_, _ = fmt.Fprint(w, `{"things":[],"next":"here"}`)
	})
	_, err := c.each(t.Context(), list{path: "things", member: "things", cursor: "cursor"}, func(json.RawMessage) error { return nil })
	if !errors.Is(err, errNoFurther) {
		t.Errorf("%v, want %v", err, errNoFurther)
	}
}
