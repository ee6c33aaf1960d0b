#!/usr/bin/env bash
# Runs the Go tests with the race detector and a real MySQL-protocol server. The detector
# needs a C compiler: where there is none they run without it, and CI (CI=true) fails.
set -euo pipefail
cd "$(dirname "$0")/.."

if command -v "$(go env CC)" >/dev/null; then
  echo "== go test -race"
  CGO_ENABLED=1 exec scripts/mysql.sh go test -race -timeout 20m ./...
fi
if [ "${CI:-}" = true ]; then
  echo "no C compiler ($(go env CC)): CI must have one for the race detector" >&2
  exit 1
fi
echo "== go test, WITHOUT the race detector: it needs a C compiler ($(go env CC)), and there is none" >&2
CGO_ENABLED=0 exec scripts/mysql.sh go test -timeout 20m ./...
