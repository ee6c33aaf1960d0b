package statetest

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/killtest"
	"github.com/holdfast/holdfast/state"
)

// ChildMain is the first call of an engine's TestMain. It returns at once, unless this
// process is the child that RunDurable starts and kills: then it works on the store until
// it dies.
func ChildMain(open func(dir string) (state.Store, error)) {
	killtest.Child(childDir, open, func(store state.Store, seed uint64) {
		c := &child{service: newService(store), refs: tortured()}
		c.work(seed)
	})
}

// child is the process that gets killed.
type child struct {
	service *state.Service
	refs    []state.Ref
	calls   atomic.Int64
}

func (c *child) work(seed uint64) {
	for i := range c.refs {
		c.unlockLeftover(i)
	}
	var wg sync.WaitGroup
	for i := range uint64(8) {
		wg.Go(func() { newWorker(c, seed, i).run() })
	}
	wg.Wait() // never
}

// unlockLeftover frees what the previous child held when it died.
func (c *child) unlockLeftover(i int) {
	lock, err := c.service.Holder(context.Background(), c.caller(i), c.refs[i].Name)
	if err != nil {
		killtest.Tell(event{Phase: killtest.Failed, Kind: "holder", State: i, Reason: err.Error()})
		return
	}
	if lock != nil {
		c.call(event{Kind: callUnlock, State: i, Lock: lock.Info.ID}, nil)
	}
}

func (c *child) caller(i int) auth.Principal {
	return auth.Principal{Org: c.refs[i].Org, KeyID: "key", Grant: auth.Grant{Role: auth.Owner}}
}

// call makes one call and tells of it before and after. It reports success.
func (c *child) call(e event, body []byte) bool {
	e.Phase, e.Call = killtest.Begun, c.calls.Add(1)
	killtest.Tell(e)
	number, err := c.make(e, body)
	switch {
	case err == nil:
		e.Phase, e.Number = killtest.Acked, number
	case fault.Is(err, fault.LockHeld):
		e.Phase = killtest.Refused
	default:
		e.Phase, e.Reason = killtest.Failed, err.Error()
	}
	killtest.Tell(e)
	return err == nil
}

func (c *child) make(e event, body []byte) (uint64, error) {
	ctx, caller, name := context.Background(), c.caller(e.State), c.refs[e.State].Name
	switch e.Kind {
	case callLock:
		_, err := c.service.Lock(ctx, caller, name, state.LockInfo{ID: e.Lock, Who: e.Lock, Raw: lockRaw(e.Lock, e.Lock)})
		return 0, err
	case callUnlock:
		return 0, c.service.Unlock(ctx, caller, name, state.LockInfo{ID: e.Lock})
	}
	v, err := c.service.Put(ctx, caller, name, state.Write{Body: body, LockID: e.Lock, Release: e.Kind == callFinal})
	return v.Number, err
}
