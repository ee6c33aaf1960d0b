package resources

import (
	"context"
	"time"
)

// restFor is how many times as long as it worked an indexer rests. While states were written
// all the time it took a third of the processor's time with states of 10 KB, and half with
// 100 KB, from those who write. A tenth of one processor is left of that.
const restFor = 9

// pace is that of one look at what is written.
type pace struct {
	wake  <-chan struct{} // somebody waits for what is being done; nil if there are no rests
	began time.Time       // when the look did, or when its last rest ended
}

// work does a piece of work, and rests from it and from what was read for it since the last
// rest: reading what 1,000 uploads a second brought took a tenth of a processor by itself.
func (p *pace) work(ctx context.Context, piece func() error) error {
	if err := piece(); err != nil {
		return err
	}
	p.rest(ctx, restFor*time.Since(p.began))
	p.began = time.Now()
	return nil
}

// rest ends early when somebody waits, and is then the look's last.
func (p *pace) rest(ctx context.Context, long time.Duration) {
	if p.wake == nil {
		return
	}
	timer := time.NewTimer(long)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-p.wake:
		p.wake = nil
	case <-ctx.Done():
	}
}
