package local

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/enclave"
)

// place is where a tool is run, and with what.
type place struct {
	path, dir, binary string
	env, secrets      map[string]string // environment variables; values of variables that are secret
	record            *record           // of the run; nil for none
	held              *os.File          // says who is at work in the folder; nil for nobody
}

// binaryOf is the tool of a partition: the one that it names, or that its backend is of. For the backend terraform
// without a tool it is terraform where that is on PATH, else tofu.
func binaryOf(p *enclave.Partition) (string, error) {
	names := []string{"terraform", "tofu"}
	switch {
	case p.Tool == enclave.ToolOpenTofu, p.Tool == "" && p.Backend == enclave.OpenTofu:
		names = []string{"tofu"}
	case p.Tool == enclave.ToolTerraform:
		names = []string{"terraform"}
	}
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("there is no %s on PATH", strings.Join(names, " and no "))
}

// initArgs are those of init, without the password.
func (r *Runner) initArgs(path string) []string {
	id, partition, _ := strings.Cut(path, "/")
	address := strings.TrimSuffix(r.Address, "/") + "/terraform/state/" + url.PathEscape(id) + "/" +
		url.PathEscape(partition)
	args := []string{"init", "-reconfigure", "-input=false", "-no-color"}
	for _, config := range []string{"address=" + address, "lock_address=" + address + "/lock",
		"unlock_address=" + address + "/lock", "lock_method=POST", "unlock_method=DELETE", "username=" + r.User} {
		args = append(args, "-backend-config="+config)
	}
	return args
}

// mutating are the arguments of a command that changes something.
func mutating(command string) []string {
	return []string{command, "-auto-approve", "-no-color", "-input=false"}
}

// steps runs a tool several times, until one fails.
func (r *Runner) steps(ctx context.Context, at place, all ...[]string) error {
	for _, args := range all {
		if args[0] != "init" {
			at.record.apply()
		}
		if err := r.run(ctx, at, args); err != nil {
			return err
		}
	}
	return nil
}

// stopsWithin is how long a tool has to end in order once it was told to.
const stopsWithin = 10 * time.Minute

func (r *Runner) command(ctx context.Context, at place, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, at.binary, args...)
	cmd.Dir, cmd.Env = at.dir, r.environment(at)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = stopsWithin
	apart(cmd)
	return cmd
}

// run runs a tool, and tells both of its streams line by line as they come.
func (r *Runner) run(ctx context.Context, at place, args []string) error {
	cmd := r.command(ctx, at, args)
	hand(cmd, at.held)
	printed, err := newOutput(filepath.Join(at.dir, ".holdfast"))
	if err != nil {
		return err
	}
	defer printed.Close()
	cmd.Stdout, cmd.Stderr = printed, printed
	ended, told := make(chan struct{}), make(chan struct{})
	from := &output{file: printed, ended: ended}
	go func() {
		defer close(told)
		lines := bufio.NewScanner(from)
		lines.Buffer(nil, 1<<20)
		for lines.Scan() {
			if r.Tell != nil {
				r.Tell(at.path, lines.Bytes())
			}
			at.record.line(lines.Bytes())
		}
		_, _ = io.Copy(io.Discard, from) // behind a line that is too long
	}()
	err = cmd.Run()
	close(ended)
	<-told
	if err != nil {
		return fmt.Errorf("%s failed: %w", args[0], err)
	}
	return nil
}

// maxCaptured is the most of what a tool prints that is read.
const maxCaptured = 16 << 20

// capture runs a tool, and returns what it prints to stdout.
func (r *Runner) capture(ctx context.Context, at place, args ...string) ([]byte, error) {
	cmd := r.command(ctx, at, args)
	var out bytes.Buffer
	cmd.Stdout = &limited{to: &out, left: maxCaptured}
	err := cmd.Run()
	return answer(out.Bytes()), err
}

// answer is the JSON that a tool prints, without the warnings that it prints before, such as of a TF_CLI_CONFIG_FILE
// that is not there.
func answer(text []byte) []byte {
	if bytes.HasPrefix(text, []byte("{")) {
		return text
	}
	if i := bytes.Index(text, []byte("\n{")); i >= 0 {
		return text[i+1:]
	}
	return text
}

// limited refuses what goes beyond a size.
type limited struct {
	to   *bytes.Buffer
	left int
}

func (l *limited) Write(text []byte) (int, error) {
	if l.left -= len(text); l.left < 0 {
		return 0, errors.New("the tool prints too much")
	}
	return l.to.Write(text)
}

// environment is that of a tool: the caller's without what would change what the tool does, the cloud's identity, and
// what is secret.
func (r *Runner) environment(at place) []string {
	all := slices.DeleteFunc(slices.Clone(r.Environ), func(entry string) bool {
		name, _, _ := strings.Cut(strings.ToUpper(entry), "=")
		return strings.HasPrefix(name, "HOLDFAST_") || strings.HasPrefix(name, "TF_") &&
			!slices.Contains([]string{"TF_PLUGIN_CACHE_DIR", "TF_CLI_CONFIG_FILE", "TF_REGISTRY_CLIENT_TIMEOUT"}, name)
	})
	all = append(all, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1", "TF_HTTP_PASSWORD="+r.Key)
	for name, value := range at.env {
		all = append(all, name+"="+value)
	}
	for name, value := range at.secrets {
		all = append(all, "TF_VAR_"+name+"="+value)
	}
	return all
}
