#!/usr/bin/env bash
# Runs a command with a real MySQL-protocol server at DB_HOST, DB_PORT, DB_USER and
# DB_PASSWORD: the one there is, else a private one: scripts/mysql.sh go test ./...
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
: "${1:?usage: scripts/mysql.sh COMMAND [ARGUMENT…]}"
with=$(mktemp)
trap 'rm -f "$with"' EXIT
(cd "$root" && go build -o "$with" ./storage/mysqldb/mysqltest/with)
"$with" "$@"
