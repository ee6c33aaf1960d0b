package state

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/holdfast/holdfast/fault"
)

// Room is the memory for large states that are looked into: compared, shown in part,
// indexed. Who needs some waits for it, so that what is asked for at once takes no more
// memory than one after the other. A nil Room has no bound.
type Room struct{ bytes *semaphore.Weighted }

const (
	// roomBytes are two states of 104 MB, for a difference. What needs more is alone.
	roomBytes = 208 << 20
	// leastLarge is where states begin to be large. Smaller ones never wait.
	leastLarge = 8 << 20
	// roomWait is how long somebody waits: who holds room may send to a slow reader.
	roomWait = 30 * time.Second
)

// NewRoom returns a Room with all of its bytes free.
func NewRoom() *Room { return &Room{semaphore.NewWeighted(roomBytes)} }

// Take waits until there is room for bodies of size bytes together. The caller calls release
// when it has let go of them, and takes no more before: two who hold a part each would wait
// for one another. Its fault is Overloaded.
func (r *Room) Take(ctx context.Context, size int64) (release func(), err error) {
	if r == nil || size < leastLarge {
		return func() {}, nil
	}
	size = min(size, roomBytes)
	waiting, cancel := context.WithTimeout(ctx, roomWait)
	defer cancel()
	if err := r.bytes.Acquire(waiting, size); err != nil {
		return nil, errNoRoom(ctx)
	}
	collect(size)
	return sync.OnceFunc(func() { r.bytes.Release(size) }), nil
}

// TakeFree is Take for a write, which waits for nobody: where there is no room it goes on
// without. Who comes to look meanwhile waits for it.
func (r *Room) TakeFree(size int64) (release func()) {
	if r == nil || size < leastLarge {
		return func() {}
	}
	collect(size)
	if size = min(size, roomBytes); !r.bytes.TryAcquire(size) {
		return func() {}
	}
	return func() { r.bytes.Release(size) }
}

// collect has the collector come before or after size bytes are in hand. Bodies that were
// let go of are garbage until it does, which by itself may be when there is twice as much.
// It takes milliseconds; to read or to store a large state takes seconds.
func collect(size int64) {
	if size >= leastLarge {
		debug.FreeOSMemory()
	}
}

func errNoRoom(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f := fault.New(fault.Overloaded, "other large states are being read, and there is no memory for more at once; nothing was done")
	f.RetryAfter = time.Second
	return f
}

// Room is where everybody who looks into the service's states takes room.
func (s *Service) Room() *Room { return s.room }

// roomFor takes room for versions by their numbers; 0 is the newest. One that is not there
// needs none.
func (s *Service) roomFor(ctx context.Context, ref Ref, numbers ...uint64) (release func(), err error) {
	var size int64
	for _, number := range numbers {
		n, err := s.sizeOf(ctx, ref, number)
		if err != nil {
			return nil, err
		}
		size += n
	}
	return s.room.Take(ctx, size)
}

func (s *Service) sizeOf(ctx context.Context, ref Ref, number uint64) (int64, error) {
	if number == 0 {
		head, err := s.store.Head(ctx, ref)
		return head.Version.Size, err
	}
	found, err := s.store.Versions(ctx, ref, number+1, 1)
	if err != nil || len(found) == 0 || found[0].Number != number {
		return 0, err
	}
	return found[0].Size, nil
}
