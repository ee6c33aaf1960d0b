package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/local"
)

// organizations is how many connections have one of their own.
const organizations = 64

// comparison is what all rows share.
type comparison struct {
	options options
	dir     string
	who     local.Organizations
	started int // rows
}

func newComparison(o options) (*comparison, error) {
	dir, err := os.MkdirTemp("", "holdfast-bench-")
	if err != nil {
		return nil, err
	}
	who, err := local.MakeOrganizations(filepath.Join(dir, "auth.cfg"), organizations, 0)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &comparison{options: o, dir: dir, who: who}, nil
}

func (c *comparison) version(ctx context.Context) string {
	out, err := exec.CommandContext(ctx, c.options.binary, "version").Output()
	if err != nil {
		return "unknown"
	}
	line, _, _ := strings.Cut(string(out), "\n")
	return line
}

// measure measures a row: the server and its floor in turn, each with its connections open
// throughout, and the other one idle meanwhile.
func (c *comparison) measure(ctx context.Context, r row) (result outcome, err error) {
	dir := filepath.Join(c.dir, strconv.Itoa(c.started))
	c.started++
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	server, err := c.startServer(ctx, dir, r)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, server.stop()) }()
	base, err := c.startBase(ctx, dir, r)
	if err != nil {
		return outcome{}, err
	}
	defer func() { err = errors.Join(err, base.stop()) }()
	if r.Mix == bench.Read {
		if err := server.quiet(ctx); err != nil {
			return outcome{}, err
		}
	}
	result = outcome{row: r}
	for run := range c.options.runs {
		first, second := base, server
		if run%2 == 1 {
			first, second = server, base
		}
		if err := errors.Join(first.measure(ctx, c.options), second.measure(ctx, c.options)); err != nil {
			return outcome{}, err
		}
	}
	result.Server, result.Base, err = server.summary(), base.summary(), errors.Join(server.err, base.err)
	result.Ratio = ratios(result.Server.PerSecond, result.Base.PerSecond)
	return result, err
}

func (c *comparison) startServer(ctx context.Context, dir string, r row) (*side, error) {
	dir = filepath.Join(dir, "server")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	process, err := local.StartServer(ctx, c.options.binary, dir, c.who, c.environ(r)...)
	if err != nil {
		return nil, err
	}
	ids := c.who.All
	if r.Shared {
		ids = ids[:1]
	}
	s := &side{process: process}
	return s, s.open(ctx, ids, c.load(r))
}

// environ is what both sides of a row are told.
func (*comparison) environ(r row) []string {
	if r.Floor == openFloor {
		return []string{sameCollector}
	}
	return nil
}

// startBase starts what the row is compared with.
func (c *comparison) startBase(ctx context.Context, dir string, r row) (*side, error) {
	load := c.load(r)
	load.Gzip = false // a floor has nothing compressed
	dir = filepath.Join(dir, "floor")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	var ids []bench.Identity
	if r.Floor == openFloor {
		ids = c.who.All // who is in it, at least, it wants to be told
	}
	process, err := startFloor(ctx, dir, floorOptions{r.Floor, r.Size}, c.environ(r)...)
	if err != nil {
		return nil, err
	}
	s := &side{process: process, floor: true}
	return s, s.open(ctx, ids, load)
}

func (c *comparison) load(r row) bench.Options {
	return bench.Options{Mix: r.Mix, Size: r.Size, Connections: r.Connections, Name: "bench", Seed: seed, Gzip: r.Gzip,
		MD5: c.options.md5}
}
