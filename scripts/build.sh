#!/bin/sh
# Builds the program of one version into a file. More arguments are flags for go build:
#
#   scripts/build.sh VERSION FILE [FLAG...]
#
# nomsgpack leaves out what gin would answer in MessagePack with, a tenth of the program. grpcnotrace leaves out pages
# of gRPC that nobody sees: they are templates, for which the linker would keep every method, an eighth of it.
#
# With KEEP=1 the programs of the last three commits are kept in ~/.cache/holdfast/programs. That of this version is put
# into the place of FILE first: Go looks at its build ID, and links anew if sources, flags or Go itself are others.
set -eu
cd "$(dirname "$0")/.."
version=$1 file=$2
shift 2

kept=
case $version in
*-dirty | dev) ;; # one of many that nobody builds again
*)
  caches=${XDG_CACHE_HOME:-${HOME:+$HOME/.cache}}
  if [ -n "${KEEP-}" ] && [ -n "$caches" ]; then kept=$caches/holdfast/programs/$(echo "$version" | tr / -); fi
  ;;
esac

# copy FROM TO copies a program whole or not at all, also where power fails: Go does not look at more than its build ID.
# It is no fault if it can't.
copy() {
  cmp -s "$1" "$2" || {
    mkdir -p "$(dirname "$2")" && cp "$1" "$2.$$" && { sync "$2.$$" || sync; } && mv -f "$2.$$" "$2"
  } 2>/dev/null || rm -f "$2.$$"
}

if [ -f "$kept" ]; then copy "$kept" "$file"; fi
go build -trimpath -tags nomsgpack,grpcnotrace -ldflags "-s -w -X main.version=$version" "$@" -o "$file" ./cmd/holdfast
if [ -n "$kept" ]; then
  copy "$file" "$kept"
  touch -c "$kept" 2>/dev/null || true
  find "$(dirname "$kept")" -type f -exec ls -t {} + 2>/dev/null | tail -n +4 | while read -r old; do rm -f "$old"; done
fi
