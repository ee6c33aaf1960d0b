package statetest

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
)

// worker is one of the child's clients.
type worker struct {
	child  *child
	name   string // unique over all rounds
	source *rand.ChaCha8
	random *rand.Rand
	count  uint64
}

func newWorker(c *child, seed, number uint64) *worker {
	source := rand.NewChaCha8(sha256.Sum256(fmt.Append(nil, seed, number)))
	return &worker{child: c, name: fmt.Sprintf("%x-%d", seed, number), source: source, random: rand.New(source)}
}

func (w *worker) run() {
	for {
		i := w.random.IntN(len(w.child.refs))
		if w.random.IntN(5) < 2 {
			w.apply(i)
		} else {
			w.put(callPut, i, "")
		}
	}
}

// apply is what a client does in an apply: LOCK, some writes, UNLOCK; or the last write
// releases the lock.
func (w *worker) apply(i int) {
	w.count++
	id := fmt.Sprint(w.name, "-", w.count)
	if !w.child.call(event{Kind: callLock, State: i, Lock: id}, nil) {
		return
	}
	for range w.random.IntN(4) {
		w.put(callPut, i, id)
	}
	if w.random.IntN(2) == 0 {
		w.put(callFinal, i, id)
	} else {
		w.child.call(event{Kind: callUnlock, State: i, Lock: id}, nil)
	}
}

func (w *worker) put(kind string, i int, id string) {
	body := w.body()
	w.child.call(event{Kind: kind, State: i, Lock: id, Digest: sha256.Sum256(body)}, body)
}

// body returns a state that nobody else writes: small ones, 10 KB and 300 KB. Three in four
// are like many others but for their beginning and a few bytes.
func (w *worker) body() []byte {
	w.count++
	size := 10 << 10
	switch n := w.random.IntN(100); {
	case n < 4:
		size = 300 << 10
	case n < 30:
		size = n
	}
	filler := make([]byte, size*3/4)
	from := w.source
	if w.random.IntN(4) > 0 {
		from = rand.NewChaCha8([32]byte{})
	}
	_, _ = from.Read(filler) // never fails
	_, _ = w.source.Read(filler[len(filler)/2 : min(len(filler)/2+60, len(filler))])
	return stateBody(w.count, w.name+base64.StdEncoding.EncodeToString(filler))
}
