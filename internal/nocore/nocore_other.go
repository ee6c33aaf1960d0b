//go:build !linux

package nocore

// Set does nothing: who runs the program sets the limit.
func Set() error { return nil }

// Hide does nothing.
func Hide() error { return nil }
