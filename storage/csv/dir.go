package csv

import (
	"strings"

	"github.com/google/uuid"
)

const (
	indexName = "uploads.db"
	lockName  = "uploads.lock"
	probeName = "uploads.probe"
	suffix    = ".csv"
)

// organizationOf returns whose file has this name.
func organizationOf(name string) (uuid.UUID, bool) {
	text, ok := strings.CutSuffix(name, suffix)
	org, err := uuid.Parse(text)
	return org, ok && err == nil && org.String() == text
}
