package main

import (
	"cmp"
	"context"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/api"
)

// How serious an event is, from 0 to 10, as ArcSight's Common Event Format has it.
const (
	cefUsual   = 3
	cefNotable = 6
	cefRefused = 7
)

// showCEF writes events as lines of the Common Event Format, version 0, which SIEM systems read.
func showCEF(ctx context.Context, w io.Writer, l listing[api.Event]) error {
	for event, err := range l.All(ctx) {
		if err == nil {
			_, err = io.WriteString(w, cefLine(event)+"\n")
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// cefLine is an event in the Common Event Format: a header of seven fields, and pairs.
func cefLine(e api.Event) string {
	var b strings.Builder
	b.WriteString("CEF:0|Holdfast|Holdfast")
	for _, field := range []string{version, e.Action, e.Action, strconv.Itoa(cefSeverity(e))} {
		b.WriteString("|" + cefHeader.Replace(field))
	}
	b.WriteString("|")
	separator := ""
	for _, pair := range cefPairs(e) {
		if pair[1] != "" {
			b.WriteString(separator + pair[0] + "=" + cefValue.Replace(pair[1]))
			separator = " "
		}
	}
	return b.String()
}

// cefPairs are the extension's keys and values, by the names of the format's dictionary. What it has no
// name for goes into its custom strings, which are labelled.
func cefPairs(e api.Event) [][2]string {
	outcome := "success"
	if e.Refused != "" {
		outcome = "failure"
	}
	pairs := [][2]string{
		{"rt", strconv.FormatInt(e.At.UnixMilli(), 10)}, {"externalId", strconv.FormatUint(e.Sequence, 10)},
		{"act", e.Action}, {"outcome", outcome}, {"reason", cmp.Or(e.Refused, e.Reason)},
		{"suid", e.KeyID}, {"suser", cmp.Or(e.Subject, e.KeyName)}, {"spriv", e.Role}, {"fname", e.State}, {"msg", e.Note},
	}
	if from, err := netip.ParseAddr(e.Address); err == nil && from.Unmap().Is4() {
		pairs = append(pairs, [2]string{"src", from.Unmap().String()})
	} else if err == nil {
		pairs = append(pairs, cefCustom("c6a2", "sourceAddress", from.String())...)
	}
	if e.Version > 0 {
		pairs = append(pairs, cefCustom("cn1", "version", strconv.FormatUint(e.Version, 10))...)
	}
	return append(append(pairs, cefCustom("cs1", "lockID", e.LockID)...), cefCustom("cs2", "requestID", e.RequestID)...)
}

// cefCustom is a custom field with the label that says what it is.
func cefCustom(key, label, value string) [][2]string {
	if value == "" {
		return nil
	}
	return [][2]string{{key, value}, {key + "Label", label}}
}

// cefSeverity says more of what takes something from somebody, or loses it.
func cefSeverity(e api.Event) int {
	if e.Refused != "" {
		return cefRefused
	}
	switch e.Action {
	case "state.delete", "state.rewind", "state.rollback", "version.purge", "lock.force", "lock.takeover",
		"candidate.hold", "candidate.fence", "sensitive.read", "key.make", "key.rotate", "key.revoke", "run.orphan",
		"run.resolve", "notice.drop":
		return cefNotable
	}
	return cefUsual
}

// What separates fields, pairs and lines is escaped, in the header another way than behind it.
var (
	cefHeader = strings.NewReplacer(`\`, `\\`, `|`, `\|`, "\r", " ", "\n", " ")
	cefValue  = strings.NewReplacer(`\`, `\\`, `=`, `\=`, "\r", `\r`, "\n", `\n`)
)
