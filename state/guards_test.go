package state

import (
	"testing"

	"github.com/holdfast/holdfast/fault"
)

// counted is a version whose describing members a guard looks at.
func counted(content byte, serial uint64, resources int) Version {
	return Version{Number: 1, Digest: Digest{content}, Size: 1, Serial: serial, Lineage: "L", TerraformVersion: "1.9.0",
		Resources: resources}
}

func TestGuards(t *testing.T) {
	old := counted('a', 5, 10)
	next := func(change func(*Version)) Version {
		v := counted('b', 6, 10)
		change(&v)
		return v
	}
	resources := func(n int) Version { return next(func(v *Version) { v.Resources = n }) }
	destroy := &Lock{Info: LockInfo{ID: "A", Operation: "OperationTypeDestroy"}}
	removal := &Lock{Info: LockInfo{ID: "A", Operation: "state-rm"}}
	move := &Lock{Info: LockInfo{ID: "A", Operation: "state-mv"}}
	apply := &Lock{Info: LockInfo{ID: "A", Operation: "OperationTypeApply"}}
	plain, sealed := old, old
	sealed.Encrypted, sealed.Resources = true, -1
	for _, c := range []struct {
		name string
		head Head
		next Version
		want Warnings
	}{
		{"nothing wrong", Head{Version: old}, resources(10), 0},
		{"first version", Head{}, resources(0), 0},
		{"after a deletion", Head{Version: old, Deleted: true}, resources(0), 0},
		{"first version without a lineage", Head{}, next(func(v *Version) { v.Lineage = "" }), WarnNoLineage},
		{"first version of nothing", Head{}, Version{Digest: Digest{'b'}, Size: 2, Resources: -1}, WarnNoLineage},
		{"after a deletion, without a lineage", Head{Version: old, Deleted: true}, next(func(v *Version) { v.Lineage = "" }),
			WarnNoLineage},
		{"no lineage as before", Head{Version: Version{Number: 1}}, Version{Digest: Digest{'b'}, Serial: 1}, 0},
		{"first version from elsewhere", Head{}, next(func(v *Version) { v.Serial = 1_000_000 }), 0},
		{"first version that nobody counted", Head{}, next(func(v *Version) { v.Serial = 1<<64 - 1 }), WarnSerialJump},
		{"a million at once", Head{Version: old}, next(func(v *Version) { v.Serial = 1_000_005 }), 0},
		{"a jump", Head{Version: old}, next(func(v *Version) { v.Serial = 1_000_006 }), WarnSerialJump},
		{"the last serial there is", Head{Version: old}, next(func(v *Version) { v.Serial = 1<<64 - 1 }), WarnSerialJump},
		{"another lineage far on", Head{Version: counted('a', 5_000_000, 10)},
			next(func(v *Version) { v.Lineage, v.Serial = "M", 5_000_001 }), WarnLineage | WarnSerialJump},
		{"emptied", Head{Version: old}, resources(0), WarnEmptied},
		{"emptied by an apply", Head{Version: old, Lock: apply}, resources(0), WarnEmptied},
		{"emptied by a destroy", Head{Version: old, Lock: destroy}, resources(0), 0},
		{"emptied by state rm", Head{Version: old, Lock: removal}, resources(0), 0},
		{"shrunk by state rm", Head{Version: old, Lock: removal}, resources(4), 0},
		{"another lineage by state rm", Head{Version: old, Lock: removal},
			next(func(v *Version) { v.Lineage, v.Serial = "M", 1 }), WarnLineage},
		{"emptied by state mv", Head{Version: old, Lock: move}, resources(0), WarnEmptied},
		{"empty as before", Head{Version: counted('a', 5, 0)}, resources(0), 0},
		{"half of it", Head{Version: old}, resources(5), 0},
		{"more than half", Head{Version: old}, resources(4), WarnShrunk},
		{"more than half by a destroy", Head{Version: old, Lock: destroy}, resources(4), 0},
		{"grown", Head{Version: old}, resources(100), 0},
		{"not to be counted now", Head{Version: old}, resources(-1), WarnEmptied},
		{"not to be counted now, by a destroy", Head{Version: old, Lock: destroy}, resources(-1), 0},
		{"not to be counted where none were", Head{Version: counted('a', 5, 0)}, resources(-1), 0},
		{"unknown before", Head{Version: sealed}, next(func(v *Version) { v.Resources, v.Encrypted = 0, true }), 0},
		{"another lineage", Head{Version: old}, next(func(v *Version) { v.Lineage, v.Serial = "M", 1 }), WarnLineage},
		{"lineage gone", Head{Version: old}, next(func(v *Version) { v.Lineage = "" }), WarnLineage},
		{"a first lineage", Head{Version: Version{Number: 1}}, next(func(*Version) {}), 0},
		{"serial back", Head{Version: old}, next(func(v *Version) { v.Serial = 4 }), WarnSerialBack},
		{"serial again", Head{Version: old}, next(func(v *Version) { v.Serial = 5 }), WarnSerialSame},
		{"older tool", Head{Version: old}, next(func(v *Version) { v.TerraformVersion = "1.8.9" }), WarnOlderTool},
		{"older by numbers, not by letters", Head{Version: old}, next(func(v *Version) { v.TerraformVersion = "1.10.0" }), 0},
		{"pre-release", Head{Version: old}, next(func(v *Version) { v.TerraformVersion = "1.9.0-rc1" }), 0},
		{"no version", Head{Version: old}, next(func(v *Version) { v.TerraformVersion = "" }), 0},
		{"plain now", Head{Version: sealed}, next(func(*Version) {}), WarnDecrypted},
		{"encrypted now", Head{Version: plain}, next(func(v *Version) { v.Encrypted, v.Resources = true, -1 }), 0},
		{"all at once", Head{Version: old},
			next(func(v *Version) { v.Resources, v.Serial, v.TerraformVersion = 1, 2, "0.15.5" }),
			WarnShrunk | WarnSerialBack | WarnOlderTool},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := guards(c.head, c.next, 50); got != c.want {
				t.Errorf("found %q; want %q", got, c.want)
			}
			checkModes(t, c.head, c.next, c.want)
		})
	}
}

// checkModes holds what becomes of a write against the mode of the guards.
func checkModes(t *testing.T, h Head, next Version, found Warnings) {
	t.Helper()
	w := Write{}
	if h.Lock != nil {
		w.LockID = h.Lock.Info.ID
	}
	for mode, marked := range map[GuardMode]Warnings{GuardsOff: 0, GuardsWarn: found, GuardsHold: 0} {
		c := today()
		c.policy.Guards = mode
		var out written
		change, err := c.decideWrite(next, w, &out)(h)
		if err != nil {
			t.Fatal(err)
		}
		if mode == GuardsHold && found != 0 {
			if change.Version != nil || change.Candidate == nil || change.Candidate.Warnings != found || change.Release ||
				out.held != change.Candidate {
				t.Errorf("%s: %+v; want a candidate only", mode, change)
			}
			continue
		}
		if change.Version == nil || change.Version.Warnings != marked || change.Candidate != nil {
			t.Errorf("%s: %+v; want a version marked %q", mode, change, marked)
		}
	}
}

func TestShrinkPercent(t *testing.T) {
	for _, c := range []struct {
		before, after, percent int
		want                   bool
	}{
		{100, 99, 0, true}, {100, 100, 0, false}, {3, 2, 33, true}, {3, 2, 34, false}, {10, 1, 90, false},
		{10, 0, 100, false}, {0, 0, 0, false}, {-1, 5, 0, false}, {5, -1, 0, false},
	} {
		if got := shrunk(c.before, c.after, c.percent); got != c.want {
			t.Errorf("%d to %d of %d%%: %t", c.before, c.after, c.percent, got)
		}
	}
}

func TestRequireLock(t *testing.T) {
	c := today()
	c.policy.RequireLock = true
	write := func(h Head, id string) error {
		_, err := c.decideWrite(version(0, 'y'), Write{LockID: id}, new(written))(h)
		return err
	}
	locked := Head{Version: version(3, 'x'), Lock: lockOf("A", "ada")}
	if err := write(Head{Version: version(3, 'x')}, ""); !fault.Is(err, fault.LockRequired) {
		t.Errorf("an unlocked write: %v", err)
	}
	if err := write(locked, "A"); err != nil {
		t.Errorf("the holder's write: %v", err)
	}
	if err := write(locked, ""); !fault.Is(err, fault.LockHeld) {
		t.Errorf("an unlocked write while it is held: %v", err)
	}
	if err := write(Head{Version: version(3, 'y')}, ""); err != nil {
		t.Errorf("a replay: %v", err)
	}
}
