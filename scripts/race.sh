#!/usr/bin/env bash
# Runs the Go tests with the race detector and a real MySQL-protocol server. The detector
# needs a C compiler: where there is none they run without it, and CI (CI=true) fails.
set -euo pipefail
cd "$(dirname "$0")/.."

# memory prints a new folder in memory, where there are 4 GB for one in which programs may
# run. What a killed process leaves is with the kernel, synced or not: these tests can't tell
# such a folder from a disk, and wait for fsync most of their time on one (the MySQL suite
# takes half as long without). `make e2e` and `make torture` run on the disk.
memory() {
  local folder
  [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] || return 1
  folder=$(mktemp -d /dev/shm/holdfast.XXXXXX) || return 1
  chmod 711 "$folder" # tests that run commands as another user come through
  printf '#!/bin/sh\n' >"$folder/program" && chmod +x "$folder/program"
  if ! "$folder/program" 2>/dev/null; then rm -rf "$folder"; return 1; fi
  echo "$folder"
} 2>/dev/null

# The detector looks at Go's memory only. SQLite, which is C in Go's words, has its own, Blowfish's tables
# are its caller's, and a search for an order is one goroutine's: to watch them finds nothing, and was two
# fifths of the time of the tests that use a database.
unwatched=()
for package in modernc.org/libc/... modernc.org/sqlite/lib golang.org/x/crypto/blowfish github.com/anishathalye/porcupine; do
  unwatched+=("-gcflags=$package=-race=false -d=checkptr=0")
done

if scratch=$(memory); then
  trap 'rm -rf "$scratch"' EXIT
  export TMPDIR=$scratch
fi
# `make check` has go vet look at everything.
if command -v "$(go env CC)" >/dev/null; then
  echo "== go test -race"
  CGO_ENABLED=1 scripts/mysql.sh go test -race -vet=off "${unwatched[@]}" -timeout 45m ./...
  echo "== go test of a million records, ten thousand organizations, broken rules, long histories and bursts, without the detector"
  CGO_ENABLED=0 scripts/mysql.sh go test -vet=off -run '^(TestMillionRecords|TestManyOrganizations|TestModelNotices|TestManyLostAnswers|TestBurstOfDeliveries)$' \
    ./handlers ./runs ./storage/csv ./storage/mysql ./internal/linear
  exit
fi
if [ "${CI:-}" = true ]; then
  echo "no C compiler ($(go env CC)): CI must have one for the race detector" >&2
  exit 1
fi
echo "== go test, WITHOUT the race detector: it needs a C compiler ($(go env CC)), and there is none" >&2
CGO_ENABLED=0 scripts/mysql.sh go test -timeout 45m ./...
