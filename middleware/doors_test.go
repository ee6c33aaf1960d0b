package middleware

import (
	"context"
	"net/http/httptest"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// TestDoors shuts an organization's door while a request of it is inside.
func TestDoors(t *testing.T) {
	doors, org, other := NewDoors(), uuid.New(), uuid.New()
	arrived, leave := make(chan uuid.UUID), make(chan struct{})
	engine := gin.New()
	engine.Use(doors.Watch())
	engine.GET("/:org", Identify(nil, func(_ context.Context, c *gin.Context, _ string) (auth.Principal, error) {
		id, err := uuid.Parse(c.Param("org"))
		return auth.Principal{Org: id}, err
	}), func(c *gin.Context) {
		arrived <- Principal(c).Org
		<-leave
	})
	get := func(org uuid.UUID) (answered chan int) {
		answered = make(chan int, 1)
		r := httptest.NewRequest("GET", "/"+org.String(), nil)
		r.Header.Set("Authorization", "Bearer secret")
		w := httptest.NewRecorder()
		go func() {
			engine.ServeHTTP(w, r)
			answered <- w.Code
		}()
		return answered
	}
	inside := get(org)
	<-arrived
	empty := doors.Shut(org)
	if code := <-get(org); code != 401 {
		t.Errorf("who comes later has %d", code)
	}
	others := get(other)
	<-arrived
	select {
	case <-empty:
		t.Error("somebody is inside")
	default:
	}
	leave <- struct{}{}
	leave <- struct{}{}
	if a, b := <-inside, <-others; a != 200 || b != 200 {
		t.Errorf("who was inside has %d and %d", a, b)
	}
	<-empty
	<-doors.Shut(org) // again is fine
	if len(doors.inside) > 0 {
		t.Errorf("%v are inside", doors.inside)
	}
	doors.Open(org)
	again := get(org)
	<-arrived
	leave <- struct{}{}
	if code := <-again; code != 200 {
		t.Errorf("behind the open door: %d", code)
	}
}
