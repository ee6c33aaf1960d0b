#!/usr/bin/env bash
# Makes sure that a Chromium is there and prints where it is, nothing else. One on PATH will do;
# else Debian's package is installed, which takes root.
set -euo pipefail
for name in chromium chromium-browser google-chrome; do
  if command -v "$name"; then exit 0; fi
done
if ! command -v apt-get >/dev/null || [ "$(id -u)" != 0 ]; then
  echo "There is no chromium on PATH: install your system's package." >&2
  exit 1
fi
{
  apt-get update -q
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core
} >&2
command -v chromium
