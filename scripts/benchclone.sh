#!/usr/bin/env bash
# Measures the README's way from a clone of what is committed to a first applied state, step by step, as often as the
# argument says: git clone, `make run` until it has printed what to paste and until it serves, and then OpenTofu's init
# and apply. What a build of the same commit leaves in the caches is there, as after a first build in another folder.
set -euo pipefail
cd "$(dirname "$0")/.."
source=$PWD tofu=$(scripts/clients.sh | sed -n 's/^TOFU=//p')
scratch=$(mktemp -d)
server=
stop() {
  if [ -n "$server" ]; then kill -TERM -- "-$server" && wait "$server" || true; fi
  server=
} 2>/dev/null
trap 'stop; rm -rf "$scratch"' EXIT
export CHECKPOINT_DISABLE=1 TF_CLI_CONFIG_FILE=/dev/null HOST=127.0.0.1

until_true() { # COMMAND...
  until "$@"; do
    kill -0 "$server" 2>/dev/null || { cat "$scratch/log" >&2; exit 1; }
    sleep 0.01
  done
}
listens() { (: </dev/tcp/$HOST/$PORT) 2>/dev/null; }

one() { # FOLDER
  export PORT=$((20000 + RANDOM % 10000))
  times=($(date +%s%N))
  git clone --quiet "file://$source" "$1"
  times+=($(date +%s%N))
  : >"$scratch/log" # not what the one before has printed
  set -m
  (cd "$1" && exec make --no-print-directory run) >"$scratch/log" 2>&1 &
  server=$!
  set +m
  until_true grep -q 'export PATH=' "$scratch/log"
  times+=($(date +%s%N))
  until_true listens
  times+=($(date +%s%N))
  (
    eval "$(grep -o 'export .*' "$scratch/log")"
    cd "$1"
    mkdir demo
    holdfast state backend prod/network >demo/backend.tf
    echo 'resource "terraform_data" "network" { input = "eu-1" }' >demo/main.tf
    "$tofu" -chdir=demo init
    "$tofu" -chdir=demo apply -auto-approve
  ) >"$scratch/tofu.log" 2>&1 || { cat "$scratch/tofu.log" >&2; exit 1; }
  times+=($(date +%s%N))
  stop
}

git clone --quiet "file://$source" "$scratch/first"
make --no-print-directory -C "$scratch/first" build
printf '%8s %14s %8s %8s %8s\n' clone 'build + init' serve tofu 'all, s'
for i in $(seq "${1:-3}"); do
  one "$scratch/$i"
  printf '%s\n' "${times[*]}" | awk '{ printf "%8.2f %14.2f %8.2f %8.2f %8.2f\n", ($2-$1)/1e9, ($3-$2)/1e9, ($4-$3)/1e9, ($5-$4)/1e9, ($5-$1)/1e9 }'
done
