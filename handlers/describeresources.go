package handlers

import (
	"encoding/base64"
	"encoding/json"
	"time"

	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// extentItem says what an answer is of.
type extentItem struct {
	Sources  []resources.Source `json:"sources"`               // that the caller may see
	Limited  bool               `json:"limited,omitempty"`     // only some of the states
	Complete bool               `json:"complete"`              // nothing was written that is not in the answer
	Unread   []unreadItem       `json:"unread"`                // states that are not in the answer
	More     bool               `json:"unread_more,omitempty"` // than are in unread
}

type unreadItem struct {
	State   state.Name `json:"state"`
	Version uint64     `json:"version"`
	Code    string     `json:"code"`
}

func extentItemOf(e resources.Extent) extentItem {
	item := extentItem{Sources: []resources.Source{}, Limited: e.Limited, Complete: !e.Behind, More: e.UnreadMore}
	if e.States {
		item.Sources = append(item.Sources, resources.FromState)
	}
	if e.Uploads {
		item.Sources = append(item.Sources, resources.FromUpload)
	}
	item.Unread = items(e.Unread, func(h resources.Held) unreadItem {
		return unreadItem{State: h.Ref.Name, Version: h.Version, Code: string(h.Unread)}
	})
	return item
}

// besideResources is what an answer says beside its resources.
type besideResources struct {
	Next *string `json:"next"`
	extentItem
}

func besideOf(next resources.Place, e resources.Extent) besideResources {
	return besideResources{Next: cursorOf(next), extentItem: extentItemOf(e)}
}

type countsAnswer struct {
	Counts map[resources.Source]map[resources.Status]int64 `json:"counts"`
	extentItem
}

// countsOf has every status of both sources, those that are none too.
func countsOf(counts resources.Counts) map[resources.Source]map[resources.Status]int64 {
	all := map[resources.Source]map[resources.Status]int64{
		resources.FromState:  {resources.Managed: 0, resources.Missing: 0, resources.ClaimedTwice: 0, resources.Unmatched: 0},
		resources.FromUpload: {resources.Managed: 0, resources.Unmanaged: 0, resources.Unmatched: 0},
	}
	for source, byStatus := range counts {
		for status, n := range byStatus {
			all[source][status] = n
		}
	}
	return all
}

// placeItem is where a resource stands.
type placeItem struct {
	Source  resources.Source `json:"source"`
	State   state.Name       `json:"state,omitempty"`
	Address string           `json:"address"`
}

func placeItemOf(p resources.Place) placeItem { return placeItem(p) }

// resourceItem is a resource in a list.
type resourceItem struct {
	placeItem
	Type       string            `json:"type"`
	Provider   string            `json:"provider"`
	Category   string            `json:"category,omitempty"`
	Mode       string            `json:"mode,omitempty"`
	Module     string            `json:"module,omitempty"`
	Name       string            `json:"name"`
	Key        json.RawMessage   `json:"index_key,omitempty"`
	Deposed    string            `json:"deposed,omitempty"`
	Version    uint64            `json:"version,omitempty"`
	At         time.Time         `json:"at"`
	Attributes map[string]string `json:"attributes"`
	Tags       map[string]string `json:"tags"`
}

func resourceItemOf(r resources.Resource) resourceItem {
	return resourceItem{
		placeItem: placeItemOf(r.Place), Type: r.Type, Provider: r.Provider, Category: r.Category, Mode: r.Mode, Module: r.Module,
		Name: r.Name, Key: json.RawMessage(r.Key), Deposed: r.Deposed, Version: r.Version, At: r.At,
		Attributes: mapOf(r.Attributes), Tags: mapOf(r.Tags),
	}
}

func mapOf(pairs []resources.Pair) map[string]string {
	all := make(map[string]string, len(pairs))
	for _, p := range pairs {
		all[p.Name] = p.Value
	}
	return all
}

// coveredItem is a resource with what is the same object.
type coveredItem struct {
	resourceItem
	Same []placeItem `json:"same"`
}

func coveredItemOf(c resources.Covered) coveredItem {
	return coveredItem{resourceItem: resourceItemOf(c.Resource), Same: items(c.Others, placeItemOf)}
}

// cursorOf continues behind a place; nil for none. It holds no more than the answer does.
func cursorOf(p resources.Place) *string {
	if p == (resources.Place{}) {
		return nil
	}
	raw, err := json.Marshal(placeItemOf(p))
	if err != nil {
		return nil
	}
	text := base64.RawURLEncoding.EncodeToString(raw)
	return &text
}

func readPlace(text string) (resources.Place, bool) {
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		return resources.Place{}, false
	}
	var item placeItem
	if json.Unmarshal(raw, &item) != nil || item.Address == "" || item.Source != resources.FromState && item.Source != resources.FromUpload {
		return resources.Place{}, false
	}
	return resources.Place(item), true
}
