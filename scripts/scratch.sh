#!/usr/bin/env bash
# Runs a command with TMPDIR naming an empty folder that is the same each time: Go records TMPDIR as an input of tests,
# and takes none of their results from its cache when it changes.
#
#     scripts/scratch.sh COMMAND [ARGUMENT…]
#
# The folder is in memory where there are 4 GB for it and programs may run there. What a killed process leaves is with the
# kernel, synced or not: tests can't tell such a folder from a disk, and wait for fsync most of their time on one.
# Of two commands at once, the second gets another folder, and nothing from the cache. The folder is removed at the end.
set -euo pipefail
: "${1:?usage: scripts/scratch.sh COMMAND [ARGUMENT…]}"

# runs FOLDER: makes the folder; fails where it can't be ours or programs can't run in it.
runs() {
  mkdir -p "$1" && [ -O "$1" ] && [ ! -L "$1" ] || return 1
  chmod 711 "$1" # tests that run commands as another user come through
  printf '#!/bin/sh\n' >"$1/program" && chmod 700 "$1/program" && "$1/program" && rm "$1/program"
} 2>/dev/null

folder=${TMPDIR:-/tmp}/holdfast-$(id -u)
if [ "$(df --output=avail -k /dev/shm 2>/dev/null | tail -n 1)" -gt 4000000 ] && runs "/dev/shm/holdfast-$(id -u)"; then
  folder=/dev/shm/holdfast-$(id -u)
fi 2>/dev/null
cache=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast
mkdir -p "$cache"
exec 9>"$cache/scratch.lock" # the lock ends with this shell; what it runs doesn't have it
if command -v flock >/dev/null && ! flock -n 9; then
  echo "another command uses $folder: this one's results do not come from Go's test cache" >&2
  folder=$(mktemp -d "$folder.XXXXXX")
fi
empty() { chmod -R u+w "$folder" && rm -rf "$folder"; } 2>/dev/null
[ ! -e "$folder" ] || empty
runs "$folder" || { echo "$folder can't be used for tests" >&2; exit 1; }
trap empty EXIT
TMPDIR=$folder "$@" 9>&-
