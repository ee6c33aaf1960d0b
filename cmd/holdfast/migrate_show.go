package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/storage/moving"
)

// showing begins to show how far a step has come. end must follow.
func (r *relocation) showing(ctx context.Context, step string) (tell moving.Progress, end func(), err error) {
	total, err := r.move.Records(ctx)
	if err != nil {
		return nil, nil, err
	}
	if r.flags.asJSON {
		p := &jsonProgress{to: json.NewEncoder(r.a.stderr), Step: step, Of: total}
		return p.tell, p.say, nil
	}
	p := r.a.startProgress(step, "record", total)
	return func(_ string, compared, _ int) { p.count.Add(int64(compared)) }, p.end, nil
}

// sayEvery is how often a program is told how far a move has come.
const sayEvery = time.Second

// jsonProgress says as JSON lines how far a step has come.
type jsonProgress struct {
	mu   sync.Mutex
	to   *json.Encoder
	said time.Time

	Step    string `json:"step"`
	Table   string `json:"table"`
	Records int64  `json:"records"` // of all tables
	Of      int64  `json:"of"`
}

func (p *jsonProgress) tell(table string, compared, _ int) {
	p.mu.Lock()
	p.Table = table
	p.Records += int64(compared)
	due := time.Since(p.said) >= sayEvery
	p.mu.Unlock()
	if due {
		p.say()
	}
}

func (p *jsonProgress) say() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.said = time.Now()
	_ = p.to.Encode(p) // nothing depends on it
}

// show prints what became of a move, as far as it came.
func (r *relocation) show(done bool) error {
	if r.flags.asJSON {
		return r.showJSON(done)
	}
	t := r.a.newTable(head{"TABLE", firm}, head{"RECORDS", firm}, head{"COPIED", firm}, head{"SHA-256", firm},
		head{"RESULT", firm})
	t.paint = r.a.paintResult
	for _, one := range r.tables {
		result := moveEqual
		if !one.Equal {
			result = moveDiffers
		}
		if one.Records == 0 && one.Equal {
			continue // there are many that few have anything in
		}
		t.add(one.Table, strconv.FormatInt(one.Records, 10), strconv.FormatInt(one.Copied, 10), shortDigest(one.SHA256),
			result)
	}
	if len(r.tables) > 0 {
		if err := t.show(); err != nil {
			return err
		}
	}
	if r.uploads != nil && len(r.uploads.moves) > 0 {
		fmt.Fprintln(r.a.stdout)
		if err := r.a.showMigration(r.uploads, migrateFlags{}); err != nil {
			return err
		}
	}
	if done {
		fmt.Fprintln(r.a.stderr, r.after())
	}
	return nil
}

// after says what is to be done next.
func (r *relocation) after() string {
	if configs.OnServer(r.flags.to) {
		settings := "state.storage, runs.storage and storage.type"
		if r.flags.noUploads {
			settings = "state.storage and runs.storage"
		}
		return "All is there. Servers serve it with\n" + settings + " = " + r.flags.to + "."
	}
	return "All is there. A server serves it with\nstate.storage and runs.storage = sqlite, and storage.type = csv."
}

func (r *relocation) showJSON(done bool) error {
	uploads := []*move{} // [], never null
	if r.uploads != nil {
		uploads = append(uploads, r.uploads.moves...)
	}
	return printJSON(r.a.stdout, struct {
		From    string       `json:"from"`
		To      string       `json:"to"`
		Resumed bool         `json:"resumed"`
		Done    bool         `json:"done"`
		Tables  []movedTable `json:"tables"`
		Uploads []*move      `json:"uploads"`
	}{r.flags.from, r.flags.to, r.resumed, done, append([]movedTable{}, r.tables...), uploads})
}
