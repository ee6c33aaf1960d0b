package main

import (
	"testing"
	"time"

	"github.com/holdfast/holdfast/api"
)

func TestCEF(t *testing.T) {
	at := time.Date(2026, 11, 21, 11, 0, 0, 123_456_000, time.UTC)
	for name, c := range map[string]struct {
		event api.Event
		want  string
	}{
		"a write": {
			api.Event{Sequence: 7, At: at, Action: "state.write", State: "prod/network", Version: 3, LockID: "l-1",
				KeyID: "e00e545d12e9", KeyName: "ci", Role: "writer", Address: "192.0.2.7", RequestID: "r-1"},
			`CEF:0|Holdfast|Holdfast|dev|state.write|state.write|3|rt=1795258800123 externalId=7 act=state.write ` +
				`outcome=success suid=e00e545d12e9 suser=ci spriv=writer fname=prod/network src=192.0.2.7 cn1=3 cn1Label=version cs1=l-1 ` +
				`cs1Label=lockID cs2=r-1 cs2Label=requestID`,
		},
		"a refusal over IPv6": {
			api.Event{Sequence: 8, At: at, Action: "access.refused", Refused: "forbidden", Note: "state:purge", KeyID: "k",
				Address: "2001:db8::1"},
			`CEF:0|Holdfast|Holdfast|dev|access.refused|access.refused|7|rt=1795258800123 externalId=8 act=access.refused ` +
				`outcome=failure reason=forbidden suid=k msg=state:purge c6a2=2001:db8::1 c6a2Label=sourceAddress`,
		},
		"what somebody wrote makes no pairs and no lines": {
			api.Event{Sequence: 9, At: at, Action: "lock.force", KeyID: "k", Reason: "a=b|c\\d\nCEF:0|x", Address: "pipe"},
			`CEF:0|Holdfast|Holdfast|dev|lock.force|lock.force|6|rt=1795258800123 externalId=9 act=lock.force outcome=success ` +
				`reason=a\=b|c\\d\nCEF:0|x suid=k`,
		},
	} {
		if got := cefLine(c.event); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
