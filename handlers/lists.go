package handlers

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"slices"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/internal/budget"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/resources"
	"github.com/holdfast/holdfast/state"
)

// What lists may have in memory before their JSON is made. Answers that describe one thing, or
// say that something was done, take less than 64 KiB, which is what a request may take by
// itself: nothing is acquired for them.
const (
	// rowBytes is the most that a version, a candidate or an event takes: all of their texts
	// have limits, the longest that of a reason.
	rowBytes = 10 << 10
	// unreadBytes is the most that a state takes that could not be read.
	unreadBytes = 512
	// extentBytes is what is said of an answer about resources beside those, twice: as it was
	// found and as JSON.
	extentBytes = 2 * resources.MaxUnread * unreadBytes
)

func rowsBytes(limit int) int64 { return int64(limit) * rowBytes }

// lists sends answers that have a list. What one may take is acquired before it is made, by the
// most that it can be; its JSON is acquired as it is made, one element after the other. What
// was found is let go of before anything is sent: then the JSON counts alone, and less of it the
// more is sent.
type lists struct{ memory *budget.Budget } // nil for no bound

// listing is an answer whose list is written element by element.
type listing struct {
	answer any           // of package api; its list is empty
	list   string        // the member that its elements go into; empty for none
	items  iter.Seq[any] // the elements, each of them made when its turn comes
	takes  int64         // what was found takes, where that may be more than was acquired
}

// listingOf is an answer with a list of what render makes of each element.
func listingOf[T, I any](answer any, list string, all []T, render func(T) I) listing {
	return listing{answer: answer, list: list, items: func(yield func(any) bool) {
		for _, one := range all {
			if !yield(render(one)) {
				return
			}
		}
	}}
}

// answer sends what find finds, which takes up to so many bytes, or its fault or p's.
func (l lists) answer(c *gin.Context, p *params, most int64, find func(context.Context) (listing, error)) {
	err := p.fault
	if err == nil {
		err = l.send(c, most, find)
	}
	if err != nil {
		middleware.Fail(c, err)
	}
}

// send sends what find finds. Until anything is sent it returns an error: find's, or
// fault.Overloaded.
func (l lists) send(c *gin.Context, most int64, find func(context.Context) (listing, error)) error {
	hold := l.memory.Hold(budget.Share{Org: middleware.Principal(c).Org})
	defer hold.Release()
	text, err := makeList(c.Request.Context(), &hold, most, find)
	if err != nil {
		return err
	}
	header := c.Writer.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Length", strconv.FormatInt(text.Len(), 10))
	c.Status(http.StatusOK)
	if _, err := text.WriteTo(c.Writer); err != nil {
		_ = c.Error(err) // for the request's log line
	}
	return nil
}

// makeList waits for the memory, and returns the JSON of what was found.
func makeList(ctx context.Context, hold *budget.Hold, most int64, find func(context.Context) (listing, error)) (*budget.Buffer, error) {
	if err := hold.Acquire(ctx, most); err != nil {
		return nil, err
	}
	text := budget.NewBuffer(hold, most)
	found, err := find(ctx)
	if err == nil {
		err = text.Beside(max(found.takes-most, 0))
	}
	if err == nil {
		err = found.write(text)
	}
	if err != nil {
		return nil, err
	}
	text.Alone()
	return text, nil
}

// write makes JSON of the answer, with the elements in their place. That is found as text: no
// string of JSON has a quote in it without a backslash before.
func (l listing) write(to *budget.Buffer) error {
	raw, err := json.Marshal(l.answer)
	if err != nil {
		return err
	}
	place := `"` + l.list + `":[`
	head, tail, found := bytes.Cut(raw, []byte(place+"]"))
	if !found {
		_, err = to.Write(raw)
		return err
	}
	next := slices.Concat(head, []byte(place))
	for item := range l.items {
		if _, err := to.Write(next); err != nil {
			return err
		}
		if next, err = json.Marshal(item); err != nil {
			return err
		}
		next = append(next, ',')
	}
	_, err = to.Write(append(append(bytes.TrimSuffix(next, []byte{','}), ']'), tail...))
	return err
}

// statesBytes is what a page of states may take: its texts, and what there is around them.
func statesBytes() int64 { return state.PageBytes + state.MostListed + maxPage*listedBytes }

// listedBytes is what a state takes in a list beside its texts.
const listedBytes = 1 << 10

// resourcesBytes is what a page of resources may take.
func resourcesBytes() int64 { return resources.PageBytes + resources.MostFound + extentBytes }
