//go:build !linux

package gitmirror

import (
	"os"
	"os/exec"
)

func apart(*exec.Cmd) {}

func limit(int, Limits) error { return nil }

func hold(*os.File) error { return nil }
