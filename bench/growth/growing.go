package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/local"
)

// growing is a server on its way along a curve.
type growing struct {
	options options
	curve   curve
	dir     string
	who     local.Organizations
	server  *local.Process // nil before the first start
	load    *bench.Load    // nil before it is opened
	reached int            // how much there is already
}

// identify makes organizations for so many keys, with idle ones beside theirs, once.
func (g *growing) identify(keys, idle int) (err error) {
	if len(g.who.All) == 0 {
		g.who, err = local.MakeOrganizations(filepath.Join(g.dir, "auth.cfg"), keys, idle)
	}
	return err
}

// serve starts a server on what there is.
func (g *growing) serve(ctx context.Context) (err error) {
	g.server, err = local.StartServer(ctx, g.options.binary, g.dir, g.who)
	return err
}

// resume starts a server on what was prepared, and measures it.
func (g *growing) resume(ctx context.Context, o bench.Options) (point, error) {
	if err := g.serve(ctx); err != nil {
		return point{}, err
	}
	if err := g.open(ctx, o); err != nil {
		return point{}, err
	}
	return g.measure(ctx)
}

func (g *growing) open(ctx context.Context, o bench.Options) (err error) {
	o.Name, o.Seed = loadName, seed
	g.load, err = bench.Open(ctx, bench.Target{Address: g.server.URL, Identities: g.who.All}, o)
	return err
}

// fresh measures a server that begins with nothing.
func (g *growing) fresh(ctx context.Context, idle int, o bench.Options) (point, error) {
	if err := errors.Join(g.end(), os.RemoveAll(filepath.Join(g.dir, "data"))); err != nil {
		return point{}, err
	}
	g.who = local.Organizations{}
	if err := g.identify(o.Connections, idle); err != nil {
		return point{}, err
	}
	return g.resume(ctx, o)
}

// measure works for a while and says what that took.
func (g *growing) measure(ctx context.Context) (point, error) {
	var before, after local.Usage
	var errs error
	usage := func() local.Usage {
		u, err := g.server.Usage()
		errs = errors.Join(errs, err)
		return u
	}
	result, err := g.load.Run(ctx, bench.Window{Duration: g.options.duration, Least: leastOperations,
		Begin: func() { before = usage() }, End: func() { after = usage() }})
	if err := errors.Join(err, errs); err != nil {
		return point{}, err
	}
	p, err := g.look()
	p.Result = result
	if result.Operations > 0 {
		p.CPU = (after.CPU - before.CPU) / float64(result.Operations) * 1000
	}
	return p, err
}

// leastOperations is how many a measurement must have, if it can.
const leastOperations = 20

// look says how large the server is.
func (g *growing) look() (point, error) {
	u, err := g.server.Usage()
	if err != nil {
		return point{}, err
	}
	disk, err := sizeOf(filepath.Join(g.dir, "data"))
	return point{Resident: u.Resident, Peak: u.Peak, Disk: disk, Start: g.server.Started.Seconds()}, err
}

// end stops what runs.
func (g *growing) end() error {
	if g.load != nil {
		g.load.Close()
		g.load = nil
	}
	if g.server == nil {
		return nil
	}
	server := g.server
	g.server = nil
	return server.Stop()
}

// sizeOf adds up the files below a folder. One that goes away meanwhile has no size.
func sizeOf(dir string) (total int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return ignoreMissing(err)
		}
		info, err := entry.Info()
		if err == nil {
			total += info.Size()
		}
		return ignoreMissing(err)
	})
	return total, err
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
