package statetest_test

import (
	"context"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/state"
)

// namesDeleted names states that are deleted too.
type namesDeleted struct{ state.Store }

func (s namesDeleted) Names(ctx context.Context, org uuid.UUID, prefix string, after state.Name,
	limit int) (names []state.Name, next state.Name, err error) {
	page, err := s.Store.States(ctx, org, state.StatesQuery{Prefix: prefix, After: after, Limit: limit,
		Deleted: state.AnyDeletion})
	for _, one := range page.States {
		names = append(names, one.Name)
	}
	return names, page.Next, err
}

// namesOn takes a page without names for the end of the list.
type namesOn struct{ state.Store }

func (s namesOn) Names(ctx context.Context, org uuid.UUID, prefix string, after state.Name,
	limit int) (names []state.Name, next state.Name, err error) {
	names, next, err = s.Store.Names(ctx, org, prefix, after, limit)
	if len(names) == 0 {
		next = ""
	}
	return names, next, err
}

// picksCase looks for capital letters as they are.
type picksCase struct{ state.Store }

func (s picksCase) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	page, err := s.Store.States(ctx, org, q)
	page.States = slices.DeleteFunc(page.States, func(one state.Listed) bool {
		return !strings.Contains(string(one.Name), q.Contains)
	})
	return page, err
}

// picksBelow takes what is below a folder for what is in it.
type picksBelow struct{ state.Store }

func (s picksBelow) States(ctx context.Context, org uuid.UUID, q state.StatesQuery) (state.Page, error) {
	q.Direct = false
	return s.Store.States(ctx, org, q)
}
