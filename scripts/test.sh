#!/usr/bin/env bash
# What `make test` runs, in stages: each runs whatever became of the others, and a table of their times stands at the end.
# What has passed before and has not changed since is not run again. See scripts/scratch.sh, which has to run this script.
set -euo pipefail
cd "$(dirname "$0")/.."
: "${TMPDIR:?scripts/scratch.sh runs this script}"
. scripts/stages.sh
events=$(mktemp -d)
STAGES=$events/stages
# In another folder, such as a fresh clone, the build cache has what was built here.
export STAGES GOFLAGS="-trimpath -buildvcs=false ${GOFLAGS-}" CGO_ENABLED=0

# The packages whose goroutines share memory are tested with the race detector, the others without.
shared=(./agent ./agent/runlog ./auth/session ./auth/verify ./auth/lastuse ./layers ./live ./middleware ./repos ./runs ./server
  ./state ./storage/memory ./storage/readmap ./storage/sqlitedb ./storage/stateengine
  ./internal/fair ./internal/turns ./internal/budget ./internal/follow)

others() { go list ./... | grep -vxF "$(go list "${shared[@]}")"; }

# Many tests wait for a database, a process or a timer, so more packages run than there are cores.
unit() { scripts/bubblewrap.sh scripts/mysql.sh scripts/postgres.sh scripts/gotest.sh "$events/unit.json" -short -p 3 $(others); }
race() { scripts/bubblewrap.sh scripts/gotest.sh --race "$events/race.json" -short -p 3 "${shared[@]}"; }
scripts() { scripts/bubblewrap.sh scripts/e2e.sh --short "$events/scripts.json"; }

# once is `unchanged`, but CI runs everything.
once() { if [ "${CI:-}" = true ]; then shift && "$@"; else unchanged "$@"; fi; }

sources() { hash web/src web/public web/*.json web/*.ts web/*.js web/index.html api/openapi.json; }
page() {
  scripts/page.sh
  once "page-$(sources)" scripts/pagetests.sh
}
browser() {
  local program
  program=$(scripts/program.sh)
  once "browser-$(hash web/browser "$program")" env HOLDFAST_BIN="$program" scripts/bubblewrap.sh scripts/browser.sh browser/first.test.ts
}

stage "gofmt and go vet" make --no-print-directory check
stage "Go tests, with MariaDB and PostgreSQL" unit
stage "Go tests, with the race detector" race
stage "the page's types, style and unit tests" page
stage "one test in Chromium" browser
stage "scripts with the real OpenTofu" scripts
CGO_ENABLED=0 go run ./test/report -slowest $(find "$events" -name '*.json')
summary
