package handlers

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"time"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/middleware"
)

// heartbeat is how often something is sent at least, so that nobody in between takes the
// connection for dead.
const heartbeat = 15 * time.Second

// trusted is how often the credentials of a reader are looked at that is told nothing: so long after they were taken
// back, its stream ends. They are looked at before everything that is told, too.
const trusted = time.Second

// eventStream is an answer of server-sent events, which goes on for as long as more may come.
type eventStream struct {
	c       *gin.Context
	control *http.ResponseController
	sentAt  time.Time
	allowed func(auth.Principal) error
	timer   *time.Timer
}

// beginEvents begins such an answer. allowed refuses who may not read on, as whom they are by then.
func beginEvents(c *gin.Context, allowed func(auth.Principal) error) *eventStream {
	middleware.Leave(c)
	middleware.Resumable(c)
	header := c.Writer.Header()
	header.Set("Content-Type", "text/event-stream; charset=utf-8")
	header.Set("X-Accel-Buffering", "no") // some proxies keep back what comes slowly
	c.Status(http.StatusOK)
	c.Writer.WriteHeaderNow()
	return &eventStream{c: c, control: http.NewResponseController(c.Writer), allowed: allowed,
		timer: time.NewTimer(heartbeat)}
}

// end ends it. After an error the connection is broken off: the reader comes again, and goes on
// behind what it has.
func (s *eventStream) end(ctx context.Context, err error) error {
	s.timer.Stop()
	if err != nil && ctx.Err() == nil {
		_ = s.c.Error(err)
		panic(http.ErrAbortHandler)
	}
	return nil
}

// event sends one, of which the body is JSON in one line.
func (s *eventStream) event(name, id string, body any) error {
	event, err := sentEvent(name, id, body)
	if err != nil {
		return err
	}
	return s.write(event)
}

func sentEvent(name, id string, body any) ([]byte, error) {
	raw, err := json.Marshal(body)
	head := "event: " + name + "\n"
	if id != "" {
		head += "id: " + id + "\n"
	}
	return slices.Concat([]byte(head+"data: "), raw, []byte("\n\n")), err
}

// write sends something under a deadline of its own.
func (s *eventStream) write(event []byte) error {
	middleware.GoOn(s.c)
	s.sentAt = time.Now()
	if _, err := s.c.Writer.Write(event); err != nil {
		return err
	}
	return s.control.Flush()
}

// wait waits for more, until a heartbeat is due, or until the reader's credentials are good no more.
func (s *eventStream) wait(ctx context.Context, more <-chan struct{}) error {
	for !s.idle() {
		s.timer.Reset(min(time.Until(s.sentAt.Add(heartbeat)), trusted))
		select {
		case <-more:
			return nil
		case <-s.timer.C:
			if err := s.stillGood(); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// idle reports whether a heartbeat is due.
func (s *eventStream) idle() bool { return time.Since(s.sentAt) >= heartbeat }

// stillGood lets nobody read on whose credentials are good no more. It comes before each look at what there is to tell.
func (s *eventStream) stillGood() error {
	if err := middleware.StillGood(s.c); err != nil {
		return err
	}
	return s.allowed(middleware.Principal(s.c))
}

// stillThere sends a heartbeat where it is time.
func (s *eventStream) stillThere() error {
	if !s.idle() {
		return nil
	}
	return s.write([]byte(": still there\n\n"))
}
