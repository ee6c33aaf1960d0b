//go:build linux && !amd64 && !arm64

package sandbox

// filterCalls says that there is no filter for this kind of machine.
func filterCalls(r *Report) error {
	r.because("system calls are not filtered on this kind of machine")
	return nil
}
