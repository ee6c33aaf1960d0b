package main

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/holdfast/holdfast/api"
	"github.com/holdfast/holdfast/client"
)

// The codes of what a command fails with by itself. All others are the server's.
const (
	codeUsage  api.ErrorCode = "usage"
	codeFailed api.ErrorCode = "failed"
)

// showFailure says why a command has failed: as JSON, like an error answer of the server's, to
// who wants its result so.
func (a *app) showFailure(cmd *cobra.Command, err error, isUsage bool) {
	if asJSON, _ := cmd.Flags().GetBool("json"); asJSON {
		_ = json.NewEncoder(a.stderr).Encode(failureOf(err, isUsage))
		return
	}
	fmt.Fprintf(a.stderr, "holdfast: %v\n", err)
	if isUsage {
		fmt.Fprintf(a.stderr, "`%s --help` shows how it is used.\n", cmd.CommandPath())
	}
}

func failureOf(err error, isUsage bool) api.Failure {
	failure := api.Failure{Status: "error", Code: codeFailed, Message: err.Error()}
	if isUsage {
		failure.Code = codeUsage
	}
	if answer, ok := errors.AsType[*client.Error](err); ok && answer.Code != "" {
		failure.Code, failure.RequestID, failure.Details = answer.Code, answer.RequestID, answer.Details
	}
	return failure
}
