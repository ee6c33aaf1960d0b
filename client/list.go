package client

import (
	"context"
	"errors"
	"iter"
	"maps"
	"strconv"

	"github.com/holdfast/holdfast/api"
)

// maxPage is the largest page of a list that the server sends.
const maxPage = 1000

// ErrNoFurther says that a server sends one page over and over.
var ErrNoFurther = errors.New("the server's list does not go on: its next page is the one that it sent")

// List is a list that the server sends in pages. It is not safe for concurrent use.
type List[T any] struct {
	client  *Client
	request request
	cursor  string // the parameter that says where a page begins
	limit   int    // at most so many; 0 for all
	read    func(context.Context, request) (page []T, next string, err error)
	more    bool
}

// newList returns a list whose pages are of type P. split returns a page's elements and where
// the next page begins; empty at the end.
func newList[P, T any](c *Client, r request, cursor string, limit int, split func(P) ([]T, string)) *List[T] {
	return &List[T]{client: c, request: r, cursor: cursor, limit: limit,
		read: func(ctx context.Context, r request) ([]T, string, error) {
			page, err := ask[P](ctx, c, r)
			if err != nil {
				return nil, "", err
			}
			elements, next := split(page)
			if elements == nil { // a server sends an empty list as one
				err = api.ErrForeign
			}
			return elements, next, err
		}}
}

// listByName lists all of a collection by name, or those that a filter leaves: an empty one leaves all.
func listByName[P, T any](c *Client, collection string, filter map[string]string,
	split func(P) ([]T, string)) *List[T] {
	return newList(c, get(collection, filter), "cursor", 0, split)
}

// All asks for the elements, page after page, and hands them on one by one. It ends with the
// first error.
func (l *List[T]) All(ctx context.Context) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		var none T
		r, left := l.request, l.limit
		r.query = map[string]string{}
		maps.Copy(r.query, l.request.query)
		for {
			r.query["limit"] = strconv.Itoa(maxPage)
			if l.limit > 0 {
				r.query["limit"] = strconv.Itoa(min(left, maxPage))
			}
			page, next, err := l.read(ctx, r)
			if err == nil && next != "" && next == r.query[l.cursor] {
				err = ErrNoFurther
			}
			if err != nil {
				yield(none, err)
				return
			}
			for _, element := range page {
				if !yield(element, nil) {
					return
				}
			}
			left -= len(page)
			l.more = next != ""
			if !l.more || l.limit > 0 && left <= 0 {
				return
			}
			r.query[l.cursor] = next
		}
	}
}

// More reports, after All, whether there are others that the limit left out.
func (l *List[T]) More() bool { return l.more }

func textOr(cursor *string) string {
	if cursor == nil {
		return ""
	}
	return *cursor
}

func numberOr(cursor *uint64) string {
	if cursor == nil {
		return ""
	}
	return strconv.FormatUint(*cursor, 10)
}
