package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
	"github.com/holdfast/holdfast/internal/heads"
	"github.com/holdfast/holdfast/internal/signingkey"
)

// verifyLog has the log verified, and compared with one head, or with those of a file.
func (a *app) verifyLog(ctx context.Context, c *client.Client, head, file, signer string) (api.AuditChain, error) {
	if file == "" {
		found, err := a.verifyChain(ctx, c, head)
		if err == nil && isRemoved(found, head) {
			err = fmt.Errorf("the head %s is from before what retention has left of the log, which begins behind %s: "+
				"nothing can be told of it", head, found.Removed.Entry)
		}
		return found, err
	}
	kept, err := a.readHeads(ctx, c, file, signer)
	if err != nil {
		return api.AuditChain{}, err
	}
	found, err := a.verifyChain(ctx, c, newestHead(kept))
	if err == nil {
		err = a.verifyHeads(ctx, c, kept, &found)
	}
	return found, err
}

// readHeads reads the organization's heads out of a file, and says by whom they are signed.
func (a *app) readHeads(ctx context.Context, c *client.Client, path, signer string) (own []heads.Head, err error) {
	who, err := c.Whoami(ctx)
	if err != nil {
		return nil, err
	}
	from := io.NopCloser(a.stdin)
	if path != "-" {
		if from, err = os.Open(path); err != nil {
			return nil, err
		}
	}
	defer func() { err = errors.Join(err, from.Close()) }()
	all, err := heads.Read(from)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	signers := map[string]int64{}
	for _, h := range all {
		if h.Org != who.OrgID {
			continue
		}
		by := signingkey.Fingerprint(h.Key)
		if signer != "" && by != signer {
			return nil, fmt.Errorf("%s: the head %s is signed by %s", path, h.Head, by)
		}
		signers[by]++
		own = append(own, h)
	}
	if len(own) == 0 {
		return nil, fmt.Errorf("%s: there is no head of the organization in it", path)
	}
	for by, count := range signers {
		fmt.Fprintf(a.stderr, "%s signed by %s\n", counted(count, "head"), by)
	}
	return own, nil
}

// newestHead is the head of the longest chain.
func newestHead(all []heads.Head) string {
	newest := all[0]
	for _, h := range all {
		if h.Entries > newest.Entries {
			newest = h
		}
	}
	return newest.Head
}

// verifyHeads has the server compare each head with the log, and adds to what was found those that are not in it. A
// chain that was made anew has later heads that fit, and earlier ones that don't.
func (a *app) verifyHeads(ctx context.Context, c *client.Client, all []heads.Head, found *api.AuditChain) error {
	seen := map[string]bool{}
	removed := 0
	for _, h := range all {
		if seen[h.Head] {
			continue
		}
		seen[h.Head] = true
		if isRemoved(*found, h.Head) {
			removed++
			continue
		}
		part, err := c.AuditChain(ctx, h.Head, "", 1)
		if err != nil {
			return err
		}
		if len(part.Breaks) > 0 {
			part.Breaks[0].Says = fmt.Sprintf("the head %s, signed at %s, is not in the log: %s", h.Head,
				a.tableTime(h.At), part.Breaks[0].Says)
			found.Breaks = append(found.Breaks, part.Breaks[0])
		}
	}
	if removed > 0 {
		fmt.Fprintf(a.stderr, "%s from before what retention has left of the log, of which nothing can be told.\n",
			counted(int64(removed), "head"))
	}
	if removed == len(seen) {
		return errors.New("none of the heads is of what is left of the log")
	}
	return nil
}
