package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// said is an error in other words.
type said struct {
	text  string
	cause error
}

func (s said) Error() string { return s.text }
func (s said) Unwrap() error { return s.cause }

// inPlainWords has the same words for the same mistake, whichever command has met it: for a server
// that can't be reached, a file that isn't there, and what a server doesn't have.
func inPlainWords(err error) error {
	text := err.Error()
	if failed, ok := errors.AsType[*url.Error](err); ok {
		text = strings.Replace(text, failed.Error(), unreachable(failed), 1)
	}
	if failed, ok := errors.AsType[*fs.PathError](err); ok {
		text = strings.Replace(text, failed.Error(), failed.Path+": "+failed.Err.Error(), 1)
	}
	if refusal, ok := errors.AsType[*client.Error](err); ok {
		if command, ok := listsOf(refusal.Code); ok && !strings.Contains(text, "`holdfast ") {
			text += fmt.Sprintf("; `holdfast %s` shows those there are", command)
		}
	}
	if text == err.Error() {
		return err
	}
	return said{text, err}
}

// listsOf returns the command that lists what a server says it doesn't have.
func listsOf(code api.ErrorCode) (command string, ok bool) {
	command, ok = map[api.ErrorCode]string{
		"workspace_not_found": "workspace list", "run_not_found": "run list", "pool_not_found": "pool list",
	}[code]
	return command, ok
}

// unreachable says that a request got no answer, without the request: whose server it is, and why,
// is all that people can do something about.
func unreachable(failed *url.Error) string {
	address := failed.URL
	if u, err := url.Parse(failed.URL); err == nil {
		address = u.Scheme + "://" + u.Host
	}
	reason := failed.Err
	if op, ok := errors.AsType[*net.OpError](failed.Err); ok {
		reason = op.Err
	}
	if call, ok := errors.AsType[*os.SyscallError](reason); ok {
		reason = call.Err
	}
	return fmt.Sprintf("the server at %s can't be reached: %v", address, reason)
}

// missingState is the words for a state that is not there.
func missingState(name string) error {
	return said{
		text:  fmt.Sprintf("there is no state %s; `holdfast state list` shows those there are", name),
		cause: &client.Error{Status: http.StatusNotFound, Code: "state_not_found"},
	}
}

// missingCandidate is the same for a candidate.
func missingCandidate(name, id string) error {
	return said{
		text:  fmt.Sprintf("%s has no candidate %s; `holdfast candidate list %s` shows them", name, id, name),
		cause: &client.Error{Status: http.StatusNotFound, Code: "candidate_not_found"},
	}
}

// withState says of a refusal because of a state or a candidate that is not there what commands
// say that look by themselves.
func withState(ctx context.Context, c *client.Client, cmd *cobra.Command, args []string, err error) error {
	if client.IsCode(err, "candidate_not_found") && len(args) == 2 {
		return missingCandidate(args[0], args[1])
	}
	if !client.IsCode(err, "state_not_found", "version_not_found", "parameter_invalid") {
		return err
	}
	name := ""
	if len(args) > 0 {
		name = args[0]
	}
	if flag := cmd.Flags().Lookup("state"); flag != nil {
		name = flag.Value.String()
	}
	if _, missing := existing(ctx, c, name); client.IsCode(missing, "state_not_found") {
		return missing
	}
	return err
}
