package middleware

import (
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
)

// TestNodesShareRates: each of several nodes admits its part of a rate, of the usual one and of an
// organization's own, and at least one request.
func TestNodesShareRates(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	for _, test := range []struct{ nodes, usual, own, want int }{
		{0, 60, 0, 60}, {1, 60, 0, 60}, {3, 60, 0, 20}, {3, 100, 0, 33}, {3, 60, 30, 10},
		{3, 2, 0, 1}, {100, 60, 1, 1}, {3, 0, 0, 0}, {3, 60, auth.Unlimited, 0},
	} {
		g := NewGuard(Limits{Requests: test.usual, States: test.usual, Nodes: test.nodes}, func() time.Time { return now })
		p := auth.Principal{Org: uuid.New(), Limits: auth.Limits{Requests: test.own, States: test.own}}
		if requests, states, _ := g.Left(p); requests != test.want || states != test.want {
			t.Errorf("of %d nodes with %d, own %d: %d and %d are left, want %d", test.nodes, test.usual, test.own, requests,
				states, test.want)
		}
		admitted := 0
		for range test.want + 1 {
			if s := g.requests.count(p, anyRequest); s.wait == 0 && s.delay == 0 {
				admitted++
			}
		}
		if test.want > 0 && admitted != test.want {
			t.Errorf("of %d nodes with %d, own %d: %d passed at once, want %d", test.nodes, test.usual, test.own, admitted,
				test.want)
		}
	}
}
