package floor

import (
	"encoding/json"
	"io"
	"net/http"
	"sync"

	"github.com/gin-gonic/gin"
)

// NewStates returns LOCK, GET, POST and UNLOCK with everything in memory, and each LOCK,
// POST and UNLOCK appended to the log before it is answered: the durable floor. DELETE is
// there for who wants to tidy up.
func NewStates(log *Log) http.Handler {
	s := &states{log: log, known: map[string]*held{}}
	router := newRouter()
	router.GET(statePath, s.get)
	router.POST(statePath, s.post)
	router.DELETE(statePath, s.delete)
	router.Handle("LOCK", statePath, s.lock)
	router.Handle("UNLOCK", statePath, s.unlock)
	return router
}

const statePath = "/api/v1/state/:name"

func newRouter() *gin.Engine {
	gin.SetMode(gin.ReleaseMode)
	return gin.New()
}

type states struct {
	log   *Log
	mu    sync.Mutex
	known map[string]*held
}

// held is a state and who has locked it.
type held struct {
	body   []byte
	lockID string
}

// state runs work with a state, alone.
func (s *states) state(name string, work func(*held) bool) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	h := s.known[name]
	if h == nil {
		h = &held{}
		s.known[name] = h
	}
	return work(h)
}

func (s *states) get(c *gin.Context) {
	var body []byte
	if !s.state(c.Param("name"), func(h *held) bool { body = h.body; return body != nil }) {
		c.Status(http.StatusNotFound)
		return
	}
	c.Data(http.StatusOK, jsonType, body)
}

func (s *states) lock(c *gin.Context) {
	body, id, ok := readLock(c)
	if ok && s.take(c.Param("name"), id) {
		s.record(c, body, func() { c.Data(http.StatusOK, jsonType, body) })
		return
	}
	c.Status(http.StatusConflict)
}

func (s *states) take(name, id string) bool {
	return s.state(name, func(h *held) bool {
		free := h.lockID == ""
		if free {
			h.lockID = id
		}
		return free
	})
}

func (s *states) unlock(c *gin.Context) {
	body, id, ok := readLock(c)
	if ok && s.state(c.Param("name"), func(h *held) bool { return h.lockID == id }) {
		s.record(c, body, func() {
			s.state(c.Param("name"), func(h *held) bool { h.lockID = ""; return true })
			succeed(c)
		})
		return
	}
	c.Status(http.StatusBadRequest)
}

func (s *states) post(c *gin.Context) {
	body, err := readBody(c.Request)
	if err != nil || !s.state(c.Param("name"), func(h *held) bool { return h.lockID == c.Query("ID") }) {
		c.Status(http.StatusConflict)
		return
	}
	s.record(c, body, func() {
		s.state(c.Param("name"), func(h *held) bool { h.body = body; return true })
		succeed(c)
	})
}

func (s *states) delete(c *gin.Context) {
	s.record(c, nil, func() {
		s.mu.Lock()
		delete(s.known, c.Param("name"))
		s.mu.Unlock()
		succeed(c)
	})
}

// record makes what was asked durable, then does and answers it.
func (s *states) record(c *gin.Context, body []byte, then func()) {
	if err := s.log.Append([]byte(c.Request.Method), []byte(c.Param("name")), []byte(c.Query("ID")), body); err != nil {
		c.Status(http.StatusInternalServerError)
		return
	}
	then()
}

func readLock(c *gin.Context) (body []byte, id string, ok bool) {
	var info struct{ ID string }
	body, err := readBody(c.Request)
	if err == nil {
		err = json.Unmarshal(body, &info)
	}
	return body, info.ID, err == nil && info.ID != ""
}

// readBody reads a body of a known length into as much memory as it needs.
func readBody(r *http.Request) ([]byte, error) {
	if r.ContentLength < 0 {
		return io.ReadAll(r.Body)
	}
	body := make([]byte, r.ContentLength)
	_, err := io.ReadFull(r.Body, body)
	return body, err
}
