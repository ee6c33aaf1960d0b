package statetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/state"
	"github.com/holdfast/holdfast/state/statemodel"
)

// checkLinearizable records what concurrent callers of one state asked and were told, and
// looks for an order of the calls in which the model answers the same. Many short
// histories find more, and are decided sooner, than a long one.
func checkLinearizable(t *testing.T, store state.Store) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	for round := range uint64(60) {
		history := record(t.Context(), store, rand.New(rand.NewPCG(seed, round)))
		switch porcupine.CheckOperationsTimeout(linearModel(), history, 20*time.Second) {
		case porcupine.Illegal:
			t.Fatalf("round %d is not linearizable:\n%s", round, transcript(history))
		case porcupine.Unknown:
			t.Fatalf("round %d could not be decided in time", round)
		case porcupine.Ok:
		}
	}
}

func linearModel() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return statemodel.Model{} },
		Step: func(before, input, output any) (bool, any) {
			after, want := before.(statemodel.Model).Apply(input.(statemodel.Op))
			return output.(statemodel.Outcome) == want, after
		},
	}
}

// record runs a few clients at once on a new state.
func record(ctx context.Context, store state.Store, random *rand.Rand) []porcupine.Operation {
	const clients, calls = 5, 12
	service, caller := newService(store),
		auth.Principal{Org: uuid.New(), KeyID: "key", Grant: auth.Grant{Role: auth.Owner}}
	plans := make([][]statemodel.Op, clients)
	for client := range plans {
		for call := range calls {
			plans[client] = append(plans[client], randomOp(random, client, call))
		}
	}
	start, history := time.Now(), make([][]porcupine.Operation, clients)
	var wg sync.WaitGroup
	for client, plan := range plans {
		wg.Go(func() {
			for _, o := range plan {
				call := time.Since(start)
				// A fault that the model does not know fails the round.
				out, _ := perform(ctx, service, caller, "linear", o)
				history[client] = append(history[client], porcupine.Operation{
					ClientId: client, Input: o, Output: out, Call: int64(call), Return: int64(time.Since(start)),
				})
			}
		})
	}
	wg.Wait()
	var all []porcupine.Operation
	for _, part := range history {
		all = append(all, part...)
	}
	return all
}

// randomOp leans to what others can see: writes without a lock, and reads.
func randomOp(random *rand.Rand, client, call int) statemodel.Op {
	id := fmt.Sprint("lock", client%3, "-", call/4) // each is good for one lock
	unique := string(stateBody(uint64(call), fmt.Sprint(client)))
	switch random.IntN(13) {
	case 0, 1, 2, 3:
		return statemodel.Op{Kind: "get"}
	case 4, 5:
		return statemodel.Op{Kind: "put", Body: unique}
	case 6:
		return statemodel.Op{Kind: "put", Body: unique, ID: id, Release: random.IntN(2) == 0}
	case 7:
		return statemodel.Op{Kind: "put", Body: string(stateBody(0, "the same of all"))}
	case 8:
		return statemodel.Op{Kind: "delete"}
	case 12:
		return statemodel.Op{Kind: "undelete"}
	case 9:
		return statemodel.Op{Kind: "lock", ID: id, Who: id}
	case 10:
		return statemodel.Op{Kind: "unlock", ID: id}
	}
	return statemodel.Op{Kind: "holder"}
}

func transcript(history []porcupine.Operation) string {
	text := ""
	for _, o := range history {
		text += fmt.Sprintf("client %d [%d, %d] %+v -> %+v\n", o.ClientId, o.Call, o.Return, o.Input, o.Output)
	}
	return text
}
