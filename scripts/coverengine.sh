#!/usr/bin/env bash
# Says how much of the statements of engine/ its own tests run, all packages' tests counted for each package. Code that is
# generated doesn't count. Arguments are the least share, in percent: with less it fails.
#
#     scripts/coverengine.sh 90
set -euo pipefail
cd "$(dirname "$0")/.."

profile=$(mktemp)
trap 'rm -f "$profile" "$profile.own"' EXIT
go test -coverpkg=./engine/... -coverprofile="$profile" ./engine/... >/dev/null
grep -v '\.pb\.go:' "$profile" >"$profile.own"
share=$(go tool cover -func="$profile.own" | awk '/^total:/ { sub("%", "", $NF); print $NF }')
echo "engine/: $share % of the statements"
awk -v share="$share" -v least="${1:-0}" 'BEGIN { exit share < least }'
