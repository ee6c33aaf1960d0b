package storage

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/holdfast/holdfast/auth/copies"
	"github.com/holdfast/holdfast/configs"
	"github.com/holdfast/holdfast/internal/durable"
	"github.com/holdfast/holdfast/internal/pause"
	"github.com/holdfast/holdfast/storage/folder"
	"github.com/holdfast/holdfast/storage/moving"
	"github.com/holdfast/holdfast/storage/notices"
	"github.com/holdfast/holdfast/storage/sqlauth"
	"github.com/holdfast/holdfast/storage/sqldb"
	"github.com/holdfast/holdfast/storage/sqlite"
	"github.com/holdfast/holdfast/storage/states"
)

// folderPlace is the folder of a server that keeps everything itself.
type folderPlace struct {
	folderMarks
	folderUses
	dir     string
	id      string // of the folder, wherever it is mounted; empty before open
	log     *slog.Logger
	source  bool
	served  bool // by a server that goes on to write
	release func() error
	opened  []*sqldb.DB
}

// String implements place.
func (p *folderPlace) String() string {
	host, err := os.Hostname()
	if err != nil {
		host = "this machine"
	}
	name := fmt.Sprintf("the folder %s on %s", p.dir, host)
	if p.id != "" {
		name += idMark + p.id
	}
	return name
}

// idMark comes before a folder's ID in its name. A container has another host name each time.
const idMark = ", store "

// isPlace reports whether a mark names a place.
func isPlace(marked string, p place) bool {
	was, id, has := strings.Cut(marked, idMark)
	now, mine, _ := strings.Cut(p.String(), idMark)
	if has { // one that was set before folders had IDs has none
		return id == mine
	}
	return was == now
}

// folderIDName is the name of the file with the folder's ID.
const folderIDName = "store.id"

// folderID returns what a folder is known by, which is made once.
func folderID(dir string) (string, error) {
	path := filepath.Join(dir, folderIDName)
	if err := durable.CreateNew(path, uuid.NewString()+"\n"); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	id, err := uuid.Parse(strings.TrimSpace(string(text)))
	if err != nil {
		return "", fmt.Errorf("%s: %w; remove the file if no move from or to this folder has begun", path, err)
	}
	return id.String(), nil
}

func (p *folderPlace) open(context.Context) (err error) {
	p.folderMarks, p.folderUses = folderMarks(p.dir), folderUses(p.dir)
	if p.source {
		if info, err := os.Stat(p.dir); err != nil || !info.IsDir() {
			return errors.Join(fmt.Errorf("storage.path (STORAGE_PATH) is %s, which is no folder", p.dir), err)
		}
	} else if err := folder.Make(p.dir); err != nil {
		return err
	}
	if !p.served {
		if p.release, err = sqlite.Hold(p.dir); err != nil {
			return err
		}
	}
	p.id, err = folderID(p.dir)
	return err
}

func (p *folderPlace) idle(context.Context) error { return nil } // it is held

func (p *folderPlace) sides(ctx context.Context) ([]keep, error) {
	file, migrate := sqlite.File(p.dir)
	states, err := p.keep(ctx, "states", sqldb.File{File: file, Migrate: migrate})
	if err != nil {
		return nil, err
	}
	states.side.Shapes, states.usage, states.complete = sqlite.Shapes(), sqlite.UsageShape(), sqlite.Complete
	runs, err := p.keep(ctx, "runs", sqldb.RunsFile(filepath.Join(p.dir, "runs.db")))
	if err != nil {
		return nil, err
	}
	if !runs.missing {
		if runs.side.Shapes, err = p.opened[len(p.opened)-1].Shapes(ctx); err != nil {
			return nil, err
		}
	}
	told, err := p.keep(ctx, "notices", notices.File(p.dir))
	told.side.Shapes = notices.Shapes()
	return []keep{states, runs, told}, err
}

// keep opens a database of the folder, unless there is none to move.
func (p *folderPlace) keep(ctx context.Context, name string, file sqldb.File) (keep, error) {
	if p.source && !exists(file.Path) {
		return keep{name: name, missing: true}, nil
	}
	file.Served = p.served
	db, err := sqldb.Open(ctx, sqldb.Options{File: &file, Log: p.log})
	if err != nil {
		return keep{}, err
	}
	p.opened = append(p.opened, db)
	return keep{name: name, side: moving.Side{Database: db}}, nil
}

func (p *folderPlace) close() error {
	var errs []error
	for _, db := range p.opened {
		errs = append(errs, db.Close())
	}
	if p.release != nil {
		errs = append(errs, p.release())
	}
	return errors.Join(errs...)
}

// databasePlace is the database that several nodes share.
type databasePlace struct {
	databaseMarks
	settings configs.Settings
	log      *slog.Logger
	source   bool
	shared   *sqlauth.Store
}

// String implements place.
func (p *databasePlace) String() string {
	if d := p.settings.Database; d.Engine() == configs.Postgres {
		return fmt.Sprintf("the database %v", postgresOptions(d, p.log))
	}
	return fmt.Sprintf("the database %v", serverOptions(p.settings.Database, p.log))
}

// open has the schemas of all that is in it up to date.
func (p *databasePlace) open(ctx context.Context) (err error) {
	p.db, err = sqldb.Open(ctx, onServer(p.settings.Database, p.log))
	if err != nil {
		return err
	}
	p.shared = sqlauth.New(p.db, nil) // who runs is all that is asked
	return p.upToDate(ctx)
}

// upToDate has nothing of states left in the journal.
func (p *databasePlace) upToDate(ctx context.Context) (err error) {
	master, err := masterOf(ctx, p.settings)
	if err != nil {
		return err
	}
	o := statesOptions(p.settings.Database, p.log)
	o.Master = master
	states, err := states.Open(ctx, o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, states.Close()) }()
	_, err = states.Feed(ctx, 0, 1) // who reads the log moves the journal on before
	return err
}

// settled is how long a node that began before there was a mark takes to be heard of.
const settled = 3 * time.Second

// idle waits until nobody can have begun who has not seen the mark, and then until nodes that were
// killed count as gone. Nodes that run tell one another, and so tell us.
func (p *databasePlace) idle(ctx context.Context) error {
	if err := pause.For(ctx, settled); err != nil {
		return err
	}
	for waited := time.Duration(0); ; waited += time.Second {
		all, err := p.shared.Copies(ctx)
		if err != nil {
			return err
		}
		nodes := copies.Running(all)
		if len(nodes) == 0 {
			return p.upToDate(ctx)
		}
		if waited > copies.Gone || nodes[0].Silent < settled && waited > settled {
			var names []string
			for _, n := range nodes {
				names = append(names, n.Name)
			}
			return fmt.Errorf("servers run that use %v: %s; stop them first", p, strings.Join(names, ", "))
		}
		if err := pause.For(ctx, time.Second); err != nil {
			return err
		}
	}
}

func (p *databasePlace) sides(ctx context.Context) ([]keep, error) {
	side := func(shapes []moving.Shape) moving.Side { return moving.Side{Database: p.db, Shapes: shapes} }
	runs, err := p.db.Shapes(ctx)
	if err != nil {
		return nil, err
	}
	in := p.db.Dialect()
	return []keep{
		{name: "states", side: states.Side(p.db, in), usage: states.UsageShape(), complete: states.Complete(in)},
		{name: "runs", side: side(runs)},
		{name: "notices", side: side(notices.Shapes())},
	}, nil
}

func (p *databasePlace) close() error {
	if p.db == nil {
		return nil
	}
	return p.db.Close()
}

// readTexts returns the only column of a query's rows.
func readTexts(q sqldb.Querier, query string) ([]string, error) {
	return sqldb.All(q, func(rows *sql.Rows) (text string, err error) { return text, rows.Scan(&text) }, query)
}
