package main

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/holdfast/holdfast/api"
)

// What people are shown of what the server says.

// writerOf is who wrote a version, in the shortest words that are known.
func writerOf(v api.Version) string { return cmp.Or(v.Who, v.Subject, v.KeyName, v.KeyID) }

// versionCalled is how a version is named to people.
func versionCalled(v api.Version) string {
	return fmt.Sprintf("version %d (serial %d, %s, %s)", v.Number, v.Serial, countedOr(v.Resources, "resource"),
		showTime(v.CreatedAt))
}

func countedOr(n *int, what string) string {
	if n == nil {
		return "an unknown number of " + what + "s"
	}
	return counted(int64(*n), what)
}

func resourcesOf(v api.Version) string {
	if v.Resources == nil {
		return "?"
	}
	return strconv.Itoa(*v.Resources)
}

// notesOf is what is out of the ordinary in a version.
func notesOf(v api.Version) string {
	notes := slices.Clone(v.Warnings)
	if v.Purged {
		notes = append(notes, "purged")
	}
	if v.Encrypted {
		notes = append(notes, "encrypted")
	}
	if o := v.Origin; o != nil {
		switch {
		case o.Version > 0:
			notes = append(notes, fmt.Sprintf("rollback to %d", o.Version))
		case o.Candidate != "":
			notes = append(notes, "candidate "+o.Candidate)
		}
		if o.Reason != "" {
			notes = append(notes, strconv.Quote(o.Reason))
		}
	}
	return strings.Join(notes, ", ")
}

// versionFacts are what people want to know of a version.
func versionFacts(v api.Version) [][2]string {
	encrypted := ""
	if v.Encrypted {
		encrypted = "by the client"
	}
	return [][2]string{
		{"version", showNumber(v.Number)},
		{"serial", showNumber(v.Serial)},
		{"lineage", v.Lineage},
		{"terraform version", v.TerraformVersion},
		{"encrypted", encrypted},
		{"size", showSize(v.Size)},
		{"sha256", v.Digest},
		{"resources", resourcesOf(v)},
		{"created", showTime(v.CreatedAt)},
		{"by", writerOf(v)},
		{"operation", v.Operation},
		{"address", v.Address},
		{"request", v.RequestID},
		{"notes", notesOf(v)},
	}
}

func showNumber(n uint64) string { return strconv.FormatUint(n, 10) }

func showTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }

// showTimeOr is empty for a time that is not known.
func showTimeOr(at *time.Time) string {
	if at == nil {
		return ""
	}
	return showTime(*at)
}

func showSize(bytes int64) string { return humanize.IBytes(uint64(max(bytes, 0))) }

// showAge is how long ago something was, roughly.
func showAge(at, now time.Time) string { return strings.TrimSpace(humanize.RelTime(at, now, "", "")) }
