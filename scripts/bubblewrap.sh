#!/usr/bin/env bash
# Runs a command with HOLDFAST_TEST_BWRAP naming a bubblewrap, so that the tests of the sandbox try
# namespaces too:
#
#     scripts/bubblewrap.sh go test ./agent/sandbox
#
# Where none is installed, Debian's package is unpacked into the cache; the machine stays as it is,
# so that nothing else begins to use it. Whether it may make namespaces, the tests find out.
set -euo pipefail
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}/bubblewrap
bwrap=$(type -P bwrap || true)
if [ -z "$bwrap" ]; then
  bwrap=$cache/usr/bin/bwrap
  if [ ! -x "$bwrap" ]; then
    mkdir -p "$(dirname "$cache")"
    work=$(mktemp -d "$cache.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    (cd "$work" && apt-get download bubblewrap >&2 && dpkg -x bubblewrap_*.deb unpacked)
    rm -rf "$cache" && mv "$work/unpacked" "$cache"
  fi
fi
HOLDFAST_TEST_BWRAP=$bwrap "$@"
