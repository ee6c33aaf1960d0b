#!/usr/bin/env bash
# Serves for `make run`, and builds the page beside that: nobody waits for npm. What is begun here
# ends with the server, however that ends.
set -uo pipefail
cd "$(dirname "$0")/.."
set -m # each has a process group of its own
HOLDFAST_PAGE_DIR=web/dist/page bin/holdfast serve &
server=$!
scripts/page.sh beside &
page=$!
trap 'kill -TERM "$server" 2>/dev/null' INT TERM HUP
status=0
while kill -0 "$server" 2>/dev/null; do # a signal ends a wait
  wait "$server"
  status=$?
done
kill -TERM -- "-$page" 2>/dev/null
wait "$page" 2>/dev/null
exit "$status"
