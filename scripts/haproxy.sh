#!/usr/bin/env bash
# Prints the path of a haproxy for tests. Where none is installed, Debian's package is unpacked into
# the cache with what it needs; the machine stays as it is, and no service begins.
set -euo pipefail
installed=$(type -P haproxy || true)
if [ -n "$installed" ]; then
  echo "$installed"
  exit
fi
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}/haproxy
if [ ! -x "$cache/haproxy" ]; then
  mkdir -p "$(dirname "$cache")"
  work=$(mktemp -d "$cache.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  mkdir made
  needed=$(apt-cache depends haproxy | sed -n 's/^ *Depends: \(lib[^<>]*\)$/\1/p' | grep -vx libc6)
  # shellcheck disable=SC2086
  apt-get download haproxy $needed libopentracing1 >&2
  for package in *.deb; do dpkg -x "$package" made; done
  cat >made/haproxy <<'RUN'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
for libraries in "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu; do
  LD_LIBRARY_PATH=$libraries:${LD_LIBRARY_PATH-}
done
export LD_LIBRARY_PATH
exec "$root/usr/sbin/haproxy" "$@"
RUN
  chmod +x made/haproxy
  ./made/haproxy -v >&2
  cd / && rm -rf "$cache" && mv "$work/made" "$cache"
fi
echo "$cache/haproxy"
