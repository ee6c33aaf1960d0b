package audit

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
)

// logOf is a log in memory, whose entries belong to one organization.
type logOf struct {
	chain Chain
	links []Link
}

// Chain implements Chained.
func (l logOf) Chain(_ context.Context, _ uuid.UUID, from uint64, limit int) (Chain, []Link, error) {
	var found []Link
	for _, link := range l.links {
		if link.Sequence >= from && (l.chain.Place == 0 || link.Sequence <= l.chain.Head.Sequence) && len(found) < limit {
			found = append(found, link)
		}
	}
	return l.chain, found, nil
}

// Events implements Chained: nothing was removed.
func (l logOf) Events(context.Context, uuid.UUID, Query) (Page, error) { return Page{}, nil }

// grown is a log whose sequences grow by two, since another organization has every other one.
func grown(entries int) (l logOf) {
	l.chain.Seed = Hash{7}
	for i := range entries {
		e := Event{Sequence: uint64(2*i + 3), At: time.UnixMicro(int64(i)), Org: uuid.UUID{1}, Action: StateWrite, State: "s",
			Version: uint64(i), Actor: Actor{KeyID: "k"}}
		l.chain = l.chain.Next(e)
		l.links = append(l.links, Link{e, l.chain.Place, l.chain.Head.Hash})
	}
	return l
}

// verdict verifies a whole log in pages.
func verdict(t *testing.T, l logOf, kept Mark, limit int) (all Verdict) {
	t.Helper()
	for pages, after := 0, (Mark{}); ; pages++ {
		v, err := Verify(t.Context(), l, uuid.UUID{1}, Check{after, kept, limit})
		if err != nil || pages > len(l.links)+1 {
			t.Fatalf("page %d: %v", pages, err)
		}
		all.Breaks, all.Checked = append(all.Breaks, v.Breaks...), all.Checked+v.Checked
		if after = v.Next; after == (Mark{}) {
			return all
		}
	}
}

func TestVerify(t *testing.T) {
	for _, size := range []int{0, 1, 7} {
		l := grown(size)
		for limit := range 12 {
			v := verdict(t, l, Mark{}, limit+1)
			if len(v.Breaks) > 0 || v.Checked != size {
				t.Errorf("%v in pages of %d: %+v", size, limit+1, v)
			}
			for _, kept := range l.links {
				if v := verdict(t, l, Mark{kept.Sequence, kept.Hash}, limit+1); len(v.Breaks) > 0 {
					t.Errorf("%v kept %d: %+v", size, kept.Sequence, v)
				}
			}
		}
	}
}

// TestBreaks damages a log of eight entries, and has that found whatever the pages are.
func TestBreaks(t *testing.T) {
	whole := grown(8)
	swap := func(a, b *Link) { a.Sequence, b.Sequence = b.Sequence, a.Sequence }
	sorted := func(l *logOf) {
		slices.SortFunc(l.links, func(a, b Link) int { return int(a.Sequence) - int(b.Sequence) })
	}
	head := whole.chain.Head
	for name, c := range map[string]struct {
		spoil func(*logOf)
		kept  Mark
		want  Damage
	}{
		"a changed text":         {func(l *logOf) { l.links[2].Note = "x" }, Mark{}, Changed},
		"a changed time":         {func(l *logOf) { l.links[2].At = time.UnixMicro(77) }, Mark{}, Changed},
		"a changed organization": {func(l *logOf) { l.links[2].Org = uuid.UUID{2} }, Mark{}, Changed},
		"a changed hash":         {func(l *logOf) { l.links[2].Hash[3]++ }, Mark{}, Changed},
		"a changed first one":    {func(l *logOf) { l.links[0].Note = "x" }, Mark{}, Changed},
		"a changed last one":     {func(l *logOf) { l.links[7].Note = "x" }, Mark{}, Changed},
		"another seed":           {func(l *logOf) { l.chain.Seed[0]++ }, Mark{}, Changed},
		"a text moved to its neighbour": {func(l *logOf) { l.links[2].State, l.links[2].LockID = "", "s" },
			Mark{}, Changed},
		"a changed one with a new hash": {func(l *logOf) {
			l.links[2].Note = "x"
			l.links[2].Hash = hashed(l.chain.Seed, l.links[1].Hash, l.links[2].Place, l.links[2].Event)
		}, Mark{}, Changed},
		"a missing one":        {func(l *logOf) { l.links = slices.Delete(l.links, 2, 3) }, Mark{}, Missing},
		"a missing first one":  {func(l *logOf) { l.links = slices.Delete(l.links, 0, 1) }, Mark{}, Missing},
		"a missing last one":   {func(l *logOf) { l.links = l.links[:7] }, Mark{}, Missing},
		"all missing":          {func(l *logOf) { l.links = l.links[:0] }, Mark{}, Missing},
		"two reordered":        {func(l *logOf) { swap(&l.links[2], &l.links[3]); sorted(l) }, Mark{}, Moved},
		"one behind the last":  {func(l *logOf) { l.links[1].Sequence = head.Sequence + 1; sorted(l) }, Mark{}, Missing},
		"one before the chain": {func(l *logOf) { l.links[1].Sequence = 2; sorted(l) }, Mark{}, Missing},
		"one in between": {func(l *logOf) {
			l.links = slices.Insert(l.links, 3, Link{Event: Event{Sequence: l.links[2].Sequence + 1}})
		}, Mark{}, Added},
		"a head that is gone":  {func(l *logOf) { l.chain = Chain{} }, Mark{}, Missing},
		"a chain that is gone": {func(l *logOf) { unlinked(l) }, Mark{}, Added},
		"a chain that is gone, and a new one": {func(l *logOf) {
			unlinked(l)
			e := Event{Sequence: 99, Action: StateWrite}
			l.chain = Chain{Seed: Hash{8}}.Next(e)
			l.links = append(l.links, Link{e, 1, l.chain.Head.Hash})
		}, Mark{}, Added},
		"a chain begun anew": {func(l *logOf) {
			e := Event{Sequence: 99, Action: StateWrite}
			l.chain = Chain{Seed: Hash{8}}.Next(e)
			l.links = append(l.links, Link{e, 1, l.chain.Head.Hash})
		}, Mark{}, Missing},
		"an end that was cut off": {func(l *logOf) {
			l.links = l.links[:6]
			l.chain.Head, l.chain.Place = Mark{l.links[5].Sequence, l.links[5].Hash}, l.links[5].Place
		}, head, HeadLost},
		"a chain made anew from an entry on": {func(l *logOf) { remade(l, 3) }, head, HeadLost},
		"a kept one that never was":          {func(*logOf) {}, Mark{head.Sequence - 1, head.Hash}, HeadLost},
	} {
		for limit := 1; limit < 13; limit++ {
			l := logOf{whole.chain, slices.Clone(whole.links)}
			c.spoil(&l)
			v := verdict(t, l, c.kept, limit)
			if !slices.ContainsFunc(v.Breaks, func(b Break) bool { return b.Damage == c.want && b.Sequence > 0 }) {
				t.Errorf("%s, in pages of %d: %+v, want %s", name, limit, v.Breaks, c.want)
			}
		}
	}
}

// unlinked takes away all that there is of the chain; of
// some entries it leaves the hash.
func unlinked(l *logOf) {
	l.chain = Chain{}
	for i := range l.links {
		if l.links[i].Place = 0; i%2 == 0 {
			l.links[i].Hash = Hash{}
		}
	}
}

// remade changes an entry and makes the chain anew from there, as somebody can who may write to the
// database: only what was kept elsewhere shows it.
func remade(l *logOf, at int) {
	l.links[at].Note = "x"
	c := l.chain
	c.Place, c.Head = l.links[at-1].Place, Mark{l.links[at-1].Sequence, l.links[at-1].Hash}
	for i := at; i < len(l.links); i++ {
		c = c.Next(l.links[i].Event)
		l.links[i].Hash = c.Head.Hash
	}
	l.chain = c
}

// TestResumed goes on behind an entry that was changed since the walk came to it.
func TestResumed(t *testing.T) {
	l := grown(5)
	v, err := Verify(t.Context(), l, uuid.UUID{1}, Check{Limit: 2})
	if err != nil || v.Next != (Mark{5, l.links[1].Hash}) {
		t.Fatalf("%+v, %v", v, err)
	}
	again, err := Verify(t.Context(), l, uuid.UUID{1}, Check{After: v.Next, Limit: 3})
	if err != nil || len(again.Breaks) > 0 || again.Checked != 3 {
		t.Errorf("%+v, %v", again, err)
	}
	l.links[1].Hash[0]++
	again, err = Verify(t.Context(), l, uuid.UUID{1}, Check{After: v.Next, Limit: 3})
	if err != nil || len(again.Breaks) == 0 {
		t.Errorf("%+v, %v", again, err)
	}
}

// TestManyBreaks tells of so many and no more.
func TestManyBreaks(t *testing.T) {
	l := grown(100)
	for i := range l.links {
		l.links[i].Place = 1
	}
	if v := verdict(t, l, Mark{}, 1000); len(v.Breaks) != mostBreaks {
		t.Errorf("%d breaks", len(v.Breaks))
	}
}

// TestHash holds the canonical encoding to what it was: a hash that is kept somewhere stays good.
func TestHash(t *testing.T) {
	e := Event{Sequence: 17, At: time.UnixMicro(1_795_258_800_123_456), Org: uuid.UUID{1, 2}, Action: StateWrite,
		State: "a/b", Version: 3, LockID: "l", Refused: "r", Reason: "why", Note: "note",
		Actor: Actor{"k", "ci", "repo", "writer", "192.0.2.7", "q"}}
	c := Chain{Seed: Hash{1}}.Next(e).Next(e)
	const want = "17:8739d5ab4c7c1691edd6637126d12c8b350ef3d42c7e33aac252c47b1ed1c3f4"
	if got := c.Head.String(); got != want {
		t.Errorf("the head is %s, want %s", got, want)
	}
}

func TestParseMark(t *testing.T) {
	want := Mark{17, Hash{1, 2, 3}}
	if got, err := ParseMark(want.String()); got != want || err != nil {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "17", "17:", ":" + want.Hash.String(), "0:" + want.Hash.String(), "17:0x",
		want.String() + "00", "-1:" + want.Hash.String(), "17:" + strings.Repeat("g", 64)} {
		if got, err := ParseMark(text); err == nil || got != (Mark{}) {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func BenchmarkNext(b *testing.B) {
	e := Event{Org: uuid.UUID{1}, Action: StateWrite, State: "network/production", LockID: uuid.Nil.String(), Actor: Actor{
		KeyID: "0f3a9c21d4e5", KeyName: "ci", Role: "writer", Address: "192.0.2.1", Request: uuid.Nil.String()}}
	var c Chain
	for b.Loop() {
		e.Sequence++
		c = c.Next(e)
	}
}
