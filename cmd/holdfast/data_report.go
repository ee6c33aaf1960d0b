package main

import (
	"cmp"
	"strconv"
)

// shownDigest is how much of a digest people get to see; --json has all of it.
const shownDigest = 16

// showMigration prints what became of each organization.
func (a *app) showMigration(m *migration, flags migrateFlags) error {
	if flags.asJSON {
		return printJSON(a.stdout, struct {
			From          string  `json:"from"`
			To            string  `json:"to"`
			DryRun        bool    `json:"dry_run"`
			Organizations []*move `json:"organizations"`
		}{flags.from, flags.to, flags.dryRun, append([]*move{}, m.moves...)}) // [], never null
	}
	added := "COPIED"
	if flags.dryRun {
		added = "TO COPY"
	}
	t := a.newTable(head{"ORGANIZATION", firm}, head{"PRESENT", firm}, head{added, firm}, head{"SOURCE", firm},
		head{"TARGET", firm},
		head{"SOURCE SHA-256", wide}, head{"TARGET SHA-256", wide}, head{"RESULT", firm})
	t.paint = a.paintResult
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, one := range m.moves {
		t.add(a.shortID(one.Org.String()), number(one.Present), number(one.Added), number(one.Source.Count),
			number(one.Target.Count),
			shortDigest(one.Source.SHA256), shortDigest(one.Target.SHA256), cmp.Or(one.Result, "not reached"))
	}
	if err := t.show(); err != nil {
		return err
	}
	for _, one := range m.moves {
		if one.Error != "" {
			a.note("%s: %s", one.Org, one.Error)
		}
	}
	return nil
}

func shortDigest(text string) string {
	if text == "" {
		return "-"
	}
	return text[:min(shownDigest, len(text))]
}

func (a *app) paintResult(result string) string {
	switch result {
	case moveEqual:
		return a.paint(green, result)
	case moveFailed, moveDiffers:
		return a.paint(red, result)
	}
	return result
}
