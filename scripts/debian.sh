#!/usr/bin/env bash
# Prints the path of a program for tests that Debian has:
#
#     scripts/debian.sh NAME WORDS PACKAGE [OTHER…]
#
# The package is unpacked into the cache with the libraries that it needs and with the others; the machine stays as it
# is, and no service begins. The program is the script on standard input, whose libraries are found and whose $root is
# where all was unpacked. It has to say the words, which are those of a basic regular expression, when it is asked
# with -?. Of several at once one unpacks, and the others wait for it.
set -euo pipefail
name=$1 words=$2 package=$3
shift 3
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}/$name
if [ ! -x "$cache/$name" ]; then
  mkdir -p "$(dirname "$cache")"
  exec 9>"$cache.lock"
  flock 9
fi
if [ ! -x "$cache/$name" ]; then # nobody has made it meanwhile
  work=$cache.making             # also what one that was killed has left
  rm -rf "$work" && mkdir -p "$work/made"
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  fetch() {
    local needed
    needed=$(apt-cache depends "$package" | sed -n 's/^ *Depends: \(lib[^<>]*\)$/\1/p' | grep -vx -e libc6 -e 'libpam-.*')
    # shellcheck disable=SC2086
    [ -n "$needed" ] && apt-get download "$package" "$@" $needed >&2
  }
  fetch "$@" || { apt-get update -q >&2 && fetch "$@"; }
  for one in *.deb; do dpkg -x "$one" made; done
  {
    cat <<'RUN'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
for libraries in "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu; do
  LD_LIBRARY_PATH=$libraries:${LD_LIBRARY_PATH-}
done
export LD_LIBRARY_PATH
RUN
    cat
  } >"made/$name"
  chmod 755 made "made/$name"
  { "./made/$name" '-?' 2>&1 9>&- || true; } | grep -m 1 "$words" >&2 # it runs
  cd / && rm -rf "$cache" && mv "$work/made" "$cache"
fi
echo "$cache/$name"
