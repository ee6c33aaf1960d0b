#!/bin/sh
# Builds the program of one version into a file. More arguments are flags for go build:
#
#   scripts/build.sh VERSION FILE [FLAG...]
#
# nomsgpack leaves out what gin would answer in MessagePack with, a tenth of the program. grpcnotrace leaves out pages
# of gRPC that nobody sees: they are templates, for which the linker would keep every method, an eighth of it.
#
# KEEP=1 has Go keep the linked program in its build cache, for the days that it keeps what it compiles: whoever
# builds the same commit again, in any folder, need not wait for the linker.
set -eu
cd "$(dirname "$0")/.."
version=$1 file=$2
shift 2
set -- -trimpath -tags nomsgpack,grpcnotrace -ldflags "-s -w -X main.version=$version" "$@"
if [ -z "${KEEP-}" ]; then
  exec go build "$@" -o "$file" ./cmd/holdfast
fi
# What Go keeps is executed by `go run`, here by a copy into the file's place. A server that runs keeps its own.
mkdir -p "$(dirname "$file")"
exec go run "$@" -exec "sh -c 'cp \"\$0\" \"\$1.new\" && mv -f \"\$1.new\" \"\$1\"'" ./cmd/holdfast "$file"
