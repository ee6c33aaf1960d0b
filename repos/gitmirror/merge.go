package gitmirror

import (
	"bytes"
	"cmp"
	"context"
	"strconv"
	"strings"
)

// Merged is what comes of merging one commit into another.
type Merged struct {
	Commit string // of the merge, on no branch; empty where they don't merge by themselves
	// Conflict is why they don't: the first path that both change, or in words; empty where they do.
	Conflict string
}

// mergeIdentity makes the same merge the same commit, whoever asks for it, and when.
func mergeIdentity() []string {
	return []string{"GIT_AUTHOR_NAME=holdfast", "GIT_AUTHOR_EMAIL=holdfast@invalid", "GIT_AUTHOR_DATE=@0 +0000",
		"GIT_COMMITTER_NAME=holdfast", "GIT_COMMITTER_EMAIL=holdfast@invalid", "GIT_COMMITTER_DATE=@0 +0000"}
}

// Merge makes the commit that a merge of from into into would be, without a work tree and on no branch: it stays for
// some days, and is made anew as the same commit by another call. Kinds: NotThere, Busy.
func (m *Mirror) Merge(ctx context.Context, into, from string) (Merged, error) {
	base, err := m.MergeBase(ctx, into, from)
	switch {
	case err != nil:
		return Merged{}, err
	case base == "":
		return Merged{Conflict: "they have no commit in common"}, nil
	case base == into:
		return Merged{Commit: from}, nil
	case base == from:
		return Merged{Commit: into}, nil
	}
	release, err := m.acquire(ctx) // a fetch tidies up what looks half written
	if err != nil {
		return Merged{}, err
	}
	defer release()
	ctx, cancel := m.reading(ctx)
	defer cancel()
	out, err := m.written(ctx, nil, "merge-tree", "--write-tree", "-z", "--name-only", "--no-messages", into, from)
	tree, rest, _ := strings.Cut(out, "\x00")
	switch {
	case err != nil && KindOf(err) == Failed && IsCommit(tree):
		path, _, _ := strings.Cut(rest, "\x00")
		return Merged{Conflict: cmp.Or(path, "they change the same files")}, nil
	case err != nil:
		return Merged{}, err
	}
	commit, err := m.written(ctx, mergeIdentity(), "commit-tree", tree, "-p", into, "-p", from, "-m",
		"Merge "+from+" into "+into)
	return Merged{Commit: strings.TrimSpace(commit)}, err
}

// written is output of a command that writes objects. Its answer comes with the error, too.
func (m *Mirror) written(ctx context.Context, env []string, args ...string) (string, error) {
	var out bytes.Buffer
	c := m.holding(m.git(ctx, nil, args...))
	c.Env = append(c.Env, env...)
	c.Stdout = &atMost{to: &out, left: maxAnswer}
	if err := c.start(m.o.Limits); err != nil {
		return "", err
	}
	err := c.wait()
	return out.String(), err
}

// Lacking counts the commits of a history that another one lacks. Kind: NotThere.
func (m *Mirror) Lacking(ctx context.Context, of, in string) (int, error) {
	if err := cmp.Or(m.usable(), checkCommits(of, in)); err != nil {
		return 0, err
	}
	ctx, cancel := m.reading(ctx)
	defer cancel()
	out, err := m.output(ctx, "rev-list", "--count", in+".."+of)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(out)
}
