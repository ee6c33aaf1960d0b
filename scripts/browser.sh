#!/usr/bin/env bash
# Runs the tests of web/browser: a real Chromium, a real server that has the page as it was built
# last, and real runs with OpenTofu. Arguments go to vitest:
#
#     make web && scripts/browser.sh
#     scripts/browser.sh browser/signin.test.ts
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM_BIN=$(scripts/chromium.sh)
TOFU_BIN=$(scripts/clients.sh | sed -n 's/^TOFU=//p')
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
CGO_ENABLED=0 scripts/build.sh dev "$scratch/holdfast"
HOLDFAST_BIN=$scratch/holdfast
export CHROMIUM_BIN TOFU_BIN HOLDFAST_BIN
cd web
npm run --silent browser -- "$@"
