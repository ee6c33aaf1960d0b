#!/usr/bin/env bash
# Prints what belongs to areas of `make deep`, an area and a name in a line:
#
#     scripts/areas.sh go       # packages of the module
#     scripts/areas.sh KIND     # what scripts/areas names of another kind
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "$1" != go ]; then
  awk -v kind="$1" '$1 !~ /^#/ && $2 == kind { for (i = 3; i <= NF; i++) print $1, $i }' scripts/areas
  exit
fi
module=$(go list -m)
go list -tags e2e ./... | awk -v module="$module" '
  FNR == NR { if ($1 !~ /^#/ && $2 == "go") for (i = 3; i <= NF; i++) area[$i] = $1; next }
  {
    folder = $0 == module ? "." : substr($0, length(module) + 2)
    found = area[folder]
    for (rest = folder; found == "" && rest != ""; rest = rest ~ "/" ? substr(rest, 1, match(rest, "/[^/]*$") - 1) : "")
      found = area[rest "/..."]
    print found == "" ? "none" : found, folder
  }' scripts/areas -
