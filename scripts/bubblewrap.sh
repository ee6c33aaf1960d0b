#!/usr/bin/env bash
# Runs a command with a bubblewrap on PATH, and with HOLDFAST_TEST_BWRAP naming it, so that servers, agents and the tests of
# the sandbox have namespaces:
#
#     scripts/bubblewrap.sh go test ./agent/sandbox
#
# Where none is installed, Debian's package is unpacked into the cache; the machine stays as it is. Whether it may make
# namespaces, the tests find out.
set -euo pipefail
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}/bubblewrap
bwrap=$(type -P bwrap || true)
if [ -z "$bwrap" ]; then
  bwrap=$cache/usr/bin/bwrap
  if [ ! -x "$bwrap" ] && command -v apt-get >/dev/null; then
    mkdir -p "$(dirname "$cache")"
    work=$(mktemp -d "$cache.XXXXXX")
    trap 'rm -rf "$work"' EXIT
    fetch() { apt-get -q download bubblewrap >&2; }
    (cd "$work" && { fetch || { apt-get -q update >&2 && fetch; }; } && dpkg -x bubblewrap_*.deb unpacked)
    rm -rf "$cache" && mv "$work/unpacked" "$cache"
  fi
  PATH=$(dirname "$bwrap"):$PATH
fi
HOLDFAST_TEST_BWRAP=$bwrap PATH=$PATH "$@"
