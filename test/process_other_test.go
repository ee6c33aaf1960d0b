//go:build e2e && !linux

package test

import "os/exec"

func dieWithParent(*exec.Cmd) {}

func ownLoopback() string { return "127.0.0.1" }
