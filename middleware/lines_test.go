package middleware

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/google/go-cmp/cmp"
)

// lineServer answers with as many bytes as a request asks for, after it read the body. Each
// answer has a line with the request's path.
func lineServer(t *testing.T) net.Conn {
	t.Helper()
	router := gin.New()
	router.Use(Paced(Pace{}, time.Now))
	router.POST("/:length", func(c *gin.Context) {
		setLine(c, "X-Line", c.Request.URL.Path)
		if _, err := io.Copy(io.Discard, c.Request.Body); err != nil {
			t.Error(err)
		}
		length, _ := strconv.Atoi(c.Param("length"))
		// It looks like the beginning of an answer.
		c.String(http.StatusOK, "%s", strings.Repeat("HTTP/1.1 200 OK\r\n", length))
	})
	server := httptest.NewUnstartedServer(router)
	server.Listener = Listen(server.Listener)
	server.Config.ConnContext = ConnContext
	server.Start()
	t.Cleanup(server.Close)
	raw, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}

// Each answer has its own lines, once, whatever comes before it and however long it is.
func TestLinesGoOutWithTheirAnswer(t *testing.T) {
	raw := lineServer(t)
	in := bufio.NewReader(raw)
	for _, head := range []string{"", "Expect: 100-continue\r\n"} {
		for _, length := range []int{0, 1, 200, 300, 100_000} {
			path := "/" + strconv.Itoa(length)
			// Two at once, so that the second one waits behind the first.
			ask := fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n%s\r\nbody", path, head)
			if _, err := io.WriteString(raw, ask+ask); err != nil {
				t.Fatal(err)
			}
			for range 2 {
				answer := readFinal(t, in)
				text, err := io.ReadAll(answer.Body)
				if want := []string{path}; err != nil || !cmp.Equal(answer.Header["X-Line"], want) || len(text) != 17*length {
					t.Errorf("%s %q: lines %q, %d bytes, %v", path, head, answer.Header["X-Line"], len(text), err)
				}
			}
		}
	}
}

// readFinal reads an answer, and what may come before it.
func readFinal(t *testing.T, in *bufio.Reader) *http.Response {
	t.Helper()
	for {
		answer, err := http.ReadResponse(in, nil)
		if err != nil {
			t.Fatal(err)
		}
		if answer.StatusCode != http.StatusContinue {
			return answer
		}
		if len(answer.Header) != 0 {
			t.Errorf("100 Continue has %v", answer.Header)
		}
	}
}
