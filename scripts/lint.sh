#!/usr/bin/env bash
# Runs the linters of .golangci.yml. The linter that test/lint/go.mod pins is built the first time, which takes some
# minutes, and is kept in the cache of the clients. Arguments go to golangci-lint run.
set -euo pipefail
cd "$(dirname "$0")/.."
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}
linter=$cache/golangci-lint-$(sha256sum test/lint/go.mod | cut -c1-12)
if [ ! -x "$linter" ]; then
  mkdir -p "$cache"
  echo "building golangci-lint from source, about five minutes the first time, then cached in $cache" >&2
  CGO_ENABLED=0 go build -C test/lint -trimpath -o "$linter.$$" github.com/golangci/golangci-lint/v2/cmd/golangci-lint
  mv "$linter.$$" "$linter"
fi
"$linter" run --timeout 30m "$@"
