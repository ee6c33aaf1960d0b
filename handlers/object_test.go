package handlers

import (
	"strings"
	"testing"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/fault"
)

// TestMisfits decodes bodies that are no change of a repository: what is wrong is named, and no value is quoted.
func TestMisfits(t *testing.T) {
	for body, want := range map[string]string{
		`{"poll":"hunter2"}`:             `a member "poll", which takes no string`,
		`{"api":5318008}`:                `a member "api", which takes no number`,
		`{"polling":1}`:                  `a member "polling", which is unknown here`,
		`{"AKIA5318008":"x"}`:            `a member that is unknown here, or one of another type`,
		`{"` + long + `":1}`:             `a member that is unknown here, or one of another type`,
		`{"submodules":{"a":"hunter2"}}`: `a member "submodules", which takes no object`,
		`[]`:                             `not one JSON object`,
	} {
		_, err := decodeObject[api.RepositoryChange]([]byte(body), fault.WorkspaceInvalid)
		if err == nil || !strings.Contains(fault.From(err).Message, want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}

var long = strings.Repeat("a", 41)
