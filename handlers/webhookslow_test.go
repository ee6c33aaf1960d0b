package handlers

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/middleware"
)

// TestSlowDelivery: a delivery that never ends gives its place back, by HTTP/1 and by HTTP/2, and the next one is read.
func TestSlowDelivery(t *testing.T) {
	gin.SetMode(gin.TestMode)
	for _, two := range []bool{false, true} {
		read := make(chan error, 1)
		patience := 50 * time.Millisecond
		engine := gin.New()
		engine.Use(middleware.Paced(middleware.Pace{}, time.Now))
		engine.POST("/", func(c *gin.Context) {
			h := webhooks{patience: patience}
			_, _, err := h.read(&request{header: c.Request.Header, c: c}, uuid.New())
			read <- err
			c.Status(http.StatusNoContent)
		})
		server := httptest.NewUnstartedServer(engine)
		server.EnableHTTP2 = two
		server.StartTLS()
		t.Cleanup(server.Close)
		send := func(body io.Reader) (major int) {
			answer, err := server.Client().Post(server.URL, "application/json", body)
			if err != nil {
				return 0 // the connection is gone, which is as good an answer
			}
			defer answer.Body.Close()
			return answer.ProtoMajor
		}
		unfinished, write := io.Pipe()
		go send(unfinished)
		if _, err := write.Write([]byte("{")); err != nil {
			t.Fatal(err)
		}
		if err := <-read; !fault.Is(err, fault.BodyTooSlow) {
			t.Errorf("HTTP/2 %v: %v", two, err)
		}
		_ = write.Close()
		patience = time.Hour
		major := send(strings.NewReader("{}"))
		if err := <-read; err != nil || major != map[bool]int{false: 1, true: 2}[two] {
			t.Errorf("HTTP/%d: %v", major, err)
		}
	}
}
