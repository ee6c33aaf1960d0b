#!/usr/bin/env bash
# Runs go test and reports what it says: a line a package, the output of what failed. The events go to a file.
#
#     scripts/gotest.sh [--race] EVENTS [ARGUMENT…]
#
# --race runs the tests with the race detector, which needs a C compiler. Where there is none they run without the
# detector, and CI (CI=true) fails.
set -euo pipefail
cd "$(dirname "$0")/.."
flags=()
if [ "$1" = --race ]; then
  shift
  if command -v "$(go env CC)" >/dev/null; then
    export CGO_ENABLED=1
    flags+=(-race)
    # The detector looks at Go's memory only. SQLite, which is C in Go's words, has its own, Blowfish's tables are its
    # caller's, and a search for an order is one goroutine's: to watch them finds nothing, and takes long.
    for package in modernc.org/libc/... modernc.org/sqlite/lib golang.org/x/crypto/blowfish github.com/anishathalye/porcupine; do
      flags+=("-gcflags=$package=-race=false -d=checkptr=0")
    done
  else
    if [ "${CI:-}" = true ]; then
      echo "no C compiler ($(go env CC)): CI must have one for the race detector" >&2
      exit 1
    fi
    echo "WITHOUT the race detector: it needs a C compiler ($(go env CC)), and there is none" >&2
  fi
fi
events=$1
shift
report=$(mktemp -d)
trap 'rm -rf "$report"' EXIT
CGO_ENABLED=0 go build -o "$report/report" ./test/report
# make check has go vet look at everything.
go test -json -vet=off "${flags[@]}" "$@" 2>&1 | "$report/report" "$events"
