package main

import (
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"strings"
)

// maxPage is the largest page that the server sends.
const maxPage = 1000

// list is a list that the server sends in pages.
type list struct {
	path   string
	query  url.Values
	member string // of the answer: the elements
	cursor string // parameter that takes the answer's next
	limit  int    // at most so many elements; 0 for all
	// look is shown what else a page's answer says; may be nil.
	look func(answer map[string]json.RawMessage)
}

// errNoFurther keeps a server that sends one page over and over from keeping us for ever.
var errNoFurther = errors.New("the server's list does not go on: its next page is the one that it sent")

// each hands on the elements of a list one by one. more says that there are others, which
// the limit left out.
func (c *client) each(ctx context.Context, l list, hand func(json.RawMessage) error) (more bool, err error) {
	query, left := url.Values{}, l.limit
	for name := range l.query {
		query.Set(name, l.query.Get(name))
	}
	for {
		size := maxPage
		if l.limit > 0 {
			size = min(left, maxPage)
		}
		query.Set("limit", strconv.Itoa(size))
		page, next, err := c.page(ctx, ask{path: l.path, query: query}, l)
		if err != nil {
			return false, err
		}
		for _, element := range page {
			if err := hand(element); err != nil {
				return false, err
			}
		}
		if left -= len(page); next == "" || l.limit > 0 && left == 0 {
			return next != "", nil
		}
		if next == query.Get(l.cursor) {
			return false, errNoFurther
		}
		query.Set(l.cursor, next)
	}
}

// page returns one page, and where the next begins; empty when nothing follows.
func (c *client) page(ctx context.Context, r ask, l list) (page []json.RawMessage, next string, err error) {
	var answer map[string]json.RawMessage
	if _, err := c.object(ctx, r, &answer); err != nil {
		return nil, "", err
	}
	if json.Unmarshal(answer[l.member], &page) != nil {
		return nil, "", errNotOurs
	}
	if l.look != nil {
		l.look(answer)
	}
	next = string(answer["next"]) // a text, a number or null
	if strings.HasPrefix(next, `"`) {
		err = json.Unmarshal(answer["next"], &next)
	}
	if next == "null" {
		next = ""
	}
	return page, next, err
}
