#!/usr/bin/env bash
# Runs everything that there is to test of one area of scripts/areas, or of all, in stages: each runs whatever became of
# the others, and a table of their times stands at the end.
#
#     scripts/deep.sh [AREA]
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/stages.sh
areas=$(awk '$1 !~ /^#/ && NF { print $1 }' scripts/areas | uniq)
if [ -n "${1-}" ]; then
  grep -qxF -- "$1" <<<"$areas" || { echo "there is no area $1; there are:" $areas >&2; exit 2; }
  areas=$1
fi
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
STAGES=$scratch/stages
export STAGES GOFLAGS="-trimpath -buildvcs=false ${GOFLAGS-}" CGO_ENABLED=0

# of KIND: what the area has of it, in one line.
of() { scripts/areas.sh "$1" | awk -v area="$area" -v before="${2-}" '$1 == area { printf "%s%s ", before, $2 }'; }
# pattern NAME…: a pattern of these alone.
pattern() { echo "^($(tr ' ' '|' <<<"$*"))\$"; }

# Results don't come from the cache: what is made by chance is made anew each time.
race() { scripts/scratch.sh scripts/bubblewrap.sh scripts/mysql.sh scripts/postgres.sh scripts/gotest.sh --race "$scratch/$area-race.json" -count=1 -timeout 60m "$@"; }
whole() {
  local tests=$1
  shift
  scripts/scratch.sh scripts/mysql.sh scripts/postgres.sh scripts/gotest.sh "$scratch/$area-whole.json" -count=1 -timeout 60m -run "$(pattern $tests)" "$@"
}
mysql97() {
  scripts/scratch.sh scripts/mysql97.sh scripts/mysql.sh scripts/gotest.sh "$scratch/$area-mysql97.json" -count=1 -p 1 -timeout 60m "$@"
}

browser() {
  scripts/page.sh needed
  scripts/bubblewrap.sh scripts/browser.sh
}

for area in $areas; do
  packages=$(of go ./)
  stage "$area: Go tests with the race detector, MariaDB and PostgreSQL" race $packages
  tests=$(of whole)
  if [ -n "$tests" ]; then
    stage "$area: tests at their full size, without the detector" whole "$tests" $packages
  fi
  engines=$(of mysql97 ./)
  if [ -n "$engines" ]; then
    stage "$area: Go tests with MySQL 9.7" mysql97 $engines
  fi
  names=$(of script)
  if [ -n "$names" ]; then
    stage "$area: scripts with OpenTofu and Terraform" scripts/bubblewrap.sh scripts/e2e.sh -run "^TestScripts\$/./$(pattern $names)"
  fi
  names=$(of e2e)
  if [ -n "$names" ]; then
    stage "$area: Go tests with real clients and servers" scripts/bubblewrap.sh scripts/postgres.sh scripts/e2e.sh -run "$(pattern $names)"
  fi
  if [ -n "$(of browser)" ]; then
    stage "$area: all tests in Chromium" browser
  fi
  stage "$area: fuzz targets" scripts/fuzz.sh "${FUZZTIME:-5000x}" $packages
  while read -r command; do
    stage "$area: $command" $command </dev/null # the loop's own input is the list of commands
  done < <(awk -v area="$area" '$1 == area && $2 == "run" { $1 = $2 = ""; print $0 }' scripts/areas)
done
CGO_ENABLED=0 go run ./test/report -slowest $(find "$scratch" -name '*.json')
summary
