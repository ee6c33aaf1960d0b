#!/usr/bin/env bash
# Builds the program for tests into a folder that is named after its content, and prints its path, nothing else: tests that
# are told the path are run again when the program is another one. Arguments are flags for go build.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p bin/test
work=$(mktemp -d bin/test/making.XXXXXX)
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"
scripts/build.sh dev "$work/holdfast" "$@" >&2
folder=bin/test/$(sha256sum "$work/holdfast" | cut -c1-16)
[ -d "$folder" ] || mv -T "$work" "$folder" 2>/dev/null || [ -d "$folder" ] # another one made it meanwhile
touch "$folder"
find bin/test -mindepth 1 -maxdepth 1 -mmin +1440 -exec rm -rf {} + # of yesterday
echo "$PWD/$folder/holdfast"
