package state

import (
	"errors"
	"testing"
	"time"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// today is a call at noon.
func today() call { return call{at: noon, policy: DefaultPolicy(), content: new(Digest)} }

func lockOf(id, who string) *Lock { return &Lock{Info: LockInfo{ID: id, Who: who}} }

func version(number uint64, content byte) Version {
	return Version{Number: number, Digest: Digest{content}, Size: 1}
}

func TestRules(t *testing.T) {
	var (
		fresh    = Head{}
		present  = Head{Version: version(3, 'x')}
		deleted  = Head{Version: version(3, 'x'), Deleted: true}
		locked   = Head{Version: version(3, 'x'), Lock: lockOf("A", "ada")}
		reserved = Head{Lock: lockOf("A", "ada")}
		released = Head{Version: version(3, 'x'), ReleasedID: "A"}
		relocked = Head{Version: version(3, 'x'), ReleasedID: "A", Lock: lockOf("B", "bob")}
	)
	write := func(content byte, id string) Decide {
		return today().decideWrite(version(0, content), Write{LockID: id}, new(written))
	}
	writeAndRelease := func(content byte, id string) Decide {
		return today().decideWrite(version(0, content), Write{LockID: id, Release: true}, new(written))
	}
	lock := func(id, who string) Decide { return today().decideLock(LockInfo{ID: id, Who: who}, new(*Lock)) }
	remove := func(id string) Decide { return today().decideDelete(id, Condition{}) }
	unlock := func(id string) Decide { return today().decideUnlock(id, audit.LockRelease, new(*Lock)) }
	force := today().decideForceUnlock(Forcing{}, new(*Lock))

	const nothing, stored, taken, gone, freed = "nothing", "version 4", "lock", "delete", "release"
	tests := []struct {
		name   string
		head   Head
		decide Decide
		want   string
		fault  fault.Code
	}{
		{"first write", fresh, write('y', ""), "version 1", ""},
		{"next write", present, write('y', ""), stored, ""},
		{"write, replayed", present, write('x', ""), nothing, ""},
		{"write of the old content after a deletion", deleted, write('x', ""), stored, ""},
		{"write without the ID while held", locked, write('y', ""), "", fault.LockHeld},
		{"write, replayed when somebody else has locked", locked, write('x', ""), nothing, ""},
		{"write by the holder", locked, write('y', "A"), stored, ""},
		{"write by the holder, replayed", locked, write('x', "A"), nothing, ""},
		{"write by another", locked, write('y', "B"), "", fault.LockHeld},
		{"write with an ID that nobody holds", present, write('y', "B"), "", fault.LockNotHeld},
		{"write with the ID that was released", released, write('y', "A"), "", fault.LockNotHeld},
		{"the same bytes with the ID that was released", released, write('x', "A"), "", fault.LockNotHeld},
		{"first write by the holder", reserved, write('y', "A"), "version 1", ""},
		{"write and release", locked, writeAndRelease('y', "A"), stored + " " + freed, ""},
		{"write and release, replayed", released, writeAndRelease('x', "A"), nothing, ""},
		{"write and release, replayed when somebody else has locked", relocked, writeAndRelease('x', "A"), nothing, ""},
		{"another write with the ID that was released", relocked, writeAndRelease('y', "A"), "", fault.LockHeld},
		{"the same bytes with the ID that was released, held again", relocked, write('x', "A"), "", fault.LockHeld},
		{"release with what is stored already", locked, writeAndRelease('x', "A"), freed, ""},

		{"delete what never was", fresh, remove(""), "", fault.StateNotFound},
		{"delete", present, remove(""), gone, ""},
		{"delete, replayed", deleted, remove(""), nothing, ""},
		{"delete, replayed when somebody else has locked",
			Head{Version: version(3, 'x'), Deleted: true, Lock: lockOf("B", "bob")}, remove(""), nothing, ""},
		{"delete while held", locked, remove(""), "", fault.LockHeld},
		{"delete by the holder", locked, remove("A"), gone, ""},
		{"delete with an ID that nobody holds", present, remove("A"), "", fault.LockNotHeld},

		{"lock what never was", fresh, lock("A", "ada"), taken, ""},
		{"lock", present, lock("A", "ada"), taken, ""},
		{"lock, replayed", locked, lock("A", "ada"), nothing, ""},
		{"lock with the same ID by another", locked, lock("A", "bob"), "", fault.LockHeld},
		{"lock with another ID by the same", locked, lock("B", "ada"), "", fault.LockHeld},

		{"unlock", locked, unlock("A"), freed, ""},
		{"unlock, replayed", released, unlock("A"), nothing, ""},
		{"unlock, replayed when somebody else has locked", relocked, unlock("A"), nothing, ""},
		{"unlock with the wrong ID", locked, unlock("B"), "", fault.LockMismatch},
		{"unlock what nobody held", present, unlock("A"), "", fault.LockMismatch},
		{"force-unlock", locked, force, freed, ""},
		{"force-unlock, replayed", released, force, nothing, ""},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			change, err := test.decide(test.head)
			if test.fault != "" {
				if !fault.Is(err, test.fault) || !change.Empty() {
					t.Errorf("%+v, %v; want nothing but %s", change, err, test.fault)
				}
				return
			}
			if got := describe(change); err != nil || got != test.want {
				t.Errorf("%s, %v; want %s", got, err, test.want)
			}
		})
	}
}

func describe(c Change) string {
	text := ""
	add := func(on bool, word string) {
		if on && text != "" {
			text += " "
		}
		if on {
			text += word
		}
	}
	if c.Version != nil {
		add(true, "version "+string(rune('0'+c.Version.Number)))
	}
	add(c.Delete, "delete")
	add(c.Lock != nil, "lock")
	add(c.Release, "release")
	if text == "" {
		return "nothing"
	}
	return text
}

func TestRefusalShowsTheHolder(t *testing.T) {
	head := Head{Lock: lockOf("A", "ada")}
	for name, decide := range map[string]Decide{
		"write":  today().decideWrite(Version{}, Write{LockID: "B"}, new(written)),
		"delete": func(h Head) (Change, error) { h.Version.Number = 1; return today().decideDelete("B", Condition{})(h) },
		"lock":   today().decideLock(LockInfo{ID: "B"}, new(*Lock)),
		"unlock": today().decideUnlock("B", audit.LockRelease, new(*Lock)),
	} {
		_, err := decide(head)
		if held, ok := errors.AsType[*HeldError](err); !ok || held.Holder.Who != "ada" {
			t.Errorf("%s: %v; want a HeldError with the holder", name, err)
		}
	}
}

func TestWriteUnderLockRecordsTheHolder(t *testing.T) {
	lock := &Lock{Info: LockInfo{ID: "A", Who: "ada@engine", Operation: "OperationTypeApply"}}
	change, err := today().decideWrite(Version{}, Write{LockID: "A"}, new(written))(Head{Lock: lock})
	if err != nil {
		t.Fatal(err)
	}
	if a := change.Version.Author; a.Who != "ada@engine" || a.Operation != "OperationTypeApply" {
		t.Errorf("author %+v; want the lock's Who and Operation", a)
	}
}
