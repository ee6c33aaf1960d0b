//go:build e2e && !linux

package test

import "os/exec"

func dieWithParent(*exec.Cmd) {}

func becomes(*exec.Cmd, uint32) {}

func ownLoopback() string { return "127.0.0.1" }
