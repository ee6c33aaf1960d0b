#!/usr/bin/env bash
# Runs a command with a real MySQL-protocol server at DB_HOST, DB_PORT, DB_USER and
# DB_PASSWORD: the one there is, else a private one: scripts/mysql.sh go test ./...
set -euo pipefail
: "${1:?usage: scripts/mysql.sh COMMAND [ARGUMENT…]}"
exec "$(dirname "$0")/with.sh" mysql "$@"
