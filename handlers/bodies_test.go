package handlers_test

import (
	"net/http/httptest"
	"testing"

	"github.com/holdfast/holdfast/handlers"
	"github.com/holdfast/holdfast/middleware"
)

// endlessBody has no end, and counts what was read of it.
type endlessBody struct {
	endless
	read int
}

func (b *endlessBody) Read(p []byte) (int, error) {
	n, err := b.endless.Read(p)
	b.read += n
	return n, err
}

// TestNoBodyIsReadWithoutMemory sends bodies without an end to every route, of a server that has little memory for
// bodies: none reads more than there is room for, and one whose description has no body reads what tells that nothing
// is in it at most. Files are read piece by piece, up to the largest that is kept: test/bodies_linux_test.go measures
// what the pieces take.
func TestNoBodyIsReadWithoutMemory(t *testing.T) {
	const nothing, room, largestFile = 16<<10 + 1, 1 << 20, 11 << 20
	deps, c, fill := wireWorldOf(t)
	deps.Limits.Memory = middleware.NewMemory(room)
	router, err := handlers.NewRouter(deps)
	if err != nil {
		t.Fatal(err)
	}
	all := wireRequests(t)
	for _, route := range inOrderOfWalk(all) {
		for _, r := range all[route] {
			body, most := &endlessBody{}, nothing
			asked := r.made(c, fill, body)
			asked.ContentLength = -1
			if about := r.about.Body; about != nil {
				asked.Header.Set("Content-Type", about.Contents[0].Media)
				if most = room; about.Contents[0].Media == "application/octet-stream" {
					most = largestFile
				}
			}
			router.ServeHTTP(httptest.NewRecorder(), asked)
			if body.read > most {
				t.Errorf("%s %s reads %d bytes of a body, and may read %d", r.method, r.request, body.read, most)
			}
		}
	}
}
