#!/usr/bin/env bash
# Runs the scripts of test/scripts with the real OpenTofu and Terraform against a real
# server, and the tests of what runs them. Arguments go to go test:
#
#     scripts/e2e.sh
#     scripts/e2e.sh -run TestScripts//lock          # both clients
#     scripts/e2e.sh -run TestScripts/tofu/lock -v
#     scripts/e2e.sh -run TestAttacks                # needs no client
#     scripts/e2e.sh --short EVENTS                  # what make test runs: OpenTofu only, from the cache if nothing changed
#
# HOLDFAST_RACE=1 builds the server with the race detector.
set -euo pipefail
cd "$(dirname "$0")/.."

tests=(go test -vet=off -count=1 -timeout 60m)
packages=(./test ./agent/shim)
wanted=()
if [ "${1-}" = --short ]; then
  tests=(scripts/gotest.sh "$2" -short -timeout 20m)
  packages=(./test)
  wanted=(opentofu)
  shift 2
fi
clients=$(scripts/clients.sh "${wanted[@]}")

race=()
if [ -n "${HOLDFAST_RACE:-}" ]; then race=(-race); fi
HOLDFAST_BIN=$(CGO_ENABLED=${HOLDFAST_RACE:-0} scripts/program.sh "${race[@]}")
TOFU_BIN=$(sed -n 's/^TOFU=//p' <<<"$clients")
TERRAFORM_BIN=$(sed -n 's/^TERRAFORM=//p' <<<"$clients")
TERRAGRUNT_BIN=$(sed -n 's/^TERRAGRUNT=//p' <<<"$clients")
PROVIDERS_MIRROR=$(sed -n 's/^PROVIDERS=//p' <<<"$clients")
# TestReadme clones what is committed, and is run again when that has changed.
HOLDFAST_TREE=$(git rev-parse 'HEAD^{tree}')
export HOLDFAST_BIN TOFU_BIN TERRAFORM_BIN TERRAGRUNT_BIN PROVIDERS_MIRROR HOLDFAST_TREE
if [ ${#wanted[@]} = 0 ]; then # on the disk, and in a folder of its own
  scratch=$(mktemp -d)
  trap 'rm -rf "$scratch"' EXIT
  export TMPDIR=$scratch
fi

# In a process group of its own, so that a signal to this script ends what it started, to
# the last child, and nothing else. Scripts mostly wait, so more run than there are cores.
set -m
"${tests[@]}" -tags e2e -parallel 6 "$@" "${packages[@]}" &
tests=$!
interrupted() {
  kill -TERM -- "-$tests" || true
  wait "$tests" || true
  kill -KILL -- "-$tests" || true # clients would try to save their states first
  exit 130
} 2>/dev/null
trap interrupted INT TERM
wait "$tests"
