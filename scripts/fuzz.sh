#!/usr/bin/env bash
# Runs every fuzz target of the module for a while: scripts/fuzz.sh 5s
set -euo pipefail
cd "$(dirname "$0")/.."
duration=${1:?usage: scripts/fuzz.sh DURATION, such as 5s}

git grep -n --untracked -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | while IFS=: read -r file _ func; do
  target=${func#func }
  printf '%s in %s\n' "$target" "$(dirname "$file")"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$duration" "./$(dirname "$file")" </dev/null
done
