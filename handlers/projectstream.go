package handlers

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
	"github.com/holdfast/holdfast/projects"
	"github.com/holdfast/holdfast/state"
)

// stream makes a run, or goes on with one, and tells over a WebSocket what becomes of it.
func (h projectHandlers) stream(ctx context.Context, r *request, name state.Name) (answer, error) {
	s := projectStream{projectHandlers: h, r: r, name: name, id: r.filled("run"), key: r.idempotencyKey()}
	s.order = api.ProjectRunOrder{Mode: r.choice("mode", "", projects.ModePlan, projects.ModeApply),
		PlanRunID: r.filled("planRunId")}
	var ok bool
	if s.from, ok = projects.ParsePosition(r.filled("position")); !ok {
		r.invalid("the query's position is not one that this server gave")
	}
	r.check(h.service.PermitRun(ctx, r.caller, s.order.Mode, name))
	if (s.id == "") == (s.order.Mode == "") {
		r.invalid("the query needs mode=plan or mode=apply for a new run, or run= with the ID of one, and not both")
	}
	if err := r.err(); err != nil {
		return nil, err
	}
	if !strings.EqualFold(r.header.Get("Upgrade"), "websocket") || r.c.Request.ProtoMajor != 1 {
		return nil, fault.New(fault.RunInvalid, "this address speaks WebSocket, over HTTP/1.1; to run and wait, POST to /run")
	}
	return &s, nil
}

// projectStream is an answer over a WebSocket, which goes on until the run ends.
type projectStream struct {
	projectHandlers
	r     *request
	name  state.Name
	order api.ProjectRunOrder
	id    string
	key   string
	from  projects.Position

	conn   *websocket.Conn
	pinged time.Time
}

// wsPatience is how long a reader may take for one message.
const wsPatience = 30 * time.Second

func (s *projectStream) send(c *gin.Context) error {
	release, ok := s.streams.TryAcquire(s.r.caller.Org)
	if !ok {
		return errCrowded("streams of runs are being sent")
	}
	defer release()
	follower, err := s.follower(c.Request.Context())
	if err != nil {
		return err
	}
	defer follower.Close()
	// A session counts for this server's own pages alone, which middleware has looked at, and a key is nothing
	// that a browser adds.
	conn, err := websocket.Accept(c.Writer, c.Request, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return nil // it was answered
	}
	middleware.Leave(c)
	ctx, stop := untilStop(conn.CloseRead(c.Request.Context()), s.stopping)
	defer stop()
	s.conn, s.pinged = conn, time.Now()
	follower.BeforeResult = func(ctx context.Context) error { return s.stillGood(ctx, follower) }
	s.end(ctx, s.follow(ctx, follower))
	return nil
}

// follower makes the run where one is wanted, before anything is answered: what is wrong with it is an answer as
// everywhere.
func (s *projectStream) follower(ctx context.Context) (*projects.Follower, error) {
	if s.id == "" {
		id, err := s.service.Begin(ctx, s.r.caller, s.name, s.order, s.key)
		if err != nil {
			return nil, err
		}
		s.id = id
		s.r.annotate(slog.String("run", id))
	}
	return s.service.Follow(ctx, s.r.caller, s.name, s.id, s.from)
}

// follow sends what there is, and waits for more until nothing can follow.
func (s *projectStream) follow(ctx context.Context, f *projects.Follower) error {
	for {
		if err := s.stillGood(ctx, f); err != nil {
			return err
		}
		more := f.More()
		said, over, err := f.Look(ctx)
		if err == nil && said != nil {
			err = s.write(ctx, said)
		}
		if err != nil || over {
			return err
		}
		if err := s.stillThere(ctx); err != nil {
			return err
		}
		if said == nil {
			if err := s.wait(ctx, f, more); err != nil {
				return err
			}
		}
	}
}

func (s *projectStream) write(ctx context.Context, said *api.ProjectEvent) error {
	raw, err := json.Marshal(said)
	if err != nil {
		return err
	}
	ctx, stop := context.WithTimeout(ctx, wsPatience)
	defer stop()
	return s.conn.Write(ctx, websocket.MessageText, raw)
}

// wait waits for more, until it is time to look whether the reader is there, or until its credentials are good no more.
func (s *projectStream) wait(ctx context.Context, f *projects.Follower, more <-chan struct{}) error {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for time.Since(s.pinged) < heartbeat {
		timer.Reset(min(time.Until(s.pinged.Add(heartbeat)), trusted))
		select {
		case <-more:
			return nil
		case <-timer.C:
			if err := s.stillGood(ctx, f); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// stillThere asks a reader now and then whether it is there.
func (s *projectStream) stillThere(ctx context.Context) error {
	if time.Since(s.pinged) < heartbeat {
		return nil
	}
	s.pinged = time.Now()
	ctx, stop := context.WithTimeout(ctx, wsPatience)
	defer stop()
	return s.conn.Ping(ctx)
}

// stillGood shows the caller no more than it may see by now, and nothing to one whose credentials are good no more.
func (s *projectStream) stillGood(ctx context.Context, f *projects.Follower) error {
	if err := middleware.StillGood(s.r.c); err != nil {
		return err
	}
	return f.As(ctx, middleware.Principal(s.r.c))
}

// end closes the connection: with the run's result behind it, or with why there is none.
func (s *projectStream) end(ctx context.Context, err error) {
	if err == nil {
		_ = s.conn.Close(websocket.StatusNormalClosure, "")
		return
	}
	if ctx.Err() != nil {
		_ = s.conn.Close(websocket.StatusGoingAway, "come again with the last position")
		return
	}
	told := fault.From(err)
	_ = s.r.c.Error(err)
	_ = s.write(ctx, &api.ProjectEvent{Type: "error",
		Error: &api.ProjectError{Code: string(told.Code), Message: told.Message}})
	_ = s.conn.Close(websocket.StatusPolicyViolation, http.StatusText(http.StatusForbidden))
}
