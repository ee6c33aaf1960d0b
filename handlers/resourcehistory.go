package handlers

import (
	"encoding/base64"
	"encoding/json"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// history shows how a resource changed.
func (r inventories) history(c *gin.Context) {
	var found resources.History
	defer func() { found.Release() }()
	answer(c, func() (any, error) {
		p := readParams(c, "state", "cursor", "limit")
		name, err := state.ParseName(p.text("state"))
		q := resources.HistoryQuery{State: name, Address: pathValue(c, "address"), Limit: p.limit()}
		if p.fault == nil && err != nil {
			p.fault = err
		}
		if q.Address == "" || !isText(q.Address) {
			p.fail("the path's address is not the text of one")
		}
		if text, given := p.values["cursor"]; given && !readStep(text, &q) && p.fault == nil {
			p.fault = fault.New(fault.CursorInvalid, "the cursor is not one that this server gave")
		}
		if p.fault != nil {
			return nil, p.fault
		}
		found, err = r.service.History(c.Request.Context(), middleware.Principal(c), q)
		return api.History{
			Address: q.Address, History: items(found.Steps, stepOf), Next: stepCursor(found.Next),
			Unread: items(found.Unread, func(u resources.Unread) api.UnreadVersion {
				return api.UnreadVersion{Version: u.Version, Code: api.ErrorCode(u.Code)}
			}),
		}, err
	})
}

func stepOf(s resources.Step) api.Step {
	return api.Step{Version: versionOf(s.Version), Against: s.Against, Changes: items(s.Changes, resourceChangeOf)}
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
