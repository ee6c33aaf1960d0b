package main

import "github.com/holdfast/holdfast/engine/config"

// modules brings the modules of a configuration that aren't in local folders; nil where none can be brought.
func (f *engineFlags) modules(*app) config.Fetcher { return nil }
