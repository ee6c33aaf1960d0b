#!/usr/bin/env bash
# Runs the tests of web/browser: a real Chromium, a real server that has the page as it was built
# last, and real runs with OpenTofu. Arguments go to vitest:
#
#     make web && scripts/browser.sh
#     scripts/browser.sh browser/signin.test.ts
set -euo pipefail
cd "$(dirname "$0")/.."

CHROMIUM_BIN=$(scripts/chromium.sh)
TOFU_BIN=$(scripts/clients.sh opentofu | sed -n 's/^TOFU=//p')
HOLDFAST_BIN=${HOLDFAST_BIN:-$(CGO_ENABLED=0 scripts/program.sh)}
export CHROMIUM_BIN TOFU_BIN HOLDFAST_BIN
cd web
npm run --silent browser -- "$@"
