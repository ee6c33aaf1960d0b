package storagetest

import "github.com/holdfast/holdfast/state"

// ChildMain is the first call of an engine's TestMain. It returns at once, unless this
// process is the child that RunDurable starts and kills.
func ChildMain(open func(dir string) (state.Store, error)) {
}
