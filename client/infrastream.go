package client

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/api"
)

const (
	// projectAlive is how often the server is asked whether it is still there, and how long its
	// answer may take.
	projectAlive = 20 * time.Second
	// maxProjectEvent is the largest message that is read: a result has a plan and files in it.
	maxProjectEvent = 64 << 20
)

// The types of the messages of a project's stream.
const (
	ProjectEventRun    = "run"
	ProjectEventLog    = "log"
	ProjectEventStatus = "status"
	ProjectEventResult = "result"
	ProjectEventError  = "error"
)

// ProjectStream says which run of a project is streamed: a new one of this mode, or one that there
// is already, from a position on.
type ProjectStream struct {
	Mode          string // plan or apply; empty for Run
	Run, Position string
}

// StreamProject starts a run, or takes one up, and tells what comes of it until it has ended. A
// stream that breaks off is taken up where it was: nothing is told twice or left out, and no second
// run is started. An error of tell ends it.
func (c *Client) StreamProject(ctx context.Context, project string, from ProjectStream,
	tell func(api.ProjectEvent) error) error {
	s := &projectStream{client: c, project: project, from: from, key: uuid.NewString(), tell: tell}
	return c.again(ctx, s.once, func(err error) bool { return !s.failed && passing(err) })
}

// projectStream is a stream that is read.
type projectStream struct {
	client  *Client
	project string
	from    ProjectStream // where to go on
	key     string        // makes repeated requests for a run one
	tell    func(api.ProjectEvent) error
	failed  bool // nothing that follows will help
}

// once reads the stream until it ends, which is an error unless the run does.
func (s *projectStream) once(ctx context.Context) (progress bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	conn, err := s.dial(ctx)
	if err != nil {
		return false, err
	}
	defer func() { _ = conn.CloseNow() }() // what came has been read
	go keepAsking(ctx, conn, cancel)
	for {
		kind, text, err := conn.Read(ctx)
		if err != nil {
			return progress, brokenOff(ctx, err)
		}
		var e api.ProjectEvent
		if kind != websocket.MessageText || json.Unmarshal(text, &e) != nil {
			s.failed = true
			return progress, api.ErrForeign
		}
		progress = true
		if ended, err := s.take(e); ended || err != nil {
			return true, err
		}
	}
}

// brokenOff is why nothing more came.
func brokenOff(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	if status := websocket.CloseStatus(err); status != -1 {
		return ErrCutOff // a close without the last message
	}
	return cutOff(err)
}

// keepAsking ends the stream of a server that is not there any more, of which the connection says
// nothing.
func keepAsking(ctx context.Context, conn *websocket.Conn, cancel context.CancelCauseFunc) {
	for Pause(ctx, projectAlive) == nil {
		asking, stop := context.WithTimeout(ctx, projectAlive)
		err := conn.Ping(asking)
		stop()
		if errors.Is(err, context.DeadlineExceeded) {
			cancel(errSilent)
			return
		}
	}
}

// take tells a message, and notes where to go on after it.
func (s *projectStream) take(e api.ProjectEvent) (ended bool, err error) {
	if e.Type == ProjectEventError && e.Error != nil {
		s.failed = true
		return true, &Error{Code: api.ErrorCode(e.Error.Code), Message: e.Error.Message}
	}
	if e.Type == ProjectEventRun && s.from.Run != "" {
		e.Type = ProjectEventStatus // which run it is was told before
	}
	if err := s.tell(e); err != nil {
		s.failed = true
		return true, err
	}
	if e.Run != nil && e.Run.ID != "" {
		s.from.Mode, s.from.Run = "", e.Run.ID
	}
	if e.Position != "" {
		s.from.Position = e.Position
	}
	return e.Type == ProjectEventResult, nil
}

// dial asks for the stream: for a new run until it is known which one that is.
func (s *projectStream) dial(ctx context.Context) (*websocket.Conn, error) {
	c, r := s.client, ofProject(http.MethodGet, s.project, "run", "stream")
	if r.err != nil {
		s.failed = true
		return nil, r.err
	}
	header := http.Header{}
	if s.from.Run != "" {
		r.query = map[string]string{"run": s.from.Run, "position": s.from.Position}
	} else {
		r.query = map[string]string{"mode": s.from.Mode}
		header.Set("Idempotency-Key", s.key)
	}
	if c.options.Key != "" {
		asked := http.Request{Header: header}
		asked.SetBasicAuth(c.options.Org.String(), c.options.Key)
	}
	conn, answer, err := websocket.Dial(ctx, c.options.Address+r.path+r.queryText(),
		&websocket.DialOptions{HTTPClient: c.http, HTTPHeader: header})
	if err != nil {
		if answer != nil {
			return nil, refusalOf(answer)
		}
		return nil, err
	}
	conn.SetReadLimit(maxProjectEvent)
	return conn, nil
}
