#!/usr/bin/env bash
# Measures the engine, beside OpenTofu, with bin/holdfast. Arguments go to bench/engine.
set -euo pipefail
cd "$(dirname "$0")/.."
clients=$(scripts/clients.sh)
of() { sed -n "s/^$1=//p" <<<"$clients"; }
exec go run ./bench/engine -tofu "$(of TOFU)" -mirror "$(of PROVIDERS)" "$@"
