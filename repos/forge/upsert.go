package forge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Marker is a hidden line by which our comment is found again. key is known to nobody before the comment
// is there.
func (l Limits) Marker(key string) string {
	sum := sha256.Sum256([]byte("holdfast comment " + key))
	name := "holdfast:" + hex.EncodeToString(sum[:16])
	if l.HTMLHidden {
		return "<!-- " + name + " -->"
	}
	return "[//]: # (" + name + ")" // the definition of a link that nothing refers to
}

// UpsertComment has a pull request have one comment of ours, with this body. known is its ID, if that is
// remembered. It returns the ID to remember.
//
// The comment is found again by its marker: a process that died before it remembered the ID, or another
// one that wrote at the same time, has left one behind. Where there are several, each process keeps the
// oldest and removes the others, so that one is left whoever is last.
func UpsertComment(ctx context.Context, f Forge, number int64, key, known, body string) (string, error) {
	marker := f.Limits().Marker(key)
	body = marker + "\n" + body
	if known != "" {
		err := f.UpdateComment(ctx, number, known, body)
		if err == nil || !Is(err, Missing) {
			return known, err
		}
	}
	self, err := f.Self(ctx)
	if err != nil {
		return "", err
	}
	ours, err := marked(ctx, f, number, marker, self)
	if err != nil {
		return "", err
	}
	for len(ours) > 0 {
		err := f.UpdateComment(ctx, number, ours[0].ID, body)
		if err == nil {
			return ours[0].ID, removeRest(ctx, f, number, ours[1:])
		}
		if !Is(err, Missing) && !Is(err, Forbidden) {
			return "", err
		}
		ours = ours[1:] // somebody removed it, or has copied the marker
	}
	made, err := f.CreateComment(ctx, number, body)
	if err != nil {
		return "", err
	}
	if ours, err = marked(ctx, f, number, marker, made.Author); err != nil || len(ours) == 0 {
		return made.ID, err
	}
	return ours[0].ID, removeRest(ctx, f, number, ours[1:])
}

// marked are the comments with the marker, the oldest first: ours only, where it is known who we are.
func marked(ctx context.Context, f Forge, number int64, marker string, self User) ([]Comment, error) {
	all, err := f.Comments(ctx, number, time.Time{})
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(c Comment) bool {
		return !strings.HasPrefix(c.Body, marker) || self.ID != "" && !c.Author.Is(self)
	})
	slices.SortFunc(all, func(a, b Comment) int { return cmp.Compare(age(a.ID), age(b.ID)) })
	return all, nil
}

// age orders IDs, which all forges count up.
func age(id string) int64 {
	n, _ := strconv.ParseInt(id, 10, 64)
	return n
}

func removeRest(ctx context.Context, f Forge, number int64, rest []Comment) error {
	for _, c := range rest {
		if err := f.RemoveComment(ctx, number, c.ID); err != nil && !Is(err, Forbidden) {
			return err
		}
	}
	return nil
}
