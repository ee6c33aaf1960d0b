#!/usr/bin/env bash
# Runs a command with a real database server, for scripts/mysql.sh and scripts/postgres.sh: scripts/with.sh mysql COMMAND…
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
with=$(mktemp)
trap 'rm -f "$with"' EXIT
(cd "$root" && go build -o "$with" ./storage/serverdb/servertest/with)
"$with" "$@"
