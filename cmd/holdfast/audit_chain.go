package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/audit"
	"github.com/holdfast/holdfast/client"
)

// chainPage is how many entries one request has verified.
const chainPage = 1000

func newAuditVerifyCommand(a *app) *cobra.Command {
	var head, headsFile, signer string
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "verify",
		Short: "Check that the audit log is as it was written",
		Long: `Check the organization's audit log. Each entry has a hash of itself and of the entry before it, and so of
all before it: an entry that was changed, moved, added or taken out shows.

Who can write to the database can also make all hashes anew, or cut off the newest entries. That shows with
--head alone: what 'holdfast audit head' has printed at some time, and you have kept where they can't write, and
with --heads: what a server has signed and sent there (audit.head_file and its like). All heads of the organization
in that file have to be signed, and in the log; --signer says by which key, whose fingerprint the server logs when
it starts.

The server does the work, of which nothing is changed by it. Where retention (audit_days) has removed old entries, the
log is proven from there on: the hash of the last one that was removed is kept, and an entry of each removal says which
one it was. Nothing can be told of a head from before that: with --head it is an error, and with --heads such heads are
counted. The exit code is 0 where all is as it was, and 1 otherwise.`,
		Example: `  holdfast audit verify
  holdfast audit verify --head "$(cat audit-head)"
  holdfast audit verify --heads /mnt/worm/heads --signer "$(cat signer)"
  holdfast audit verify --json`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		found, err := a.verifyLog(ctx, c, head, headsFile, signer)
		if err != nil {
			return err
		}
		if asJSON {
			err = showJSON(a.stdout, found)
		} else {
			a.showChain(found)
		}
		if err == nil && len(found.Breaks) > 0 {
			return errors.New("the audit log is not as it was written")
		}
		return err
	})
	cmd.Flags().StringVar(&head, "head", "", "an entry, SEQUENCE:HASH, that has to be in the log as it was then")
	cmd.Flags().StringVar(&headsFile, "heads", "", "file of signed heads, which all have to be in the log; - is stdin")
	cmd.Flags().StringVar(&signer, "signer", "", "fingerprint of the key that has to have signed them")
	cmd.MarkFlagsMutuallyExclusive("head", "heads")
	addJSONFlag(cmd, &asJSON)
	return cmd
}

func newAuditHeadCommand(a *app) *cobra.Command {
	var asJSON bool
	cmd := a.remote(&cobra.Command{
		Use:   "head",
		Short: "Print the audit log's newest entry and its hash, to be kept elsewhere",
		Long: `Print the newest entry of the organization's audit log as SEQUENCE:HASH. The hash says what this entry and
all before it are. Kept where nobody who can write to the server's database can write, it shows later, by
'holdfast audit verify --head', that nothing up to it was changed or cut off.`,
		Example: `  holdfast audit head > audit-head
  holdfast audit head | logger --server siem.example.com`,
		Args: cobra.NoArgs,
	}, func(ctx context.Context, c *client.Client, _ []string) error {
		found, err := c.AuditChain(ctx, "", "", 1)
		switch {
		case err != nil:
			return err
		case found.Head == nil:
			return errors.New("the audit log has no entries with a hash yet")
		case asJSON:
			return showJSON(a.stdout, chainHead{*found.Head, found.First, found.Entries})
		}
		_, err = fmt.Fprintln(a.stdout, *found.Head)
		return err
	})
	addJSONFlag(cmd, &asJSON)
	return cmd
}

// chainHead is what audit head prints as JSON.
type chainHead struct {
	Head    string `json:"head"`
	First   uint64 `json:"first"`
	Entries uint64 `json:"entries"`
}

// verifyChain has the whole chain verified, a part at a time, and adds up what was found.
func (a *app) verifyChain(ctx context.Context, c *client.Client, kept string) (all api.AuditChain, err error) {
	all, err = c.AuditChain(ctx, "", kept, chainPage)
	if err != nil || all.Next == nil {
		return all, err
	}
	shown := a.startProgress("verifying", "audit event", int64(all.Entries))
	defer shown.end()
	for all.Next != nil {
		part, err := c.AuditChain(ctx, *all.Next, kept, chainPage)
		if err != nil {
			return all, err
		}
		part.Checked += all.Checked
		part.Breaks = append(all.Breaks, part.Breaks...)
		all = part
		shown.count.Store(int64(all.Checked))
	}
	return all, nil
}

func (a *app) showChain(found api.AuditChain) {
	for _, b := range found.Breaks {
		fmt.Fprintf(a.stdout, "%s: %s\n", b.Damage, b.Says)
	}

	switch {
	case len(found.Breaks) > 0:
	case found.Head == nil:
		fmt.Fprintln(a.stderr, "There are no entries with a hash yet.")
	default:
		written := "1 entry is as it was written"
		if n := found.Entries - removedOf(found); n != 1 {
			written = fmt.Sprintf("%d entries are as they were written", n)
		}
		fmt.Fprintf(a.stdout, "%s, from %s to\n%s\n", written, a.beginOf(found), *found.Head)
	}
}

// beginOf says from where on the log is proven.
func (a *app) beginOf(found api.AuditChain) string {
	if r := found.Removed; r != nil {
		return fmt.Sprintf("behind %s of %s, the last one of those that were removed (%d),", r.Entry, a.tableTime(r.At), r.Count)
	}
	return fmt.Sprintf("entry %d", found.First)
}

func removedOf(found api.AuditChain) uint64 {
	if found.Removed == nil {
		return 0
	}
	return found.Removed.Count
}

// isRemoved reports whether retention has removed the entry of a head, or all that stands before it. Its own hash is
// known where it is the last one of those.
func isRemoved(found api.AuditChain, head string) bool {
	if found.Removed == nil {
		return false
	}
	of, err := audit.ParseMark(head)
	first, bad := audit.ParseMark(found.Removed.Entry)
	return err == nil && bad == nil && of.Sequence < first.Sequence
}
