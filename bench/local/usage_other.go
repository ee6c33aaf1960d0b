//go:build !linux

package local

// Usage knows nothing here.
func (p *Process) Usage() (Usage, error) { return Usage{Flushes: -1}, nil }
