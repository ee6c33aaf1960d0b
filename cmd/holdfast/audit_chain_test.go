package main

import (
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/quota"
	"github.com/holdfast/holdfast/state"
)

func TestAuditVerify(t *testing.T) {
	s := newShell(t)
	s.keeping(state.DefaultPolicy())
	s.refuse(exitFailed, "no entries with a hash yet", "audit", "head")
	if _, out, errs := s.run("audit", "verify"); out != "" || !strings.Contains(errs, "no entries with a hash yet") {
		t.Errorf("printed %s%s", out, errs)
	}
	s.hold("prod/network", "id-1", "alice@laptop")
	head := strings.TrimSpace(s.must("audit", "head"))
	if out := s.must("audit", "verify"); out != "1 entry is as it was written, from entry 1 to\n"+head+"\n" {
		t.Errorf("printed %s", out)
	}
	s.hold("app", "id-2", "bob@ci")
	if out := s.must("audit", "head", "--json"); !strings.Contains(out, `"entries":2`) {
		t.Errorf("printed %s", out)
	}
	newest := strings.TrimSpace(s.must("audit", "head"))
	want := "2 entries are as they were written, from entry 1 to\n" + newest + "\n"
	for _, line := range [][]string{nil, {"--head", head}, {"--head", newest}} {
		if out := s.must(append([]string{"audit", "verify"}, line...)...); out != want {
			t.Errorf("%q printed %s", line, out)
		}
	}
	if out := s.must("audit", "verify", "--json", "--head", head); !strings.Contains(out, `"breaks":[]`) ||
		!strings.Contains(out, `"next":null`) {
		t.Errorf("printed %s", out)
	}
	other := strings.Replace(newest, "2:", "1:", 1)
	code, out, errs := s.run("audit", "verify", "--head", other)
	if code != exitFailed || out != "head_lost: entry 1 has another hash than the one that was kept elsewhere\n" ||
		!strings.Contains(errs, "the audit log is not as it was written") {
		t.Errorf("%d: printed %s%s", code, out, errs)
	}
	code, out, _ = s.run("audit", "verify", "--json", "--head", "3"+newest[1:])
	if code != exitFailed || !strings.Contains(out, "the chain ends with entry 2, before entry 3") {
		t.Errorf("%d: printed %s", code, out)
	}
	s.refuse(exitFailed, "is no SEQUENCE:HASH", "audit", "verify", "--head", "17")
}

// TestAuditVerifyPruned verifies a log of which retention has removed the beginning.
func TestAuditVerifyPruned(t *testing.T) {
	s := newShell(t)
	var store state.Store
	s.keepingWithin(state.DefaultPolicy(), func(kept state.Store) *quota.Keeper {
		store = kept
		return nil
	})
	s.hold("prod/network", "id-1", "alice@laptop")
	first := strings.TrimSpace(s.must("audit", "head"))
	s.hold("app", "id-2", "bob@ci")
	second := strings.TrimSpace(s.must("audit", "head"))
	s.hold("db", "id-3", "bob@ci")
	n, err := store.PruneEvents(t.Context(), acme, time.Now().Add(24*time.Hour), 2, audit.Event{})
	if n != 2 || err != nil {
		t.Fatal(n, err)
	}
	newest := strings.TrimSpace(s.must("audit", "head"))
	for _, head := range []string{second, newest} {
		out := s.must("audit", "verify", "--head", head)
		if !strings.HasPrefix(out, "2 entries are as they were written, from behind "+second+" of ") ||
			!strings.HasSuffix(out, ", the last one of those that were removed (2), to\n"+newest+"\n") {
			t.Errorf("printed %s", out)
		}
	}
	s.refuse(exitFailed, "nothing can be told of it", "audit", "verify", "--head", first)
	if out := s.must("audit", "verify", "--json"); !strings.Contains(out, `"removed":{"entry":"`+second+`","count":2,`) {
		t.Errorf("printed %s", out)
	}
	other := "2:" + newest[2:]
	code, out, _ := s.run("audit", "verify", "--head", other)
	if code != exitFailed || !strings.HasPrefix(out, "head_lost: ") {
		t.Errorf("%d: printed %s", code, out)
	}
}
