package main

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
)

// What the server says of things, as docs/api.md has it.

// stateFacts describe a state.
type stateFacts struct {
	Name      string
	Version   *versionFacts // nil for one that was never written
	DeletedAt *time.Time    `json:"deleted_at"`
	Lock      *lockFacts
	Open      int `json:"open_candidates"`
}

// versionFacts describe a version.
type versionFacts struct {
	Number           uint64 `json:"version"`
	Serial           uint64
	Lineage          string
	Size             uint64
	Digest           string
	TerraformVersion string `json:"terraform_version"`
	Encrypted        bool
	Resources        *int
	CreatedAt        time.Time `json:"created_at"`
	KeyID            string    `json:"key_id"`
	Subject          string
	Who              string
	Operation        string
	Address          string
	RequestID        string `json:"request_id"`
	Warnings         []string
	Origin           *struct {
		Version           uint64
		Candidate, Reason string
	}
	Purged bool
}

// by is who wrote it, in the shortest words that are known.
func (v versionFacts) by() string { return firstOf(v.Who, v.Subject, v.KeyID) }

func (v versionFacts) resources() string {
	if v.Resources == nil {
		return "?"
	}
	return strconv.Itoa(*v.Resources)
}

// notes is what is out of the ordinary.
func (v versionFacts) notes() string {
	notes := v.Warnings
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

// lockFacts describe a held lock.
type lockFacts struct {
	ID, Who, Operation string
	Since              time.Time
	Seen               time.Time `json:"last_seen"`
	KeyID              string    `json:"key_id"`
}

// candidateFacts describe a candidate.
type candidateFacts struct {
	ID, Status, Source string
	Decided            *time.Time `json:"decided_at"`
	Base               uint64     `json:"base_version"`
	versionFacts
}

// eventFacts are one line of the audit log.
type eventFacts struct {
	Sequence uint64
	At       time.Time
	Action   string
	State    string
	Version  uint64
	Refused  string
	Reason   string
	Note     string
	KeyID    string `json:"key_id"`
	KeyName  string `json:"key_name"`
	Subject  string
	Address  string
}

// lockInfo is what a lock's holder said of itself.
type lockInfo struct{ ID, Who, Operation, Created string }

func (l *lockInfo) String() string {
	text := fmt.Sprintf("%s holds the lock %s", firstOf(printable(l.Who), "somebody"), printable(l.ID))
	if l.Operation != "" {
		text += " for " + printable(l.Operation)
	}
	if l.Created != "" {
		text += " since " + printable(l.Created)
	}
	return text
}

func firstOf(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return text
		}
	}
	return ""
}

func showTime(at time.Time) string { return at.UTC().Format(time.RFC3339) }

func showSize(bytes uint64) string { return humanize.IBytes(bytes) }

// showAge is how long ago something was, roughly.
func showAge(at, now time.Time) string { return strings.TrimSpace(humanize.RelTime(at, now, "", "")) }

// readFacts reads an element of a list.
func readFacts[T any](raw json.RawMessage) (facts T, err error) {
	if json.Unmarshal(raw, &facts) != nil {
		err = errNotOurs
	}
	return facts, err
}
