package server

import (
	"math"

	"github.com/holdfast/holdfast/configs"
)

// memoryLimit returns the limit in bytes to set for the runtime; 0 leaves it as it is, which
// is what GOMEMLIMIT says. cgroup returns the limit of the process's cgroup, or an error
// where there is none.
func memoryLimit(settings configs.Server, getenv func(string) string, cgroup func() (uint64, error)) int64 {
	if settings.MemoryLimit != configs.AutoMemory {
		return settings.MemoryLimit
	}
	if getenv("GOMEMLIMIT") != "" {
		return 0
	}
	limit, err := cgroup()
	if err != nil || limit > math.MaxInt64 {
		return 0
	}
	return int64(limit - limit/10) // the rest is for what the collector doesn't see, such as the store's pages
}
