#!/usr/bin/env bash
# Measures what runs cost beside the bare OpenTofu, with bin/holdfast. Arguments go to bench/runs.
set -euo pipefail
cd "$(dirname "$0")/.."
clients=$(scripts/clients.sh)
exec go run ./bench/runs -tofu "$(sed -n 's/^TOFU=//p' <<<"$clients")" "$@"
