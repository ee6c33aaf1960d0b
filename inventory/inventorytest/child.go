package inventorytest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/inventory"
)

// inventoryDir is in the environment of the child; an engine that keeps both states and
// inventories has two kinds of children.
const inventoryDir = "HOLDFAST_INVENTORYTEST_DIR"

// ChildMain is the first call of an engine's TestMain. It returns at once,
// unless this process is the child that RunDurable starts and kills: then it
// uploads to the store until it dies.
func ChildMain(open func(dir string) (inventory.Store, error)) {
	killtest.Child(inventoryDir, open, func(store inventory.Store, seed uint64) {
		var wg sync.WaitGroup
		for i := range uint64(8) {
			wg.Go(func() { newUploader(store, seed, i).run() })
		}
		wg.Wait() // never
	})
}

// uploadEvent is a line of what the child tells its parent: that it sets out to upload a
// batch, or how that ended.
type uploadEvent struct {
	Phase   killtest.Phase
	Parcel  parcel
	Receipt inventory.Receipt
	Reason  string // of a failure
}

// Outcome implements killtest.Told.
func (e uploadEvent) Outcome() (bool, error) {
	if e.Phase == killtest.Failed {
		return false, fmt.Errorf("upload of %+v: %s", e.Parcel, e.Reason)
	}
	return e.Phase == killtest.Acked, nil
}

// parcel is what a batch is made from, the same in every process.
type parcel struct {
	ID   string
	Org  int // in uploaders()
	Size int
	// After is the one before it in the same AppendAll.
	After string
}

// uploaders returns the organizations that the children upload for.
func uploaders() []uuid.UUID { return []uuid.UUID{{1}, {1, 15: 1}, {2}} }

// batch unpacks the parcel. Some resources are long: a kill shall find them half written.
func (p parcel) batch() inventory.Batch {
	batch := namedBatch(uploaders()[p.Org], p.ID, p.Size)
	sum := sha256.Sum256([]byte(p.ID))
	for i := range batch.Resources {
		resource := &batch.Resources[i]
		resource.Provider = someWords()[(int(sum[0])+i)%3]
		resource.ResourceType = fmt.Sprint("type-", i%3)
		filler := strings.Repeat("\u2028,\\\"\\n", int(sum[1+i%30])*(i%5))
		resource.Attributes = fmt.Appendf(nil, `{"batch":%q,"index":%d,"n":1.0,"filler":"%s"}`, p.ID, i, filler)
	}
	batch.Digest = DigestOf(batch.Resources)
	return batch
}

// uploader is one of the child's clients.
type uploader struct {
	store  inventory.Store
	name   string // unique over all rounds
	random *rand.Rand
}

func newUploader(store inventory.Store, seed, number uint64) *uploader {
	source := rand.NewChaCha8(sha256.Sum256(fmt.Append(nil, seed, number)))
	return &uploader{store: store, name: fmt.Sprintf("%x-%d", seed, number), random: rand.New(source)}
}

func (u *uploader) run() {
	for count := 0; ; count++ {
		p := u.parcel(count)
		if u.random.IntN(10) > 0 {
			u.upload(p)
			continue
		}
		parcels := []parcel{p}
		for range 1 + u.random.IntN(20) {
			count++
			next := u.parcel(count)
			next.Org, next.After = p.Org, parcels[len(parcels)-1].ID
			parcels = append(parcels, next)
		}
		u.uploadAll(parcels)
	}
}

func (u *uploader) parcel(count int) parcel {
	p := parcel{ID: fmt.Sprint(u.name, "-", count), Org: u.random.IntN(len(uploaders())), Size: 1}
	switch n := u.random.IntN(10); {
	case n < 2:
		p.Size = 100
	case n < 5:
		p.Size = n * n
	}
	return p
}

// uploadAll sends batches of an organization at once.
func (u *uploader) uploadAll(parcels []parcel) {
	var batches []inventory.Batch
	for _, p := range parcels {
		killtest.Tell(uploadEvent{Phase: killtest.Begun, Parcel: p})
		batches = append(batches, p.batch())
	}
	receipts, err := u.store.AppendAll(context.Background(), batches)
	for i, receipt := range receipts {
		killtest.Tell(uploadEvent{Phase: killtest.Acked, Parcel: parcels[i], Receipt: receipt})
	}
	if err != nil {
		killtest.Tell(uploadEvent{Phase: killtest.Failed, Parcel: parcels[len(receipts)], Reason: err.Error()})
	}
}

// upload sends a batch, now and then twice at once or once more afterwards.
func (u *uploader) upload(p parcel) {
	killtest.Tell(uploadEvent{Phase: killtest.Begun, Parcel: p})
	batch := p.batch()
	times := 1
	if u.random.IntN(8) == 0 {
		times = 2
	}
	receipts, errs := make([]inventory.Receipt, times), make([]error, times)
	var wg sync.WaitGroup
	for i := range times {
		wg.Go(func() { receipts[i], errs[i] = u.store.Append(context.Background(), batch) })
	}
	wg.Wait()
	if err := errors.Join(errs...); err != nil {
		killtest.Tell(uploadEvent{Phase: killtest.Failed, Parcel: p, Reason: err.Error()})
		return
	}
	killtest.Tell(uploadEvent{Phase: killtest.Acked, Parcel: p, Receipt: receipts[0]})
	if u.random.IntN(8) == 0 {
		again, err := u.store.Append(context.Background(), batch)
		if err != nil || !again.Replayed || !again.At.Equal(receipts[0].At) {
			killtest.Tell(uploadEvent{Phase: killtest.Failed, Parcel: p, Reason: fmt.Sprintf("sent again: %+v, %v", again, err)})
		}
	}
}
