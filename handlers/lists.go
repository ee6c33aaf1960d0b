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

// lists makes answers that have a list. What one may take is acquired before it is made, by the
// most that it can be; its JSON is acquired as it is made, one element after the other. What
// was found is let go of before anything is sent: then the JSON counts alone, and less of it the
// more is sent.
type lists struct{ memory *budget.Budget } // nil for no bound

// listing is an answer whose list is written element by element.
type listing struct {
	answer any           // of package api; its list is empty
	list   string        // the member that its elements go into; empty for none
	items  iter.Seq[any] // the elements, each of them made when its turn comes
	takes  int64         // bytes that what was found takes
}

// sized is an element that knows about how many bytes it takes.
type sized[T any] interface {
	*T
	Bytes() int64
}

// listingOf is an answer with a list of what render makes of each element.
func listingOf[T, I any, S sized[T]](answer any, list string, all []T, render func(T) I) listing {
	var takes int64
	for i := range all {
		takes += S(&all[i]).Bytes()
	}
	return listing{answer: answer, list: list, takes: takes, items: eachRendered(all, render)}
}

// eachRendered makes what is told of each element when its turn comes.
func eachRendered[T, I any](all []T, render func(T) I) iter.Seq[any] {
	return func(yield func(any) bool) {
		for _, one := range all {
			if !yield(render(one)) {
				return
			}
		}
	}
}

// answer makes an answer of what find finds, which takes up to so many bytes. Its error is that
// of the request, find's, or fault.Overloaded.
func (l lists) answer(ctx context.Context, r *request, most int64, find func() (listing, error)) (answer, error) {
	if err := r.err(); err != nil {
		return nil, err
	}
	hold := l.memory.Hold(budget.Share{Org: r.caller.Org})
	if err := hold.Acquire(ctx, most); err != nil {
		return nil, err
	}
	made, list := false, &list{hold: hold}
	defer func() {
		if !made { // also when the store panics
			list.hold.Release()
		}
	}()
	list.text = budget.NewBuffer(&list.hold, most)
	if err := list.make(most, find); err != nil {
		return nil, err
	}
	made = true
	return list, nil
}

// list is an answer that has a list, and the memory that it takes.
type list struct {
	hold budget.Hold
	text *budget.Buffer
}

// make has the JSON use what was acquired and not found: so there is an answer also where most
// is more than anybody can have.
func (l *list) make(most int64, find func() (listing, error)) error {
	found, err := find()
	if err == nil {
		err = l.text.Beside(found.takes - most)
	}
	if err == nil {
		err = found.write(l.text)
	}
	if err == nil {
		l.text.Alone()
	}
	return err
}

func (l *list) send(c *gin.Context) error {
	defer l.hold.Release()
	header := c.Writer.Header()
	header.Set("Content-Type", "application/json; charset=utf-8")
	header.Set("Content-Length", strconv.FormatInt(l.text.Len(), 10))
	c.Status(http.StatusOK)
	if _, err := l.text.WriteTo(c.Writer); err != nil {
		_ = c.Error(err) // for the request's log line
	}
	return nil
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
	encoder, between := json.NewEncoder(unended{to}), []byte(nil)
	encoder.SetEscapeHTML(false) // it would make six bytes of one
	if _, err := to.Write(slices.Concat(head, []byte(place))); err != nil {
		return err
	}
	for item := range l.items {
		if _, err := to.Write(between); err != nil {
			return err
		}
		if err := encoder.Encode(item); err != nil {
			return err
		}
		between = []byte{','}
	}
	_, err = to.Write(append([]byte{']'}, tail...))
	return err
}

// unended writes what an encoder writes, without the end of the line that it puts behind.
type unended struct{ to *budget.Buffer }

func (u unended) Write(p []byte) (int, error) {
	if _, err := u.to.Write(bytes.TrimSuffix(p, []byte{'\n'})); err != nil {
		return 0, err
	}
	return len(p), nil
}

// statesBytes is what a page of states may take: its texts, and what there is around them.
func statesBytes() int64 { return state.PageBytes + state.MostListed + maxPage*listedBytes }

// listedBytes is what a state takes in a list beside its texts.
const listedBytes = 1 << 10

// folderBytes is what a folder takes in a list, twice, and foldersBytes what a page of them may,
// with the names that they are found in.
const folderBytes = 1 << 10

func foldersBytes(limit int) int64 { return int64(limit)*folderBytes + state.NamesBytes }

// resourcesBytes is what a page of resources may take.
func resourcesBytes() int64 { return resources.PageBytes + resources.MostFound + extentBytes }
