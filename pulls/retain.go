package pulls

import (
	"cmp"
	"context"
	"time"
)

const (
	// restTime is for how long a pull request is known that is over: people look it up.
	restTime = 90 * 24 * time.Hour
	// mostResting is how many that are over are known of a repository, those with the highest numbers, by default.
	mostResting = 1000
	sweptAtOnce = 200
)

// Sweep removes pull requests that are over and that nobody needs to look up any more. One that its forge tells of
// again is looked at as a new one, and finds its comment by the marker in it.
func (s *Service) Sweep(ctx context.Context) error {
	before, most := s.clock().Add(-restTime), cmp.Or(s.Resting, mostResting)
	var known []Pull // of the repository that was come to, without what they say
	for after := (Ref{}); ; {
		page, err := s.Store.Resting(ctx, after, sweptAtOnce)
		if err != nil {
			return err
		}
		for _, p := range page {
			after = p.Ref
			if len(known) > 0 && (known[0].Org != p.Org || known[0].Repository != p.Repository) {
				known = nil
			}
			gone := p
			if !p.SeenAt.Before(before) {
				if known = append(known, Pull{Ref: p.Ref, Revision: p.Revision}); len(known) <= most {
					continue
				}
				gone, known = known[0], known[1:]
			}
			if _, err := s.Store.Remove(ctx, gone); err != nil {
				return err
			}
		}
		if len(page) < sweptAtOnce {
			return nil
		}
	}
}
