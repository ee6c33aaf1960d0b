package server

import (
	"errors"
	"math"
	"testing"

	"github.com/holdfast/holdfast/configs"
)

func TestMemoryLimit(t *testing.T) {
	none := errors.New("no cgroup")
	tests := map[string]struct {
		setting     int64
		environment string
		cgroup      uint64
		err         error
		want        int64
	}{
		"a size goes before all": {setting: 300, environment: "500", cgroup: 1000, want: 300},
		"off goes before all": {setting: configs.NoMemoryLimit, environment: "500", cgroup: 1000,
			want: math.MaxInt64},
		"GOMEMLIMIT stays":                {environment: "500", cgroup: 1000},
		"a tenth of the cgroup's is free": {cgroup: 1000, want: 900},
		"no cgroup":                       {err: none},
		"a cgroup without a limit":        {cgroup: math.MaxUint64},
	}
	for name, test := range tests {
		getenv := func(string) string { return test.environment }
		got := memoryLimit(configs.Server{MemoryLimit: test.setting}, getenv,
			func() (uint64, error) { return test.cgroup, test.err })
		if got != test.want {
			t.Errorf("%s: %d, want %d", name, got, test.want)
		}
	}
}
