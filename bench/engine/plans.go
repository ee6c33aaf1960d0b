package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/holdfast/holdfast/engine"
	"github.com/holdfast/holdfast/engine/addr"
	"github.com/holdfast/holdfast/engine/apply"
	"github.com/holdfast/holdfast/engine/plan"
	"github.com/holdfast/holdfast/engine/provider"
	"github.com/holdfast/holdfast/engine/provider/fake"
)

// What a plan without changes may take.
const (
	planWithin = 3 * time.Second
	planMemory = 1 << 30
)

// atOnce is how many objects are made at once where only what is there afterwards is of interest.
const atOnce = 1000

// still is a provider in memory whose objects are what is recorded of them: none changes, and reading takes no time.
type still struct{ *fake.Provider }

func (still) Read(_ context.Context, r provider.ReadRequest) (provider.Object, error) {
	return r.Object, nil
}

// opened is the engine on a folder, with the provider in memory.
func opened(dir string, world *fake.World, keeps bool) (*engine.Engine, error) {
	registry := provider.NewRegistry(nil)
	registry.Add(addr.Provider{Host: addr.DefaultHost, Namespace: "hashicorp", Name: "fake"},
		func(ctx context.Context) (provider.Provider, error) {
			made, err := world.New(ctx)
			if p, ok := made.(*fake.Provider); ok && keeps {
				made = still{p}
			}
			return made, err
		})
	return engine.New(engine.Options{Dir: dir, Registry: registry})
}

// configure writes a configuration of n independent resources into a folder.
func configure(dir, head, resource string, n int) error {
	var b strings.Builder
	b.WriteString(head)
	for i := range n {
		fmt.Fprintf(&b, resource, i)
	}
	return os.WriteFile(filepath.Join(dir, "main.tf"), []byte(b.String()), 0o600)
}

// fakeResource is a resource of the provider in memory.
const fakeResource = "resource \"fake_thing\" \"t%[1]d\" {\n  name = \"t%[1]d\"\n}\n"

// plans measures plans with the provider in memory.
func plans(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "holdfast-bench-engine")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := configure(dir, "", fakeResource, o.resources); err != nil {
		return err
	}
	if _, err := applied(ctx, dir, &fake.World{}, atOnce, o.resources); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	took, memory, err := middle(o.runs, func() (time.Duration, int64, error) {
		return process(ctx, dir, nil, self, "-child", dir)
	})
	if err != nil {
		return err
	}
	what := fmt.Sprintf("plan of %d resources without changes, provider in memory", o.resources)
	row(what+": time", seconds(took), seconds(planWithin), took < planWithin)
	row(what+": peak memory", mebibytes(memory), mebibytes(planMemory), memory < planMemory)
	return nil
}

// applied makes all objects of a folder's configuration, and returns how long the apply took.
func applied(ctx context.Context, dir string, world *fake.World, parallelism, want int) (time.Duration, error) {
	e, err := opened(dir, world, false)
	if err != nil {
		return 0, err
	}
	p, err := e.Plan(ctx, plan.Options{})
	if err != nil {
		return 0, err
	}
	begin := time.Now()
	result, err := e.Apply(ctx, p, apply.Options{Parallelism: parallelism})
	if err == nil && result.Added != want {
		err = fmt.Errorf("%d objects were made, %d wanted", result.Added, want)
	}
	return time.Since(begin), err
}

// planFake plans a folder that has nothing to do.
func planFake(ctx context.Context, dir string) error {
	e, err := opened(dir, &fake.World{}, true)
	if err != nil {
		return err
	}
	p, err := e.Plan(ctx, plan.Options{})
	if err == nil && !p.Empty() {
		err = fmt.Errorf("the plan has something to do")
	}
	return err
}

// process runs a program to its end, and returns how long that took and the most memory that it, or a program that it
// started, had.
func process(ctx context.Context, dir string, environ []string, program string, args ...string) (time.Duration, int64,
	error) {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environ...)
	begin := time.Now()
	out, err := cmd.CombinedOutput()
	took := time.Since(begin)
	if err != nil {
		return 0, 0, fmt.Errorf("%s %s: %w\n%.2000s", program, strings.Join(args, " "), err, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok || runtime.GOOS != "linux" {
		return took, 0, nil
	}
	return took, usage.Maxrss << 10, nil
}
