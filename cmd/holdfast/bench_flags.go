package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast/holdfast/auth"
	"github.com/holdfast/holdfast/bench"
	"github.com/holdfast/holdfast/bench/sample"
	"github.com/holdfast/holdfast/internal/bytesize"
)

// What a benchmark may ask for: beyond it, it would be this machine that is measured.
const (
	maxBenchConnections = 1024
	maxBenchState       = 100_000_000
	maxBenchDuration    = time.Hour
	maxBenchTexts       = 4_000_000_000 // bytes of states in all, which are kept in memory
)

// plans returns what is to be measured: each mix with each size and number of connections.
// Uploads have one size.
func (f benchFlags) plans() (all []bench.Options, err error) {
	if f.duration <= 0 || f.duration > maxBenchDuration || f.warmup < 0 || f.warmup > maxBenchDuration || f.count < 0 {
		return nil, usagef("--duration is above 0, --warmup and --count are at least 0; the first two are at most %s",
			maxBenchDuration)
	}
	if len(f.mixes) == 0 || len(f.sizes) == 0 || len(f.connections) == 0 {
		return nil, usagef("--mix, --size and --connections can't be empty")
	}
	sizes, err := f.stateSizes()
	if err != nil {
		return nil, err
	}
	for _, name := range f.mixes {
		mix := bench.Mix(name)
		if !slices.Contains(bench.Mixes(), mix) {
			return nil, usagef("--mix: %.20q is not one of cycle, plan, read, upload", name)
		}
		for _, size := range sizes {
			for _, connections := range f.connections {
				if connections < 1 || connections > maxBenchConnections || connections*size > maxBenchTexts {
					return nil, usagef("--connections are 1 to %d, their states in all at most %s", maxBenchConnections,
						bench.SizeText(maxBenchTexts))
				}
				all = append(all, bench.Options{Mix: mix, Size: size, Connections: connections, Seed: f.seed, Gzip: f.gzip,
					MD5: f.md5})
			}
			if mix == bench.Upload {
				break
			}
		}
	}
	return all, nil
}

func (f benchFlags) stateSizes() (sizes []int, err error) {
	for _, text := range f.sizes {
		size, err := bytesize.Parse(text)
		if err == nil && (size < sample.MinState || size > maxBenchState) {
			err = fmt.Errorf("is not between %s and %s", bench.SizeText(sample.MinState), bench.SizeText(maxBenchState))
		}
		if err != nil {
			return nil, usagef("--size: %.20q %w", text, err)
		}
		sizes = append(sizes, int(size))
	}
	return sizes, nil
}

// benchTarget is the server and the keys to ask it with.
func (a *app) benchTarget(f benchFlags) (bench.Target, error) {
	if f.keys == "" {
		found, err := a.credentials(f.clientFlags)
		if err != nil {
			return bench.Target{}, err
		}
		return bench.Target{Address: found.addr, Identities: []bench.Identity{{Org: found.org, Key: found.key}}}, nil
	}
	address, err := a.benchAddress(f.addr)
	if err != nil {
		return bench.Target{}, err
	}
	identities, err := readKeys(f.keys)
	return bench.Target{Address: address, Identities: identities}, err
}

func (a *app) benchAddress(flag string) (string, error) {
	for _, text := range []string{flag, a.getenv(envAddr), defaultAddr} {
		if text != "" {
			address, err := readAddress(text)
			if err != nil {
				err = usagef("the server's address: %w", err)
			}
			return address, err
		}
	}
	return "", nil // there is a default
}

// readKeys reads a file with a key in each line. They say themselves whose they are.
func readKeys(path string) (all []bench.Identity, err error) {
	text, err := readPrivate(path)
	if err != nil {
		return nil, err
	}
	number := 0
	for line := range strings.Lines(text) {
		number++
		key := strings.TrimSpace(line)
		if key == "" {
			continue
		}
		org, ok := auth.OrgOfKey(key)
		if !ok {
			return nil, fmt.Errorf("%s:%d: not a key that `holdfast key add` made", path, number)
		}
		all = append(all, bench.Identity{Org: org, Key: key})
	}
	if len(all) == 0 {
		return nil, fmt.Errorf("%s has no keys", path)
	}
	return all, nil
}
