#!/usr/bin/env bash
# Runs the fuzz targets of packages, or of the module, for so many runs each, or so long:
#
#     scripts/fuzz.sh 100000x [PACKAGE…]
#
# Each package is built once for all of its targets; the corpora are those of go test -fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
much=${1:?usage: scripts/fuzz.sh RUNS [PACKAGE…], where RUNS is a number such as 100000x, or a duration such as 10m}
shift
wanted=$(printf '%s\n' "$@" | sed 's,^\./,,')

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
corpora=$(go env GOCACHE)/fuzz
module=$(go list -m)

git grep -l --untracked -E '^func Fuzz[A-Za-z0-9_]+' -- '*_test.go' | xargs -n1 dirname | sort -u |
  { if [ -n "$wanted" ]; then grep -xF -- "$wanted" || true; else cat; fi; } | while read -r package; do
  go test -c -fuzz . -o "$scratch/test" "./$package" </dev/null
  targets=$(cd "$package" && "$scratch/test" -test.list '^Fuzz')
  for target in $targets; do
    printf '%s in %s\n' "$target" "$package"
    (cd "$package" && "$scratch/test" -test.run '^$' -test.fuzz "^$target\$" -test.fuzztime "$much" \
      -test.fuzzcachedir "$corpora/$module/$package" </dev/null)
  done
done
