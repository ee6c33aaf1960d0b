package middleware

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
)

// The router keeps what belongs to a request until the next one; that must not be its body.
func TestBodiesAreLetGoOf(t *testing.T) {
	var kept *admission
	router := gin.New()
	router.PUT("/", NewGuard(Limits{}, time.Now).States(nil), Admit(100), func(c *gin.Context) {
		if kept = admissionOf(c); string(Body(c)) != "{}" {
			t.Errorf("the body is %q", Body(c))
		}
	})
	router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPut, "/", strings.NewReader("{}")))
	if kept == nil || kept.body != nil {
		t.Errorf("%+v; want no body in it any more", kept)
	}
}

// The last buffer but one of a body whose length is known is a quarter of it, so that both
// together are little more than the body.
func TestKnownBodiesGrowInStepsThatEndAtTheirLength(t *testing.T) {
	for _, length := range []int64{4097, 20_000, 1 << 20, 65 << 20, 94_324_390} {
		r, size, before := planFor(length, 1<<30), int64(firstBytes), int64(0)
		for size < length {
			size, before = r.after(size), size
			if size <= before || size > knownGrowth*before {
				t.Fatalf("%d: from %d to %d", length, before, size)
			}
		}
		if size != length+1 || before > max(length/knownGrowth+knownGrowth, firstBytes) {
			t.Errorf("%d: the last buffers have %d and %d bytes", length, before, size)
		}
	}
}
