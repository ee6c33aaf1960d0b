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

// A page may be short or empty and still be followed by others.
func TestListGoesOnOverEmptyPages(t *testing.T) {
	c, _ := answering(t, func(n int, w http.ResponseWriter, r *http.Request) {
		answers := []string{`{"things":[1],"next":"a"}`, `{"things":[],"next":"b"}`, `{"things":[],"next":"c"}`, `{"things":[2,3],"next":null}`}
		if cursor := r.URL.Query().Get("cursor"); n > len(answers) || cursor != []string{"", "a", "b", "c"}[n-1] {
			t.Errorf("call %d has the cursor %q", n, cursor)
		}
		_, _ = fmt.Fprint(w, answers[min(n, len(answers))-1])
	})
	var got string
	more, err := c.each(t.Context(), list{path: "things", member: "things", cursor: "cursor", limit: 3}, func(one json.RawMessage) error {
		got += string(one)
		return nil
	})
	if got != "123" || more || err != nil {
		t.Errorf("%q, %v, %v", got, more, err)
	}
}
