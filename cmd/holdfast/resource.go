package main

import (
	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/internal/printable"
)

func newResourceCommand(a *app) *cobra.Command {
	cmd := newGroup("resource", "Find resources in all states and uploads, and what is in no state")
	cmd.AddCommand(newResourceSearchCommand(a), newResourceCoverageCommand(a), newResourceHistoryCommand(a))
	return cmd
}

// selection are the flags that search and coverage share.
type selection struct{ kind, provider, state string }

func (s *selection) add(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.kind, "type", "", "only this type, such as aws_instance")
	cmd.Flags().StringVar(&s.provider, "provider", "", "only this provider, such as aws")
	cmd.Flags().StringVar(&s.state, "state", "", "only in this state")
}

// resourceColumns are those of what has a resource in it.
func resourceColumns[T any](of func(T) api.Resource) []column[T] {
	shown := func(head string, when when, cell func(api.Resource) string) column[T] {
		return column[T]{head, when, func(item T) string { return cell(of(item)) }}
	}
	return []column[T]{
		shown("SOURCE", wide, func(r api.Resource) string { return r.Source }),
		shown("STATE", always, func(r api.Resource) string { return r.State }),
		shown("TYPE", wide, func(r api.Resource) string { return r.Type }),
		shown("ADDRESS", always, func(r api.Resource) string { return r.Address }),
		shown("ID", filled, func(r api.Resource) string { return r.Attributes["id"] }),
	}
}

// tell warns people of what is not in the answer.
func (a *app) tell(e api.Extent) {
	if !e.Complete {
		a.note("The index is behind: what was written last may be missing.")
	}
	if e.Limited {
		a.note("This key sees some of the states only.")
	}
	for _, one := range e.Unread {
		a.note("State %s is not in the answer: %s.", one.State, whyUnread(one.Code))
	}
	if e.UnreadMore {
		a.note("There are more such states.")
	}
}

// whyUnread says in words why something can't be looked into, with the code that stands
// for it.
func whyUnread(code api.ErrorCode) string {
	words := map[api.ErrorCode]string{
		"state_encrypted":          "encrypted by the client",
		"state_format_unsupported": "not of format version 4",
		"version_purged":           "its bytes were destroyed on purpose",
		"state_corrupt":            "its bytes are damaged",
	}[code]
	if words == "" {
		return printable.Text(string(code))
	}
	return words + " (" + string(code) + ")"
}
