package handlers

import (
	"encoding/base64"
	"encoding/json"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

func extentOf(e resources.Extent) api.Extent {
	item := api.Extent{Sources: []string{}, Limited: e.Limited, Complete: !e.Behind, UnreadMore: e.UnreadMore}
	if e.States {
		item.Sources = append(item.Sources, string(resources.FromState))
	}
	if e.Uploads {
		item.Sources = append(item.Sources, string(resources.FromUpload))
	}
	item.Unread = items(e.Unread, func(h resources.Held) api.UnreadState {
		return api.UnreadState{State: string(h.Ref.Name), Version: h.Version, Code: api.ErrorCode(h.Unread)}
	})
	return item
}

// countsOf has every status of both sources, those that are none too.
func countsOf(counts resources.Counts) map[string]map[string]int64 {
	all := map[string]map[string]int64{
		string(resources.FromState): {
			string(resources.Managed): 0, string(resources.Missing): 0, string(resources.ClaimedTwice): 0,
			string(resources.Unmatched): 0,
		},
		string(resources.FromUpload): {string(resources.Managed): 0, string(resources.Unmanaged): 0,
			string(resources.Unmatched): 0},
	}
	for source, byStatus := range counts {
		for status, n := range byStatus {
			all[string(source)][string(status)] = n
		}
	}
	return all
}

func placeOf(p resources.Place) api.Place {
	return api.Place{Source: string(p.Source), State: string(p.State), Address: p.Address}
}

func resourceOf(r resources.Resource) api.Resource {
	return api.Resource{
		Place: placeOf(r.Place), Type: r.Type, Provider: r.Provider, Category: r.Category, Mode: r.Mode, Module: r.Module,
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

func coveredOf(c resources.Covered) api.CoveredResource {
	return api.CoveredResource{Resource: resourceOf(c.Resource), Same: items(c.Others, placeOf)}
}

// cursorOf continues behind a place; nil for none. It holds no more than the answer does.
func cursorOf(p resources.Place) *string {
	if p == (resources.Place{}) {
		return nil
	}
	raw, err := json.Marshal(placeOf(p))
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
	var item api.Place
	if json.Unmarshal(raw, &item) != nil {
		return resources.Place{}, false
	}
	place := resources.Place{Source: resources.Source(item.Source), State: state.Name(item.State), Address: item.Address}
	return place, place.Address != "" && (place.Source == resources.FromState || place.Source == resources.FromUpload)
}
