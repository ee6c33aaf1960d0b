package statetest

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/internal/suite"
	"github.com/holdfast/holdfast/state"
)

func checkNeverWritten(t *testing.T, store state.Store) {
	ref := newRef("never")
	wantAbsent(t, store, ref)
	wantHead(t, store, ref, state.Head{})
	for _, number := range []uint64{0, 1, 2, math.MaxInt64, math.MaxUint64} {
		_, err := store.Version(t.Context(), ref, number)
		suite.Fault(t, fmt.Sprintf("Version(%d)", number), err, fault.StateNotFound)
	}
}

// checkExactBytes stores bodies of many sizes and kinds. A store takes any bytes: that
// they are JSON is for others to know.
func checkExactBytes(t *testing.T, store state.Store) {
	bodies := map[string][]byte{
		"nil":          nil,
		"empty":        {},
		"one byte":     {0},
		"white space":  []byte("\ufeff {\r\n\t\"a\" : 1.0e+00 ,\"a\":1}\n\n"),
		"not UTF-8":    []byte("{\"\xff\xfe\x00\":\"\xc0\x80\"}"),
		"plain state":  stateBody(1, ""),
		"escapes":      []byte(`{"serial":1,"lineage":"\u00e9\/","a":"\u003c\ud83d\ude00"}`),
		"repeats":      bytes.Repeat([]byte("abcdefgh"), 1<<17),
		"large state":  stateBody(2, strings.Repeat("0123456789abcdef", 1<<16)),
		"largest here": random(5 << 20),
	}
	for _, size := range []int{100, 4 << 10, 16<<10 - 1, 16<<10 + 1, 64 << 10, 1<<20 - 1, 1 << 20, 1<<20 + 1} {
		bodies[fmt.Sprintf("%d random bytes", size)] = random(size)
	}
	shared := newRef("shared")
	for name, body := range bodies {
		t.Run(name, func(t *testing.T) {
			put(t, store, newRef("alone"), body)
			put(t, store, shared, body)
		})
	}
}

// random returns bytes that don't compress, the same for the same size.
func random(size int) []byte {
	source := rand.NewChaCha8([32]byte{byte(size), byte(size >> 8), byte(size >> 16)})
	body := make([]byte, size)
	_, _ = source.Read(body) // never fails
	return body
}

func checkVersions(t *testing.T, store state.Store) {
	ref, other := newRef("versions"), newRef("versions")
	var accepted []state.Snapshot
	for i := range 20 {
		// Every third repeats its predecessor's bytes: a store must not care.
		body := stateBody(uint64(i-i%3), strings.Repeat("x", 100*i-100*(i%3)))
		head := put(t, store, ref, body)
		if head.Version.Number != uint64(i+1) {
			t.Fatalf("write %d got the version number %d", i+1, head.Version.Number)
		}
		accepted = append(accepted, state.Snapshot{Version: head.Version, Body: body})
		put(t, store, other, stateBody(uint64(i), "other"))
	}
	for _, want := range accepted {
		wantVersion(t, store, ref, want)
	}
	for _, number := range []uint64{0, 21, math.MaxInt64, math.MaxUint64} {
		_, err := store.Version(t.Context(), ref, number)
		suite.Fault(t, fmt.Sprintf("Version(%d) of 20", number), err, fault.StateNotFound)
	}
}

// checkVersionFields takes every field of a version on a round trip.
func checkVersionFields(t *testing.T, store state.Store) {
	body := stateBody(1, "")
	long := strings.Repeat("語", 255)
	edits := map[string]func(*state.Version){
		"plain":          func(*state.Version) {},
		"serial 0":       func(v *state.Version) { v.Serial = 0 },
		"largest int64":  func(v *state.Version) { v.Serial = math.MaxInt64 },
		"largest uint64": func(v *state.Version) { v.Serial = math.MaxUint64 },
		"empty lineage":  func(v *state.Version) { v.Lineage = "" },
		"long lineage":   func(v *state.Version) { v.Lineage = long },
		"odd lineage":    func(v *state.Version) { v.Lineage = "a\x00'\"\\%_😀 " },
		"version":        func(v *state.Version) { v.TerraformVersion = "1.12.6-β" },
		"long version":   func(v *state.Version) { v.TerraformVersion = long },
		"encrypted":      func(v *state.Version) { v.Encrypted = true },
		"microsecond":    func(v *state.Version) { v.CreatedAt = time.Date(2026, 12, 31, 23, 59, 59, 999999000, time.UTC) },
		"whole second":   func(v *state.Version) { v.CreatedAt = time.Date(2024, 2, 29, 0, 0, 0, 0, time.UTC) },
		"no author":      func(v *state.Version) { v.Author = state.Author{} },
		"author": func(v *state.Version) {
			v.Author = state.Author{KeyID: "k'1", Address: "2001:db8::1", Request: "r-é", Who: "ann@büro",
				Operation: "OperationTypeApply"}
		},
		"long who": func(v *state.Version) { v.Author.Who, v.Author.Operation = strings.Repeat("w", 3000), long },
	}
	for name, edit := range edits {
		t.Run(name, func(t *testing.T) {
			version, ref := describe(body), newRef("fields")
			edit(&version)
			head := update(t, store, ref, body, accept(version))
			version.Number = 1
			suite.Equal(t, "the returned head's version", version, head.Version)
			wantCurrent(t, store, ref, state.Snapshot{Version: version, Body: body})
			wantVersion(t, store, ref, state.Snapshot{Version: version, Body: body})
			current, _ := store.Current(t.Context(), ref)
			wantUTC(t, head.Version.CreatedAt, current.CreatedAt)
		})
	}
}

// wantUTC is for what cmp does not see: it compares instants.
func wantUTC(t *testing.T, times ...time.Time) {
	t.Helper()
	for _, at := range times {
		if at.Location() != time.UTC {
			t.Errorf("the time %v is not in UTC", at)
		}
	}
}
