//go:build e2e

package test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/holdfast/holdfast/state"
)

// scenarios have one for each thing that organizations share and wait for, and whose bounds no test of its own
// package holds: who adds such a thing adds a scenario.
func scenarios() []scenario {
	return []scenario{
		{
			shared:  "readers of lists",
			prepare: manyEvents,
			worst: []worst{
				again(20, "GET", "/api/v1/audit?key=nobody", ""), again(10, "GET", "/api/v1/audit?action=lock.take&state=none", ""),
				again(10, "GET", "/api/v1/states?deleted=true", ""),
			},
		},
		{
			shared:  "the writer",
			prepare: purgedVersions,
			worst: []worst{
				again(20, "DELETE", "/api/v1/state/secret/versions/1?reason=again", ""),
				again(20, "POST", "/api/v1/state/noise", stateOfSize(100_000)), again(5, "POST", "/api/v1/upload", quietReport),
			},
		},
		{
			shared:  "turns of readings",
			prepare: manyReports,
			worst: []worst{takeSlowly(8, "/api/v1/data/latest"), takeSlowly(8, "/api/v1/data"),
				takeSlowly(8, "/api/v1/data?order=desc")},
		},
		{
			shared:  "turns of histories",
			prepare: manyVersions,
			worst:   []worst{again(20, "GET", "/api/v1/resources/terraform_data.a/history?state=long&limit=1000", "")},
		},
		{
			shared:  "memory for bodies",
			prepare: largeStates,
			worst: []worst{
				takeSlowly(8, "/api/v1/state/large?view=redacted"), takeSlowly(8, "/api/v1/state/large/versions/2/diff"),
				takeSlowly(30, "/api/v1/state/large/versions/1"), takeSlowly(30, "/api/v1/state/large"),
			},
		},
		{
			shared: "places of requests",
			worst: []worst{again(100, "POST", "/api/v1/state/noise?ID=guessed", stateOfSize(1000)),
				again(50, "GET", "/api/v1/states", "")},
		},
		{
			shared:  "the index of resources",
			prepare: manyReports,
			worst: []worst{again(20, "GET", "/api/v1/resources?q=a&limit=1000", ""),
				again(5, "GET", "/api/v1/resources/coverage", "")},
		},
		{
			shared:  "the backlog of a dual store", // nobody listens on port 1
			environ: []string{"STORAGE_TYPE=dual", "DB_HOST=127.0.0.1", "DB_PORT=1", "DB_USER=nobody"},
			worst:   []worst{again(20, "POST", "/api/v1/upload", manyInstances(1))},
		},
		{
			shared:   "notices",
			settings: []string{"notify_url = http://127.0.0.1:1/nobody-listens"},
			worst:    []worst{forceLocks},
			holds:    noticeArrives,
		},
		{
			shared:  "files of uploads",
			prepare: touchedFile,
			worst: []worst{
				again(10, "POST", "/api/v1/upload", manyInstances(1)), again(10, "GET", "/api/v1/data?order=desc&limit=1000", ""),
				again(10, "GET", "/api/v1/data/summary", ""),
			},
		},
		{
			shared:   "the disk",
			settings: []string{"quota = 20MiB"},
			worst:    []worst{fill},
		},
		{
			shared:  "connections",
			environ: []string{"HOLDFAST_MAX_CONNECTIONS=100"},
			worst:   []worst{keepConnections(300)},
		},
	}
}

const (
	events   = 100_000
	reports  = 500 // of 100 resources each
	large    = 24 << 20
	versions = 200
)

// manyEvents gives the noisy organization a long audit log, and many states.
func manyEvents(n *neighbours, b *belowHTTP) {
	p := ownerOf(n.noisy.id)
	b.each(n.t, events/2, func(i int) error {
		name := state.Name(fmt.Sprint("app-", i%20_000))
		info := state.LockInfo{ID: fmt.Sprint("run-", i), Operation: "apply", Who: "ada@engine", Version: "1.12.6",
			Created: "2026-01-31T12:00:00Z"}
		if _, err := b.states.Lock(n.t.Context(), p, name, info); err != nil {
			return err
		}
		return b.states.Unlock(n.t.Context(), p, name, info)
	})
}

// purgedVersions gives it a database worth looking through, and a version to purge.
func purgedVersions(n *neighbours, b *belowHTTP) {
	p := ownerOf(n.noisy.id)
	b.each(n.t, 4000, func(i int) error {
		_, err := b.states.Put(n.t.Context(), p, state.Name(fmt.Sprint("app-", i)),
			state.Write{Body: []byte(uniqueState(20_000, i))})
		return err
	})
	for i := range 2 {
		if _, err := b.states.Put(n.t.Context(), p, "secret", state.Write{Body: []byte(uniqueState(1000, i))}); err != nil {
			n.t.Fatal(err)
		}
	}
	if err := b.states.Purge(n.t.Context(), p, "secret", 1, "leaked"); err != nil {
		n.t.Fatal(err)
	}
}

func manyReports(n *neighbours, b *belowHTTP) {
	b.each(n.t, reports, func(i int) error {
		_, err := b.uploads.Upload(n.t.Context(), ownerOf(n.noisy.id), []byte(manyInstances(i)), "")
		return err
	})
}

// touchedFile is one that was changed, for all that the server knows: it has to be compared
// with its index, to its end, before it is used.
func touchedFile(n *neighbours, b *belowHTTP) {
	manyReports(n, b)
	b.close(n.t)
	b.end = nil
	later := time.Now().Add(time.Second)
	if err := os.Chtimes(filepath.Join(n.dir, "data", n.noisy.id.String()+".csv"), later, later); err != nil {
		n.t.Fatal(err)
	}
}

// manyInstances is an upload of as many as there may be in one.
func manyInstances(number int) string {
	var all []string
	for i := range 100 {
		all = append(all, fmt.Sprintf(`{"resource_name":"a%d-%d","attributes":{"size":"large","note":"a %s"}}`, number, i,
			strings.Repeat("x", 200)))
	}
	return `{"provider":"aws","category":"compute","resource_type":"vm","instances":[` + strings.Join(all, ",") + `]}`
}

// manyVersions are of a state of which one resource changes each time.
func manyVersions(n *neighbours, b *belowHTTP) {
	for i := range versions {
		var all []string
		for j := range 500 {
			all = append(all, fmt.Sprintf(`{"mode":"managed","type":"terraform_data","name":"a%s","provider":"provider[\"terraform.io/builtin/terraform\"]",
				"instances":[{"attributes":{"id":"%d","input":"%d"}}]}`, strings.Repeat("a", j), j, i))
		}
		body := fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"5ad8","terraform_version":"1.12.6","resources":[%s]}`, i+1,
			strings.Join(all, ","))
		if _, err := b.states.Put(n.t.Context(), ownerOf(n.noisy.id), "long", state.Write{Body: []byte(body)}); err != nil {
			n.t.Fatal(err)
		}
	}
}

func largeStates(n *neighbours, b *belowHTTP) {
	for i := range 3 {
		body := fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"5ad8","outputs":{"a":{"value":"%s","type":"string"}},"resources":[]}`, i+1, strings.Repeat(fmt.Sprint(i), large))
		if _, err := b.states.Put(n.t.Context(), ownerOf(n.noisy.id), "large", state.Write{Body: []byte(body)}); err != nil {
			n.t.Fatal(err)
		}
	}
}

// uniqueState does not compress to nothing.
func uniqueState(size, seed int) string {
	var b strings.Builder
	for i := uint64(seed + 1); b.Len() < size; {
		i = i*6364136223846793005 + 1442695040888963407
		fmt.Fprintf(&b, "%016x", i)
	}
	return fmt.Sprintf(`{"version":4,"serial":%d,"lineage":"5ad8","filler":"%s"}`, seed+1, &b)
}
