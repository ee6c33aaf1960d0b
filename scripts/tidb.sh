#!/usr/bin/env bash
# Runs a command with TiDB at DB_HOST, DB_PORT, DB_USER and DB_PASSWORD, built from its Go module into the
# cache (about 15 minutes on two cores) and removed with its build's caches' folder afterwards:
#
#     scripts/tidb.sh go test ./storage/states
set -euo pipefail
: "${1:?usage: scripts/tidb.sh COMMAND [ARGUMENT…]}"
version=${TIDB_VERSION:-release-8.5}
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}/tidb-$version
work=$(mktemp -d)
server=
end() {
  if [ -n "$server" ]; then kill "$server" && wait "$server"; fi || true
  chmod -R u+w "$work" && rm -rf "$work" # the module cache is read-only
} 2>/dev/null
trap end EXIT

# build TARGET: TiDB requires its parser from a folder beside it, which its module leaves out.
build() (
  export GOTOOLCHAIN=go1.25.12 GOFLAGS=-mod=mod GOWORK=off CGO_ENABLED=0
  export GOMODCACHE=$work/modules GOCACHE=$work/build
  folder() { go mod download -json "$1" | sed -n 's/^\t"Dir": "\(.*\)",*$/\1/p'; }
  cd "$work"
  cp -r "$(folder "github.com/pingcap/tidb@$version")" source
  cp -r "$(folder "github.com/pingcap/tidb/pkg/parser@$version")" parser
  chmod -R u+w source parser
  mkdir -p source/pkg && rm -rf source/pkg/parser && mv parser source/pkg/parser
  cd source
  nice -n 19 go build -trimpath -ldflags '-s -w' -o "$work/tidb-server" ./cmd/tidb-server
  mkdir -p "$(dirname "$1")" && mv "$work/tidb-server" "$1"
)

[ -x "$cache" ] || build "$cache" >&2
port=$((20000 + RANDOM % 20000))
"$cache" -store unistore -path "$work/data" -host 127.0.0.1 -P "$port" -status=0 -socket '' >"$work/log" 2>&1 &
server=$!
for _ in $(seq 300); do
  (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null && break
  kill -0 "$server" || { tail -n 20 "$work/log" >&2; exit 1; }
  sleep 0.2
done
DB_HOST=127.0.0.1 DB_PORT=$port DB_USER=root DB_PASSWORD='' "$@"
