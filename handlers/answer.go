package handlers

import (
	"encoding/json"
	"net/http"
	"strconv"

	"github.com/gin-gonic/gin"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/state"
)

// answer is what a handler says. It is sent once, and lets go of what it holds. Until anything
// is sent its error becomes the answer instead.
type answer interface {
	send(c *gin.Context) error
}

// told is an answer in JSON.
type told struct {
	status int               // 0 for 200
	body   any               // of package api
	header func(http.Header) // sets what else there is to say; may be nil
	cause  error             // for the log; nil for none
}

// tell is the usual answer.
func tell(body any) told { return told{body: body} }

// done is the answer where there is nothing more to say.
func done() told { return tell(api.Done{Status: success}) }

// success is the status of every answer that is no failure.
const success = "success"

// send makes JSON of the body before anything is sent: what can't be made must not be an
// answer without a body, which says yes to whoever looks at the status alone.
func (t told) send(c *gin.Context) error {
	raw, err := json.Marshal(t.body)
	if err != nil {
		return err
	}
	if t.cause != nil {
		_ = c.Error(t.cause)
	}
	if t.header != nil {
		t.header(c.Writer.Header())
	}
	c.Data(max(t.status, http.StatusOK), "application/json; charset=utf-8", raw)
	return nil
}

// exactly is an answer of bytes as they are, in JSON.
type exactly struct {
	body   []byte
	header func(http.Header) // as in told
}

func (e exactly) send(c *gin.Context) error {
	if e.header != nil {
		e.header(c.Writer.Header())
	}
	sendBody(c, e.body)
	return nil
}

// sendBody says how long the body is: else net/http sends it in chunks, which takes both
// sides longer.
func sendBody(c *gin.Context, body []byte) {
	header := c.Writer.Header()
	values := [...]string{mediaJSON, strconv.Itoa(len(body))}
	header["Content-Type"] = values[0:1:1]
	header["Content-Length"] = values[1:2:2]
	c.Status(http.StatusOK)
	if _, err := c.Writer.Write(body); err != nil {
		_ = c.Error(err) // for the request's log line
	}
}

// released is an answer that holds memory until it was sent.
type released struct {
	answer
	release func()
}

func (r released) send(c *gin.Context) error {
	defer r.release()
	return r.answer.send(c)
}

// nothing is an answer without a body.
type nothing struct{ status int }

func (n nothing) send(c *gin.Context) error {
	c.Status(n.status)
	return nil
}

// rendered is an answer that was made of a state, and is sent as it was made.
type rendered struct {
	media  string
	made   *state.Rendered
	header func(http.Header) // as in told
}

// send breaks an answer that can't be sent to its end off with its connection, so that nobody
// takes it for whole.
func (r rendered) send(c *gin.Context) error {
	defer r.made.Close()
	if r.header != nil {
		r.header(c.Writer.Header())
	}
	s := newSender(c, func(header http.Header) { header.Set("Content-Type", r.media) })
	_, err := r.made.WriteTo(streamWriter{s})
	if err == nil {
		err = s.finish()
	}
	if err != nil {
		_ = c.Error(err) // for the request's log line
		panic(http.ErrAbortHandler)
	}
	return nil
}

// orNull makes an empty cursor null.
func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}
