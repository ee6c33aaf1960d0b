package statetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

// checkLockFields takes every field of a lock on a round trip, and the client's bytes
// most of all: other clients are shown them.
func checkLockFields(t *testing.T, store state.Store) {
	raws := map[string]string{
		"plain":       string(newLock(t, "plain").Info.Raw),
		"only an ID":  `{"ID":"x"}`,
		"odd layout":  " {\n\t\"Path\" : \"p\",  \"ID\":\"\\u0041\\/b\" , \"New\":[1.0,{}], \"Who\":\"<é>&\"}\r\n",
		"odd ID":      `{"ID":"a'b\"c\\ %_ 😀 "}`,
		"longest ID":  fmt.Sprintf(`{"ID":%q}`, strings.Repeat("語", state.MaxLockIDLength)),
		"zero time":   `{"ID":"x","Created":"0001-01-01T00:00:00Z"}`,
		"long info":   fmt.Sprintf(`{"ID":"x","Info":%q,"Who":%q}`, strings.Repeat("i", 20<<10), strings.Repeat("w", 1000)),
		"other field": `{"ID":"x","Operation":"o","Info":"i","Who":"w","Version":"v","Created":"2026-03-04T05:06:07+02:00","Path":"p"}`,
	}
	for name, raw := range raws {
		t.Run(name, func(t *testing.T) {
			ref := newRef("lock")
			lock := &state.Lock{Info: parseLock(t, raw), Since: time.Date(2026, 7, 8, 9, 10, 11, 999999000, time.UTC),
				KeyID: "key'é"}
			head := update(t, store, ref, nil, always(state.Change{Lock: lock}))
			suite.Equal(t, "head", state.Head{Lock: lock}, head)
			again, err := store.Head(t.Context(), ref)
			if err != nil {
				t.Fatal(err)
			}
			wantUTC(t, head.Lock.Since, again.Lock.Since)
			released := update(t, store, ref, nil, always(state.Change{Release: true}))
			suite.Equal(t, "released head", state.Head{ReleasedID: lock.Info.ID}, released)
		})
	}
}

func checkLockBeforeWrite(t *testing.T, store state.Store) {
	ref, lock := newRef("locked"), newLock(t, "first")
	update(t, store, ref, nil, always(state.Change{Lock: lock}))
	wantAbsent(t, store, ref)
	head := put(t, store, ref, stateBody(1, ""))
	suite.Equal(t, "lock after the first write", lock, head.Lock)
	if head.Version.Number != 1 {
		t.Errorf("the first version has the number %d", head.Version.Number)
	}
}

// checkLockKeepsVersion is a plan: LOCK, GET, UNLOCK.
func checkLockKeepsVersion(t *testing.T, store state.Store) {
	ref, body := newRef("plan"), stateBody(1, "")
	version := put(t, store, ref, body).Version
	want := state.Snapshot{Version: version, Body: body}
	for i := range 3 {
		lock := newLock(t, fmt.Sprint("plan ", i))
		head := update(t, store, ref, []byte("not to be stored"), always(state.Change{Lock: lock}))
		suite.Equal(t, "version of a locked head", version, head.Version)
		wantCurrent(t, store, ref, want)
		head = update(t, store, ref, nil, always(state.Change{Release: true}))
		suite.Equal(t, "unlocked head", state.Head{Version: version, ReleasedID: lock.Info.ID}, head)
		wantCurrent(t, store, ref, want)
	}
}

// checkReleasedID follows the ID of the last release through everything else.
func checkReleasedID(t *testing.T, store state.Store) {
	ref, other := newRef("released"), newRef("released")
	want := func(id string, head state.Head) {
		t.Helper()
		if head.ReleasedID != id {
			t.Fatalf("ReleasedID %q, want %q", head.ReleasedID, id)
		}
	}
	release := always(state.Change{Release: true})
	want("", update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "a")})))
	want("a", update(t, store, ref, nil, release))
	want("a", put(t, store, ref, stateBody(1, "")))
	want("a", update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "b")})))
	want("a", update(t, store, ref, nil, always(state.Change{Delete: true})))
	want("b", update(t, store, ref, nil, release))
	want("", update(t, store, other, nil, always(state.Change{Lock: newLock(t, "c")})))
	want("b", put(t, store, ref, stateBody(2, "")))
}

// checkWriteAndRelease makes both changes in one Update.
func checkWriteAndRelease(t *testing.T, store state.Store) {
	ref, body := newRef("final"), stateBody(1, "")
	update(t, store, ref, nil, always(state.Change{Lock: newLock(t, "final")}))
	version := describe(body)
	version.Number = 1
	head := update(t, store, ref, body, always(state.Change{Version: &version, Release: true}))
	suite.Equal(t, "head", state.Head{Version: version, ReleasedID: "final"}, head)
	wantCurrent(t, store, ref, state.Snapshot{Version: version, Body: body})
}
