package main

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

func newResourceCommand(a *app) *cobra.Command {
	cmd := newGroup("resource", "Find resources in all states and uploads, and what is in no state")
	cmd.AddCommand(newResourceSearchCommand(a), newResourceCoverageCommand(a), newResourceHistoryCommand(a))
	return cmd
}

// placeFacts say where a resource stands.
type placeFacts struct{ Source, State, Address string }

// String is how it is named to people.
func (p placeFacts) String() string {
	if p.State == "" {
		return p.Address
	}
	return p.State + ": " + p.Address
}

// resourceFacts describe a resource.
type resourceFacts struct {
	placeFacts
	Type, Provider, Name string
	At                   time.Time
	Attributes           map[string]string
	Same                 []placeFacts
}

func (r resourceFacts) same() string {
	var places []string
	for _, place := range r.Same {
		places = append(places, place.String())
	}
	return strings.Join(places, ", ")
}

// selection are the flags that search and coverage share.
type selection struct{ kind, provider, state string }

func (s *selection) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.kind, "type", "", "only this type, such as aws_instance")
	cmd.Flags().StringVar(&s.provider, "provider", "", "only this provider, such as aws")
	cmd.Flags().StringVar(&s.state, "state", "", "only in this state")
}

func (s selection) values() url.Values {
	values := url.Values{}
	for name, value := range map[string]string{"type": s.kind, "provider": s.provider, "state": s.state} {
		if value != "" {
			values.Set(name, value)
		}
	}
	return values
}

func resourceColumns() []column[resourceFacts] {
	return []column[resourceFacts]{
		{"SOURCE", func(r resourceFacts) string { return r.Source }},
		{"STATE", func(r resourceFacts) string { return r.State }},
		{"TYPE", func(r resourceFacts) string { return r.Type }},
		{"ADDRESS", func(r resourceFacts) string { return r.Address }},
		{"ID", func(r resourceFacts) string { return r.Attributes["id"] }},
	}
}

// extentFacts say what an answer is of.
type extentFacts struct {
	Limited, Complete bool
	Unread            []struct{ State, Code string }
	UnreadMore        bool `json:"unread_more"`
}

// saw reads what an answer is of.
func (e *extentFacts) saw(answer map[string]json.RawMessage) {
	all, err := json.Marshal(answer)
	if err == nil {
		*e = extentFacts{}
		_ = json.Unmarshal(all, e) // what a server doesn't say is not shown
	}
}

// tell warns people of what is not in the answer.
func (a *app) tell(e extentFacts) {
	if !e.Complete {
		fmt.Fprintln(a.stderr, "The index is behind: what was written last may be missing.")
	}
	if e.Limited {
		fmt.Fprintln(a.stderr, "This key sees some of the states only.")
	}
	for _, one := range e.Unread {
		fmt.Fprintf(a.stderr, "State %s is not in the answer: %s.\n", printable(one.State), whyUnread(one.Code))
	}
	if e.UnreadMore {
		fmt.Fprintln(a.stderr, "There are more such states.")
	}
}

// whyUnread says in words why something can't be looked into, with the code that stands
// for it.
func whyUnread(code string) string {
	words := map[string]string{
		"state_encrypted":          "encrypted by the client",
		"state_format_unsupported": "not of format version 4",
		"version_purged":           "its bytes were destroyed on purpose",
		"state_corrupt":            "its bytes are damaged",
	}[code]
	if words == "" {
		return printable(code)
	}
	return words + " (" + code + ")"
}
