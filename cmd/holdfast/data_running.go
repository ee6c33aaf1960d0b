package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net"
	"net/http"
	"net/url"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/inventory"
	"github.com/holdfast/holdfast/inventory/transfer"
	"github.com/holdfast/holdfast/server"
)

// recordSource is what an export reads.
type recordSource interface {
	Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error]
	Records(ctx context.Context, org uuid.UUID, query inventory.Query) iter.Seq2[inventory.Positioned, error]
	Close() error
}

// exportSource returns the server's own answers while one runs that has the store to itself, or
// else the store.
func (a *app) exportSource(ctx context.Context, settings configs.Settings) (recordSource, error) {
	if server.HoldsUploads(settings) {
		if running := runningServer(ctx, server.OperatorSocket(settings)); running != nil {
			return running, nil
		}
	}
	return a.openToRead(ctx, settings)
}

// runningStore is a server on this machine that answers for its store.
type runningStore struct{ client *http.Client }

// runningServer returns the one that answers at a socket; nil if none does.
func runningServer(ctx context.Context, socket string) *runningStore {
	tried, err := (&net.Dialer{}).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil
	}
	_ = tried.Close()
	return &runningStore{server.OperatorClient(socket)}
}

func (r *runningStore) Close() error {
	r.client.CloseIdleConnections()
	return nil
}

// ask returns an answer, which the caller closes.
func (r *runningStore) ask(ctx context.Context, path string) (io.ReadCloser, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://holdfast"+path, nil)
	if err != nil {
		return nil, err
	}
	answer, err := r.client.Do(request)
	if err != nil {
		return nil, fmt.Errorf("asking the server that runs here: %w", err)
	}
	if answer.StatusCode != http.StatusOK {
		return nil, errors.Join(fmt.Errorf("the server that runs here answers %s", answer.Status), answer.Body.Close())
	}
	return answer.Body, nil
}

func (r *runningStore) Organizations(ctx context.Context) iter.Seq2[uuid.UUID, error] {
	return func(yield func(uuid.UUID, error) bool) {
		body, err := r.ask(ctx, server.OperatorOrganizations)
		if err != nil {
			yield(uuid.Nil, err)
			return
		}
		defer body.Close()
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			if org, err := uuid.Parse(lines.Text()); !yield(org, err) || err != nil {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(uuid.Nil, brokenOff(err))
		}
	}
}

// Records has no use for a query: an export wants all.
func (r *runningStore) Records(ctx context.Context, org uuid.UUID,
	_ inventory.Query) iter.Seq2[inventory.Positioned, error] {
	return func(yield func(inventory.Positioned, error) bool) {
		body, err := r.ask(ctx, server.OperatorRecords+"?org="+url.QueryEscape(org.String()))
		if err != nil {
			yield(inventory.Positioned{}, err)
			return
		}
		defer body.Close()
		for record, err := range transfer.ReadNDJSON(body) {
			if err != nil {
				err = brokenOff(err)
			}
			if !yield(inventory.Positioned{Record: record}, err) || err != nil {
				return
			}
		}
	}
}

// brokenOff says that the server ended before its answer did.
func brokenOff(err error) error {
	return fmt.Errorf("the server that runs here broke its answer off: %w", err)
}
