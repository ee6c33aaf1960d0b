//go:build e2e

package test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/google/uuid"
)

// quietGap is between two requests of one worker of the quiet organization's.
const quietGap = 5 * time.Millisecond

// quietLists are what it reads of lists, each as a kind of its own.
func quietLists() map[string]string {
	return map[string]string{
		"list": "/api/v1/states?limit=10", "audit": "/api/v1/audit?limit=10", "data": "/api/v1/data?limit=10&order=desc",
		"latest": "/api/v1/data/latest?limit=10", "search": "/api/v1/resources?q=web&limit=10",
	}
}

// quietWork does what clients, providers and people do, side by side, and returns how each
// kind of request fared: for so long, or until it has enough of each kind.
func (n *neighbours) quietWork(howLong time.Duration, enough int) map[string]*answers {
	all := map[string]*answers{"lock": {}, "write": {}, "read": {}, "unlock": {}, "upload": {}}
	for kind := range quietLists() {
		all[kind] = &answers{}
	}
	var working sync.WaitGroup
	end := time.Now().Add(howLong)
	work := func(round func()) {
		working.Go(func() {
			for time.Now().Before(end) && !(measuresBriefly() && haveEach(all, enough)) {
				round()
				time.Sleep(quietGap)
			}
		})
	}
	work(func() { n.quietRun(all) })
	work(func() { all["upload"].ask(n.quiet, "POST", "/api/v1/upload", quietReport) })
	for kind, path := range quietLists() {
		got := all[kind]
		work(func() { got.ask(n.quiet, "GET", path, "") })
	}
	working.Wait()
	return all
}

// haveEach says whether there are so many answers of each kind.
func haveEach(all map[string]*answers, enough int) bool {
	for _, got := range all {
		if got.count() < enough {
			return false
		}
	}
	return true
}

const quietReport = `{"provider":"aws","category":"compute","resource_type":"vm","instances":[{"resource_name":"web","attributes":{"size":"large"}}]}`

// quietRun is a client's run.
func (n *neighbours) quietRun(got map[string]*answers) {
	const path = "/api/v1/state/quiet"
	id := uuid.NewString()
	info := fmt.Sprintf(`{"ID":%q,"Who":"ada@engine"}`, id)
	got["lock"].ask(n.quiet, "LOCK", path, info)
	got["write"].ask(n.quiet, "POST", path+"?ID="+id, stateOfSize(10_000+len(got["write"].times)))
	got["read"].ask(n.quiet, "GET", path, "")
	got["unlock"].ask(n.quiet, "UNLOCK", path, info)
}

// indexed waits until the index of resources has what was prepared: to make it takes the
// time of all.
func (n *neighbours) indexed() error {
	return poll(func() error {
		answer, err := n.noisy.send("GET", "/api/v1/resources?limit=1", nil)
		if err != nil {
			return err
		}
		defer answer.Body.Close()
		var extent struct{ Complete bool }
		if err := json.NewDecoder(answer.Body).Decode(&extent); err != nil || answer.StatusCode != http.StatusOK {
			return errors.Join(err, errors.New(answer.Status))
		}
		if !extent.Complete {
			return errors.New("the index is behind")
		}
		return nil
	})
}
