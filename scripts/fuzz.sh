#!/usr/bin/env bash
# Runs every fuzz target of the module for so many runs, or so long: scripts/fuzz.sh 100000x
set -euo pipefail
cd "$(dirname "$0")/.."
much=${1:?usage: scripts/fuzz.sh RUNS, such as 100000x, or a duration, such as 10m}

git grep -n --untracked -oE '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | while IFS=: read -r file _ func; do
  target=${func#func }
  printf '%s in %s\n' "$target" "$(dirname "$file")"
  go test -run '^$' -fuzz "^$target\$" -fuzztime "$much" "./$(dirname "$file")" </dev/null
done
