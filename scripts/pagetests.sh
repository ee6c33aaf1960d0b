#!/usr/bin/env bash
# Checks the types and the style of the page, and runs its unit tests.
set -euo pipefail
cd "$(dirname "$0")/../web"
[ -d node_modules ] || npm ci --no-audit --no-fund
npm run --silent check &
passed=true
npm run --silent test || passed=false
wait $! || passed=false
$passed
