package handlers

import (
	"context"
	"encoding/base64"
	"encoding/json"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// history shows how a resource changed.
func (v inventories) history(ctx context.Context, r *request) (answer, error) {
	name, err := state.ParseName(r.text("state"))
	q := resources.HistoryQuery{State: name, Address: r.inPath("address"), Limit: r.limit()}
	r.check(err)
	if q.Address == "" || !isText(q.Address) {
		r.invalid("the path's address is not the text of one")
	}
	r.cursor(func(text string) bool { return readStep(text, &q) })
	if err := r.err(); err != nil {
		return nil, err
	}
	found, err := v.service.History(ctx, r.caller, q)
	if err != nil {
		return nil, err
	}
	return released{tell(api.History{
		Address: q.Address, History: items(found.Steps, stepOf), Next: stepCursor(found.Next),
		Unread: items(found.Unread, func(u resources.Unread) api.UnreadVersion {
			return api.UnreadVersion{Version: u.Version, Code: api.ErrorCode(u.Code)}
		}),
	}), found.Release}, nil
}

func stepOf(s resources.Step) api.Step {
	return api.Step{Version: describer(nil).versionOf(s.Version), Against: s.Against,
		Changes: items(s.Changes, resourceChangeOf)}
}

// stepPlace is what the cursor of a history holds.
type stepPlace struct {
	Behind  uint64 `json:"behind"`
	Newer   uint64 `json:"newer"`
	Address string `json:"address"`
}

func stepCursor(q resources.HistoryQuery) *string {
	if q.From == 0 {
		return nil
	}
	raw, err := json.Marshal(stepPlace{q.From, q.Newer, q.Address})
	if err != nil {
		return nil
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	return &text
}

func readStep(text string, q *resources.HistoryQuery) bool {
	var place stepPlace
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || json.Unmarshal(raw, &place) != nil || !place.possible() {
		return false
	}
	q.From, q.Newer, q.Address = place.Behind, place.Newer, place.Address
	return true
}

func (s stepPlace) possible() bool {
	return s.Behind > 0 && s.Behind < 1<<62 && s.Newer < 1<<62 && (s.Newer == 0 || s.Newer >= s.Behind) && s.Address != ""
}
