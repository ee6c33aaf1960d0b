package server

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/auth/authfile"
	"github.com/holdfast/holdfast/internal/webhook"
)

// deciders are the services outside that the auth file names.
type deciders struct {
	watcher *authfile.Watcher
	asker   *webhook.Asker
}

// Decider implements runs.Deciders.
func (d deciders) Decider(org uuid.UUID) (failOpen, some bool) {
	to, _, some := d.watcher.Decision(org)
	return to.FailOpen, some
}

// Ask implements runs.Deciders.
func (d deciders) Ask(ctx context.Context, org uuid.UUID, question api.DecisionQuestion) ([]byte, error) {
	to, name, some := d.watcher.Decision(org)
	if !some {
		return nil, errors.New("there is no decision_url any more")
	}
	question.OrgName = name
	body, err := json.Marshal(question)
	if err != nil {
		return nil, err
	}
	answer, err := d.asker.Ask(ctx, webhook.Receiver{URL: to.URL, Secret: to.Secret}, question.ID, body)
	if err != nil {
		return nil, shownError{err}
	}
	return answer, nil
}

// shownError has the text that an organization may know of an error.
type shownError struct{ error }

func (e shownError) Error() string { return webhook.Shown(e.error) }
func (e shownError) Unwrap() error { return e.error }
