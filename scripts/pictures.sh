#!/usr/bin/env bash
# Makes the pictures of the page in docs/pictures anew, from what its tests look at: make web first.
# Needs cwebp (Debian's package webp).
set -euo pipefail
cd "$(dirname "$0")/.."
pictures=$(mktemp -d)
trap 'rm -rf "$pictures"' EXIT
HOLDFAST_PICTURES=$pictures scripts/browser.sh browser/pages.test.ts -t violation
mkdir -p docs/pictures
for picture in "$pictures"/*.png; do
  cwebp -quiet -q 40 -m 6 "$picture" -o "docs/pictures/$(basename "$picture" .png).webp"
done
