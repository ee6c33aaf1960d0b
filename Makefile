# `make help` lists what there is.
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
# Runs, not seconds: a deadline that passes while a worker is busy counts as a failure.
FUZZTIME ?= 5000x
export CGO_ENABLED ?= 0

.PHONY: help build install run test check deep deep-list lint fuzz fuzz-keep clients e2e torture cover-engine bench bench-engine bench-queue bench-logs bench-costs bench-runs bench-nodes bench-growth bench-layers bench-clone bench-go test-mysql97 test-tidb packaging release docker docker-git clean web page

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## /{printf "  %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## build bin/holdfast, one static binary
	@KEEP=1 scripts/build.sh "$(VERSION)" bin/holdfast -buildvcs=false # VERSION says it

PREFIX ?= /usr/local
install: build ## copy the binary to PREFIX/bin (/usr/local/bin)
	@install -D -m 0755 bin/holdfast $(DESTDIR)$(PREFIX)/bin/holdfast

web: ## build the page with npm ci into web/dist/page; `make build` then puts it into the program
	@cd web && npm ci --no-audit --no-fund && npm run build
	@node scripts/compress.mjs web/dist/page
	@touch web/dist/page/.built # the last file: a server that reads the folder waits for it

# page is web, where there is what it takes and anything has changed since.
page:
	@scripts/page.sh

run: build ## build, make an organization and a key on first use, serve on 127.0.0.1:7777, and build the page beside that where Node is there
	@bin/holdfast init --if-missing
	@exec scripts/run.sh

test: ## what CI runs: vet, all Go tests -short, the race detector where memory is shared, the page, ten scripts with OpenTofu
	@scripts/scratch.sh scripts/test.sh

deep: ## everything that there is to test; AREA=states (uploads, runs, git, engine, faces, page, nodes, packaging) for a part
	@scripts/deep.sh $(AREA)

deep-list: ## list what `make test` skips and `make deep` runs
	@git grep -p 'suite\.Deep(' -- '*_test.go' '*.go' | awk -F'[=:(]' '/=func /{ sub(/.*=func /, ""); f = $$0; sub(/[(].*/, "", f); next } { print $$1 ": " f }' | grep -v '^internal/suite' | uniq

check: ## gofmt and go vet
	@unformatted=$$(git ls-files '*.go' | xargs gofmt -l); test -z "$$unformatted" || { echo "not gofmt-ed: $$unformatted"; exit 1; }
	@go vet -tags e2e ./... # the tag adds files, and takes none away

lint: ## golangci-lint, which is built the first time
	@scripts/lint.sh

# ENGINE_TESTS are the packages that speak to a MySQL-protocol server.
ENGINE_TESTS = ./storage/states ./storage/sql ./storage/dual ./storage/sqldb ./storage/sqlruns \
  ./storage/sqlworkspace ./storage/notices ./storage/sqlauth ./storage/sqlsessions \
  ./storage ./storage/mysqldump

test-mysql97: ## the tests of what is in a database with MySQL of Debian unstable, which is unpacked beside the machine's
	@scripts/mysql97.sh scripts/mysql.sh go test -p 1 -timeout 60m $(ENGINE_TESTS)

test-tidb: ## the same with TiDB, built from its Go module (15 minutes the first time)
	@scripts/tidb.sh scripts/mysql.sh go test -p 1 -timeout 60m $(ENGINE_TESTS)

fuzz: ## each fuzz target for FUZZTIME (5,000 runs)
	@echo "== fuzz targets, $(FUZZTIME) each"
	@scripts/fuzz.sh $(FUZZTIME)

fuzz-keep: ## move the failing inputs that fuzzing has written into the archives of seeds
	@go run ./internal/fuzzkeep

clients: ## build the pinned OpenTofu, Terraform and Terragrunt (minutes the first time, then cached)
	@scripts/clients.sh

e2e: ## scripts with the real OpenTofu and Terraform against a real server
	@echo "== real clients"
	@scripts/e2e.sh

# TORTURE_CALLS is how long histories of nodes are checked for: a hundred thousand are six minutes. The tests
# print their HOLDFAST_SEED, and keep what fails in HOLDFAST_HISTORIES.
TORTURE_CALLS ?= 100000
torture: ## kill the store for minutes under load, then count what was acknowledged; measure fairness at length; kill what executes runs
	@HOLDFAST_TORTURE=1 go test -count=1 -timeout 20m -run 'Durab|Schedules|Inventory/(Model|AppendAllEnds)' ./storage/... ./state/statetest ./inventory/inventorytest
	@HOLDFAST_TORTURE=1 scripts/e2e.sh -run 'TestFairness|TestNoisyNeighbour' # as long as it may measure
	@HOLDFAST_CALLS=$(TORTURE_CALLS) scripts/e2e.sh -v -timeout 24h -run 'TestNodesAreLinearizable|TestOneNodeIsLinearizable'
	@HOLDFAST_TORTURE=1 scripts/e2e.sh -timeout 60m -run 'TestServerKilled|TestAgent|TestStopped|TestLate|TestCancel|TestRun'

cover-engine: ## say how much of the engine its tests run, and fail below 90 %
	@scripts/coverengine.sh 90

bench: build ## measure the server and runs against their floors; BENCH='-quick' RUNS='-runs 3' for a first look
	@go run ./bench/compare $(BENCH)
	@$(MAKE) --no-print-directory bench-queue
	@$(MAKE) --no-print-directory bench-logs
	@$(MAKE) --no-print-directory bench-costs
	@scripts/benchruns.sh $(RUNS)

bench-queue: ## measure claims, lists and shows of many runs beside plain statements; QUEUE=1000000 for so many
	@scripts/mysql.sh go test -run '^$$' -benchtime 300x -bench '^BenchmarkClaim$$' ./storage/sqlruns
	@HOLDFAST_BENCH_RUNS=$(or $(QUEUE),100000) scripts/mysql.sh go test -run '^$$' -benchtime 300x -timeout 60m \
	  -bench '^BenchmarkHistory$$/./.*/^(list|list-middle|show|floor-list|floor-show)$$' ./storage/sqlruns

bench-costs: ## measure what encryption and the audit log cost, in turns with a store without them; COSTS=30x for more
	@go test -run '^$$' -benchtime $(or $(COSTS),10x) -bench '^Benchmark(Sealed|Audited)Cycle$$' ./storage/sqlite

bench-logs: build ## measure how logs of runs come to readers; LOGS='-quick' for a first look
	@go run ./bench/logs $(LOGS)

bench-runs: build ## measure what a run costs beside the bare tool; RUNS='-runs 3' for a first look
	@scripts/benchruns.sh $(RUNS)

bench-engine: build ## measure the engine's plans beside OpenTofu's, its order of a large graph, and an apply against its latency; ENGINE='-runs 1' for a first look
	@scripts/benchengine.sh $(ENGINE)

bench-growth: build ## measure how the server grows; GROWTH='-limit 10s' for a first look
	@go run ./bench/growth $(GROWTH)

bench-clone: ## measure from a clone to a first applied state, step by step; CLONES=5 for more
	@scripts/benchclone.sh $(CLONES)

bench-layers: ## measure which layers of a large repository a commit changes, and the conditions of 10,000; LAYERS=20x for more
	@go test -run '^$$' -benchtime $(or $(LAYERS),5x) -timeout 60m -bench '^BenchmarkRelevantLayers$$' ./server
	@go test -run '^$$' -benchtime $(or $(LAYERS),5x) -bench '^Benchmark(Conditions|Commit|AllPaths)$$' ./layers ./layers/relevance

bench-nodes: build ## measure the store of several nodes against its database's floor, then one to three nodes; NODES='-runs 1' for a first look
	@scripts/mysql.sh bash -c 'go test ./storage/states -run "^$$" -bench Cycles -benchtime 1600x && go run ./bench/nodes $(NODES)'

bench-go: ## the Go benchmarks of the inner pieces
	@go test -run '^$$' -bench . -benchmem ./...

packaging: ## build an archive and packages, and look at what is in them
	@echo "== archives and packages"
	@cd packaging && go vet ./... && go test -count=1 ./...

release: ## build all archives and packages of VERSION into dist/, with checksums and what they are made of
	@scripts/packages.sh $(VERSION) dist

docker: ## build the container image, which says what it was made of; BUILDER='podman build' for another tool than docker
	@scripts/image.sh $(VERSION) holdfast:$(VERSION)

docker-git: ## build the same image with git beside, which repositories and layers need; this fetches Debian's packages
	@$(or $(BUILDER),docker build) -t holdfast-git-base -f packaging/git.Dockerfile packaging
	@BASE=holdfast-git-base scripts/image.sh $(VERSION) holdfast:$(VERSION)-git

clean: ## remove what was built
	@rm -rf bin dist
