#!/usr/bin/env bash
# Runs the scripts of test/scripts with the real OpenTofu and Terraform against a real
# server, and the tests of what runs them. Arguments go to go test:
#
#     scripts/e2e.sh
#     scripts/e2e.sh -run TestScripts//lock          # both clients
#     scripts/e2e.sh -run TestScripts/tofu/lock -v
#     scripts/e2e.sh -run TestAttacks                # needs no client
#
# HOLDFAST_RACE=1 builds the server with the race detector.
set -euo pipefail
cd "$(dirname "$0")/.."

clients=$(scripts/clients.sh)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

race=()
if [ -n "${HOLDFAST_RACE:-}" ]; then race=(-race); fi
CGO_ENABLED=${HOLDFAST_RACE:-0} scripts/build.sh dev "$scratch/bin/holdfast" "${race[@]}"

export HOLDFAST_BIN=$scratch/bin/holdfast
TOFU_BIN=$(sed -n 's/^TOFU=//p' <<<"$clients")
TERRAFORM_BIN=$(sed -n 's/^TERRAFORM=//p' <<<"$clients")
TERRAGRUNT_BIN=$(sed -n 's/^TERRAGRUNT=//p' <<<"$clients")
PROVIDERS_MIRROR=$(sed -n 's/^PROVIDERS=//p' <<<"$clients")
export TOFU_BIN TERRAFORM_BIN TERRAGRUNT_BIN PROVIDERS_MIRROR
mkdir "$scratch/tmp"
export TMPDIR=$scratch/tmp

# In a process group of its own, so that a signal to this script ends what it started, to
# the last child, and nothing else. Scripts mostly wait, so more run than there are cores.
set -m
go test -vet=off -tags e2e -count=1 -timeout 40m -parallel 6 "$@" ./test ./agent/shim &
tests=$!
interrupted() {
  kill -TERM -- "-$tests" || true
  wait "$tests" || true
  kill -KILL -- "-$tests" || true # clients would try to save their states first
  exit 130
} 2>/dev/null
trap interrupted INT TERM
wait "$tests"
