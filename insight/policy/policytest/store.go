// Package policytest holds the conformance suite of policy.Store.
package policytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/fault"
	"github.com/holdfast/holdfast/insight/policy"
)

// RunStore holds a policy.Store to its contract. open returns a new, empty one, which it closes with the
// test; events returns those that were recorded with changes.
func RunStore(t *testing.T, open func(t *testing.T) (s policy.Store, events func() ([]audit.Event, error))) {
	for _, law := range Laws() {
		t.Run(law.Name, func(t *testing.T) {
			s, events := open(t)
			if err := law.Check(t.Context(), s, events); err != nil {
				t.Error(err)
			}
		})
	}
}

// Law is one promise of the contract. Check returns how it is broken.
type Law struct {
	Name  string
	Check func(context.Context, policy.Store, func() ([]audit.Event, error)) error
}

// Laws returns all of them.
func Laws() []Law {
	return []Law{{"Versions", versions}, {"Lists", lists}, {"Refused", refused}, {"OldVersionsGo", oldVersionsGo},
		{"Removal", removal}, {"Isolation", isolation}, {"OneAfterAnother", oneAfterAnother}}
}

func bundle(n int) policy.Bundle {
	return policy.Bundle{Digest: fmt.Sprint("digest", n), Enforce: policy.Hold, Message: "é <m>", Files: n, Bytes: 7,
		Rules: 2,
		Tests: 3, CreatedAt: time.Date(2026, 3, 1, 12, 0, 0, 1000, time.UTC), CreatedBy: audit.Actor{KeyID: "k",
			Subject: "s"}}
}

// push makes a version.
func push(ctx context.Context, s policy.Store, ref policy.Ref, n int) (policy.Bundle, error) {
	return s.Update(ctx, ref, func(*policy.Bundle, int) (policy.Change, error) {
		b := bundle(n)
		return policy.Change{Put: &b, Files: []byte(fmt.Sprint("files", n)), Event: &audit.Event{At: b.CreatedAt,
			Org:    ref.Org,
			Action: audit.PolicyPush, Note: fmt.Sprint(ref.Name, n)}}, nil
	})
}

func expect(got, want any) error {
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", want); g != w {
		return fmt.Errorf("got %s, want %s", g, w)
	}
	return nil
}

func versions(ctx context.Context, s policy.Store, events func() ([]audit.Event, error)) error {
	ref := policy.Ref{Org: uuid.New(), Workspace: "prod/net", Name: "a"}
	for n := 1; n <= 3; n++ {
		want := bundle(n)
		want.Ref, want.Version = ref, int64(n)
		got, err := push(ctx, s, ref, n)
		if err := errors.Join(err, expect(got, want)); err != nil {
			return err
		}
	}
	all, err := s.Versions(ctx, ref)
	if err != nil || len(all) != 3 || all[0].Version != 3 || all[2].Digest != "digest1" ||
		all[1].CreatedBy.Subject != "s" {
		return fmt.Errorf("versions: %+v, %v", all, err)
	}
	for n := 1; n <= 3; n++ {
		if files, err := s.Files(ctx, ref, int64(n)); err != nil || !bytes.Equal(files, []byte(fmt.Sprint("files", n))) {
			return fmt.Errorf("files of version %d: %q, %v", n, files, err)
		}
	}
	if _, err := s.Files(ctx, ref, 4); !fault.Is(err, fault.PolicyNotFound) {
		return fmt.Errorf("a version that there isn't: %v", err)
	}
	all2, err := events()
	if err != nil || len(all2) != 3 || all2[2].Note != "a3" {
		return fmt.Errorf("events: %+v, %v", all2, err)
	}
	return nil
}

func lists(ctx context.Context, s policy.Store, _ func() ([]audit.Event, error)) error {
	org := uuid.New()
	for i, ref := range []policy.Ref{{Org: org, Workspace: "b", Name: "x"}, {Org: org, Name: "y"}, {Org: org, Name: "x"},
		{Org: org, Workspace: "a", Name: "x"}, {Org: org, Name: "x"}, {Org: org, Workspace: "A", Name: "x"}} {
		if _, err := push(ctx, s, ref, i); err != nil {
			return err
		}
	}
	for _, c := range []struct {
		of   []string
		want string
	}{{nil, "/x2 /y1 A/x1 a/x1 b/x1 "}, {[]string{"", "a"}, "/x2 /y1 a/x1 "}, {[]string{""}, "/x2 /y1 "}, {[]string{"c"},
		""}} {
		all, err := s.List(ctx, org, c.of...)
		text := ""
		for _, b := range all {
			text += fmt.Sprintf("%s/%s%d ", b.Workspace, b.Name, b.Version)
		}
		if err != nil || text != c.want {
			return fmt.Errorf("of %q: %s, %v", c.of, text, err)
		}
	}
	return nil
}

func refused(ctx context.Context, s policy.Store, events func() ([]audit.Event, error)) error {
	ref, no := policy.Ref{Org: uuid.New(), Name: "a"}, errors.New("no")
	if _, err := s.Update(ctx, ref, func(newest *policy.Bundle, n int) (policy.Change, error) {
		b := bundle(1)
		return policy.Change{Put: &b, Event: &audit.Event{Org: ref.Org}}, errors.Join(no, expect(n, 0), expect(newest == nil,
			true))
	}); !errors.Is(err, no) || err.Error() != "no" {
		return fmt.Errorf("refused: %v", err)
	}
	if _, err := s.Versions(ctx, ref); !fault.Is(err, fault.PolicyNotFound) {
		return fmt.Errorf("what was refused is there: %v", err)
	}
	if _, err := push(ctx, s, ref, 1); err != nil {
		return err
	}
	got, err := s.Update(ctx, ref, func(newest *policy.Bundle, n int) (policy.Change, error) {
		return policy.Change{}, errors.Join(expect(n, 1), expect(newest.Digest, "digest1"))
	})
	all, failed := events()
	return errors.Join(err, failed, expect(got.Version, 1), expect(len(all), 1))
}

func oldVersionsGo(ctx context.Context, s policy.Store, _ func() ([]audit.Event, error)) error {
	ref := policy.Ref{Org: uuid.New(), Name: "a"}
	const more = 3
	for n := 1; n <= policy.MaxVersions+more; n++ {
		if _, err := push(ctx, s, ref, n); err != nil {
			return err
		}
	}
	all, err := s.Versions(ctx, ref)
	if err != nil || len(all) != policy.MaxVersions || all[len(all)-1].Version != more+1 {
		return fmt.Errorf("%d versions, %v", len(all), err)
	}
	if _, err := s.Files(ctx, ref, more); !fault.Is(err, fault.PolicyNotFound) {
		return fmt.Errorf("an old version: %v", err)
	}
	return nil
}

func removal(ctx context.Context, s policy.Store, _ func() ([]audit.Event, error)) error {
	org := uuid.New()
	gone, stays := policy.Ref{Org: org, Name: "a"}, policy.Ref{Org: org, Workspace: "w", Name: "a"}
	for _, ref := range []policy.Ref{gone, gone, stays} {
		if _, err := push(ctx, s, ref, 1); err != nil {
			return err
		}
	}
	after, err := s.Update(ctx, gone, func(*policy.Bundle, int) (policy.Change, error) {
		return policy.Change{Remove: true}, nil
	})
	if err := errors.Join(err, expect(after, policy.Bundle{})); err != nil {
		return err
	}
	if _, err := s.Versions(ctx, gone); !fault.Is(err, fault.PolicyNotFound) {
		return fmt.Errorf("what was removed: %v", err)
	}
	all, err := s.List(ctx, org)
	return errors.Join(err, expect(len(all), 1))
}

func isolation(ctx context.Context, s policy.Store, _ func() ([]audit.Event, error)) error {
	mine, theirs := policy.Ref{Org: uuid.New(), Name: "a"}, policy.Ref{Org: uuid.New(), Name: "a"}
	if _, err := push(ctx, s, mine, 1); err != nil {
		return err
	}
	if _, err := s.Files(ctx, theirs, 1); !fault.Is(err, fault.PolicyNotFound) {
		return fmt.Errorf("another organization's files: %v", err)
	}
	if _, err := s.Update(ctx, theirs, func(newest *policy.Bundle, n int) (policy.Change, error) {
		return policy.Change{Remove: true}, errors.Join(expect(n, 0), expect(newest == nil, true))
	}); err != nil {
		return err
	}
	all, err := s.List(ctx, theirs.Org)
	kept, failed := s.Versions(ctx, mine)
	return errors.Join(err, failed, expect(len(all), 0), expect(len(kept), 1))
}

func oneAfterAnother(ctx context.Context, s policy.Store, _ func() ([]audit.Event, error)) error {
	ref := policy.Ref{Org: uuid.New(), Name: "a"}
	const many = 8
	errs := make([]error, many)
	var all sync.WaitGroup
	for i := range many {
		all.Go(func() { _, errs[i] = push(ctx, s, ref, i) })
	}
	all.Wait()
	kept, err := s.Versions(ctx, ref)
	return errors.Join(append(errs, err, expect(len(kept), many))...)
}
