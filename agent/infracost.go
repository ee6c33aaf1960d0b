package agent

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/insight/infracost"
	"github.com/holdfast/holdfast/runs/changes"
)

// Infracost is the program that says what the resources of a plan cost.
type Infracost struct {
	Path string // absolute; empty for none
	// Key is what it shows its maker's service. It is all that it gets of the executor's environment, beside proxies.
	Key string
	// Patience is how long it may take; 0 for five minutes.
	Patience time.Duration
}

const (
	// pricing names the folder and the command of Infracost in a run's folder.
	pricing      = "pricing"
	pricedPlan   = "plan.json"
	pricedResult = "infracost-breakdown.json"
)

// pricingLooks is how often it is looked at how much Infracost has written.
const pricingLooks = time.Second

// check refuses a program that can't be run.
func (i Infracost) check() error {
	if i.Path == "" {
		return nil
	}
	info, err := os.Stat(i.Path)
	clean := filepath.IsAbs(i.Path) && filepath.Clean(i.Path) == i.Path // as a sandbox wants it
	if err == nil && (!clean || !info.Mode().IsRegular() || info.Mode()&0o111 == 0) {
		err = fmt.Errorf("%s is no program by an absolute path in its shortest form", i.Path)
	}
	if err != nil {
		return fmt.Errorf("infracost: %w", err)
	}
	return nil
}

// secrets are those of an assignment, and the executor's own that a command gets.
func (e *Executor) secrets(a api.Assignment) []string {
	all := secrets(a)
	if key := e.settings.Infracost.Key; key != "" {
		all = append(all, key)
	}
	return all
}

// costs has Infracost, where there is one, say what the plan costs, whose JSON is in a file. Its end, however bad, is
// never the plan's: of a bad one the log says so. It returns nil where there is nothing to bring to the server.
func (s *stage) costs(ctx context.Context, plan string) *api.OtherFile {
	if s.executor.settings.Infracost.Path == "" || s.cancels.wanted() {
		return nil
	}
	raw, err := s.priced(ctx, plan)
	if ctx.Err() != nil {
		return nil // the next executor goes on with it
	}
	text := string(s.masker.Bytes(raw))
	if err == nil {
		err = readable(text)
	}
	if err != nil {
		s.say(ctx, "[holdfast: Infracost has not said what the plan costs: "+reason(err)+"]\n")
		return nil
	}
	return &api.OtherFile{Name: pricedResult, Text: text}
}

// readable refuses what the server could not read, and would hold the plan for: no output of Infracost, costs in
// another currency, and a text in which something looked like a secret and that is none of its kind once it is masked.
func readable(text string) error {
	if _, err := infracost.ReadOfRun(text, infracost.MaxValues); err != nil {
		return &unusable{"what it wrote can't be read once it is masked: " + err.Error()}
	}
	return nil
}

func (s *stage) priced(ctx context.Context, plan string) ([]byte, error) {
	process, err := s.executor.settings.Commands.Find(ctx, commandIn(s.folder, pricing))
	if errors.Is(err, fs.ErrNotExist) {
		process, err = s.startPricing(ctx, plan)
	}
	if err != nil {
		return nil, err
	}
	exit, err := s.awaitPricing(ctx, process)
	switch {
	case err != nil:
		return nil, err
	case exit.Lost:
		return nil, &unusable{"nobody saw how it ended"}
	case exit.Failed != "":
		return nil, &unusable{"it could not be run: " + exit.Failed}
	case exit.Signal != "":
		return nil, &unusable{"it was ended: it took too long or wrote too much, or the run was cancelled"}
	case exit.Code != 0:
		return nil, &unusable{fmt.Sprintf("it ended with %d", exit.Code)}
	}
	f, err := openRegular(s.folder, filepath.Join(scratchIn(s.folder, pricing), pricedResult))
	if err != nil {
		return nil, &unusable{"there is no file of it"}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxResultBytes+1))
	if err == nil && len(text) > maxResultBytes {
		err = &unusable{fmt.Sprintf("it wrote too much, more than %d MiB", maxResultBytes>>20)}
	}
	return text, err
}

// startPricing starts Infracost in a folder of its own, in which is nothing of the configuration but the masked plan:
// what a hook leaves elsewhere can't tell it where to send its key.
func (s *stage) startPricing(ctx context.Context, plan string) (Process, error) {
	program, folder := s.executor.settings.Infracost, scratchIn(s.folder, pricing)
	if err := errors.Join(wipe(folder), os.Mkdir(folder, 0o700)); err != nil {
		return nil, err
	}
	if err := s.maskPlan(plan, filepath.Join(folder, pricedPlan)); err != nil {
		return nil, err
	}
	if user := s.executor.settings.User; user != nil {
		if err := own(folder, *user); err != nil {
			return nil, err
		}
	}
	env := []string{"PATH=" + systemPath, "LANG=C.UTF-8", "TZ=UTC", "HOME=" + folder, "TMPDIR=" + folder,
		"INFRACOST_SKIP_UPDATE_CHECK=true"}
	for name, value := range s.executor.outside() {
		env = append(env, name+"="+value)
	}
	if program.Key != "" {
		env = append(env, "INFRACOST_API_KEY="+program.Key)
	}
	slices.Sort(env)
	return s.executor.settings.Commands.Start(ctx, Command{
		Folder: commandIn(s.folder, pricing), Path: program.Path, Dir: folder, Env: env,
		Args: []string{"breakdown", "--path", filepath.Join(folder, pricedPlan), "--format", "json", "--out-file",
			filepath.Join(folder, pricedResult)},
		Read: append(s.executor.readable(), program.Path), Write: []string{folder}, Least: s.leastSandbox(),
	})
}

// maskPlan writes a plan's JSON with whatever is sensitive masked: by the plan's own word, and by the workspace's.
func (s *stage) maskPlan(from, to string) error {
	raw, err := os.Open(from)
	if err != nil {
		return err
	}
	defer raw.Close()
	var names []string
	for _, v := range s.assignment.Variables {
		if v.Sensitive {
			names = append(names, v.Name)
		}
	}
	plan, err := changes.Parse(raw, changes.Options{Sensitive: names, Secrets: s.masker,
		Limits: changes.Limits{Changes: 1, Kept: 16 << 20}})
	if err != nil {
		return err
	}
	if _, err := raw.Seek(0, io.SeekStart); err != nil {
		return err
	}
	err = writeFile(to, func(f *os.File) error {
		masked := s.masker.Writer(f)
		return errors.Join(plan.Redact(masked, raw), masked.Close())
	})
	if err != nil {
		return err
	}
	if !isJSON(to) {
		return &unusable{"a sensitive value of the workspace is a part of the plan's JSON itself, such as true or a number, " +
			"and no plan is left once it is masked"}
	}
	return nil
}

// isJSON reports whether a file has one JSON document, without having all of it in memory.
func isJSON(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	d := jsontext.NewDecoder(f, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	if err := d.SkipValue(); err != nil {
		return false
	}
	_, err = d.ReadToken()
	return errors.Is(err, io.EOF)
}

// awaitPricing waits for Infracost, and kills it where it takes too long, writes too much, or nobody waits any more.
func (s *stage) awaitPricing(ctx context.Context, process Process) (exit Exit, err error) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		exit, err = process.Wait(ctx)
	}()
	patience := time.NewTimer(cmp.Or(s.executor.settings.Infracost.Patience, 5*time.Minute))
	defer patience.Stop()
	looks := time.NewTicker(pricingLooks)
	defer looks.Stop()
	enough := false // for good: what could not be killed is killed again
	for {
		_, cancelled := s.cancels.state()
		enough = enough || s.cancels.wanted()
		select {
		case <-ended:
			return exit, err
		case <-cancelled:
			continue
		case <-patience.C:
			enough = true
		case <-looks.C:
			enough = enough || s.pricingIsLarge(ctx, process)
		}
		if enough {
			s.attempt("kill Infracost", process.Kill)
		}
	}
}

// pricingIsLarge reports whether Infracost has written more than anybody reads, or than the run's folder may have.
func (s *stage) pricingIsLarge(ctx context.Context, process Process) bool {
	for _, path := range []string{filepath.Join(scratchIn(s.folder, pricing), pricedResult), process.Output()} {
		if info, err := os.Lstat(path); err == nil && info.Size() > maxResultBytes {
			return true
		}
	}
	most := s.executor.settings.MaxFolderBytes
	if most <= 0 {
		return false
	}
	used, _ := s.used(ctx, most)
	return used > most
}
