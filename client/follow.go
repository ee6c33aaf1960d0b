package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"github.com/holdfast/holdfast/api"
)

const (
	// followTries is how often a stream that broke off is asked for again without that anything
	// comes.
	followTries = 10
	// followWait is the longest wait between two of them.
	followWait = 15 * time.Second
	// followSilence is how long nothing at all may come, not even that the server is still there.
	followSilence = 45 * time.Second
	// maxEvent is the largest event that is read.
	maxEvent = 4 << 20
)

// RunUpdate is what comes of a run that is followed: one of both.
type RunUpdate struct {
	Log    *api.LogBytes
	Status *api.RunStatus
}

// FollowRun tells the log of one stage of a run, as it comes, and each change of the run's
// status, until nothing more of the log can come. A stream that breaks off is taken up where it
// was: nothing is told twice or left out. An error of tell ends it.
func (c *Client) FollowRun(ctx context.Context, id, stream string, tell func(RunUpdate) error) error {
	r := ofRun(http.MethodGet, id, "log", "stream")
	r.query = map[string]string{"stream": stream}
	return c.follow(ctx, &following{client: c, request: r, take: func(e event) error { return toldOfRun(e, tell) }})
}

// told reads what an event says, and tells it.
func told(e event, into any, tell func() error) error {
	if json.Unmarshal(e.data, into) != nil {
		return api.ErrForeign
	}
	return tell()
}

// follow reads a stream until it ends, and takes it up again where it broke off.
func (c *Client) follow(ctx context.Context, f *following) error {
	return c.again(ctx, f.once, func(err error) bool { return !f.failed && passing(err) })
}

// again reads a stream until it ends, and once more where it broke off for a reason that passes.
func (c *Client) again(ctx context.Context, once func(context.Context) (progress bool, err error),
	passes func(error) bool) error {
	for failures := 0; ; {
		progress, err := once(ctx)
		if err == nil || ctx.Err() != nil || !passes(err) {
			return err
		}
		if failures++; progress {
			failures = 1
		}
		if failures >= followTries {
			return err
		}
		pause := max(wait(err), min(time.Second<<(failures-1), followWait))
		c.options.Retrying(err, pause)
		if err := c.options.Pause(ctx, pause); err != nil {
			return err
		}
	}
}

// passing reports whether another try may help: a refusal doesn't get better, unless the server
// is too busy or about to come back.
func passing(err error) bool {
	e, ok := errors.AsType[*Error](err)
	return !ok || e.Passing()
}

// following is a stream of events that is followed.
type following struct {
	client  *Client
	request request
	take    func(event) error
	last    string // the ID of the last event
	failed  bool   // take did
}

// errSilent is the cause of an end that the client makes.
var errSilent = errors.New("nothing came from the server for too long")

// once reads the stream until it ends, which is an error unless the log does.
func (f *following) once(ctx context.Context) (progress bool, err error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	silence := time.AfterFunc(followSilence, func() { cancel(errSilent) })
	defer silence.Stop()
	r := f.request
	r.header["Accept"], r.header["Last-Event-ID"] = "text/event-stream", f.last
	body, err := f.client.Once().open(ctx, r)
	if err != nil {
		return false, err
	}
	defer body.Close()
	events := newEventReader(body)
	for {
		e, err := events.next(func() { silence.Reset(followSilence) })
		if err != nil {
			if cause := context.Cause(ctx); cause != nil {
				err = cause
			}
			return progress, err
		}
		progress = true
		if e.name == "end" {
			return true, nil
		}
		if err := f.take(e); err != nil {
			f.failed = true
			return true, err
		}
		if e.id != "" {
			f.last = e.id
		}
	}
}

// event is one of a stream of server-sent events.
type event struct {
	name, id string
	data     []byte
}

// eventReader reads them.
type eventReader struct{ lines *bufio.Scanner }

func newEventReader(from io.Reader) eventReader {
	lines := bufio.NewScanner(from)
	lines.Buffer(make([]byte, 0, 64<<10), maxEvent)
	return eventReader{lines}
}

// next returns the next event; alive is called for each line. An event that is not whole is none.
func (r eventReader) next(alive func()) (e event, err error) {
	for r.lines.Scan() {
		alive()
		line := r.lines.Bytes()
		if len(line) == 0 {
			if e.name != "" {
				return e, nil
			}
			continue
		}
		name, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch string(name) {
		case "event":
			e.name = string(value)
		case "id":
			e.id = string(value)
		case "data":
			e.data = append(e.data, value...)
		}
	}
	if err := r.lines.Err(); err != nil {
		return event{}, cutOff(err)
	}
	return event{}, ErrCutOff
}
