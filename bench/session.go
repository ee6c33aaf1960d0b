package bench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/bench/sample"
)

// The steps of the mixes.
const (
	stepLock = iota
	stepGet
	stepPost
	stepUnlock
	stepUpload
	steps
)

func stepName(step int) string {
	return [...]string{"LOCK", "GET", "POST", "UNLOCK", "UPLOAD"}[step]
}

// session is one connection's work: a state of its own, or a report.
type session struct {
	conn     *conn
	path     string // of its state
	state    *sample.State
	there    bool // the server has taken the state, or may have
	report   *sample.Upload
	asking   string               // header lines of reads
	lockID   string               // of the lock that it may hold; empty for none
	packed   []byte               // the compressed answer that was good last
	packedOf uint64               // its serial
	took     [steps]time.Duration // by the current operation
	patient  bool                 // waits while the server is crowded
	waits    int64                // by the current operation
}

// timed runs one step of the current operation.
func (s *session) timed(ctx context.Context, step int, run func() error) error {
	start := time.Now()
	err := run()
	for end := start.Add(patience); s.patient && isCrowded(err) && time.Now().Before(end) && sleep(ctx, clientWait, nil); {
		s.waits++
		err = run()
	}
	s.took[step] = time.Since(start)
	return at(stepName(step), err)
}

// clientWait is how long Terraform and OpenTofu wait before they try again.
const clientWait = time.Second

func isCrowded(err error) bool {
	failure, ok := errors.AsType[*Failure](err)
	return ok && failure.Kind == Crowded
}

// lock takes the state's lock with an ID that nobody has used, as each run of a client does.
func (s *session) lock(ctx context.Context) error {
	s.lockID = uuid.NewString()
	info := fmt.Appendf(nil,
		`{"ID":%q,"Operation":"OperationTypeApply","Info":"","Who":"bench@holdfast","Version":"1.12.6","Created":"2026-01-31T12:00:00.000000000Z","Path":""}`, s.lockID)
	return s.timed(ctx, stepLock, func() error {
		return s.conn.do(ctx, request{method: "LOCK", path: s.path, body: info}, s.exactly(info))
	})
}

func (s *session) get(ctx context.Context) error {
	return s.timed(ctx, stepGet, func() error {
		return s.conn.do(ctx, request{method: http.MethodGet, path: s.path, headers: s.asking}, s.exactly(s.state.Bytes()))
	})
}

// post writes the next version, under the lock if there is one.
func (s *session) post(ctx context.Context) error {
	s.state.Change()
	return s.timed(ctx, stepPost, func() error { return s.write(ctx) })
}

func (s *session) write(ctx context.Context) error {
	path := s.path
	if s.lockID != "" {
		path += "?ID=" + s.lockID
	}
	err := s.conn.do(ctx, request{method: http.MethodPost, path: path, body: s.state.Bytes()}, s.succeeded)
	s.there = s.there || err == nil || isDoubtful(err)
	return err
}

func (s *session) unlock(ctx context.Context) error {
	info := fmt.Appendf(nil, `{"ID":%q,"Who":"bench@holdfast"}`, s.lockID)
	err := s.timed(ctx, stepUnlock, func() error {
		return s.conn.do(ctx, request{method: "UNLOCK", path: s.path, body: info}, s.succeeded)
	})
	if err == nil {
		s.lockID = ""
	}
	return err
}

func (s *session) upload(ctx context.Context) error {
	s.report.Change()
	return s.timed(ctx, stepUpload, func() error {
		return s.conn.do(ctx, request{method: http.MethodPost, path: "/api/v1/upload", body: s.report.Bytes()}, s.succeeded)
	})
}

// settle brings the server's side back to where the session believes it to be, after an
// operation that failed halfway: the lock is free and the state is what was sent last.
func (s *session) settle(ctx context.Context) error {
	if s.state == nil {
		return nil
	}
	if s.lockID != "" {
		_ = s.unlock(ctx) // it may not have been taken
		s.lockID = ""
	}
	return s.timed(ctx, stepPost, func() error { return s.write(ctx) })
}

// remove takes the state away.
func (s *session) remove(ctx context.Context) error {
	return at(http.MethodDelete, s.conn.do(ctx, request{method: http.MethodDelete, path: s.path}, s.succeeded))
}
