#!/usr/bin/env bash
# Lays out in a folder what the container image of one version has, page and all:
#
#   scripts/imagefiles.sh VERSION FOLDER
#
# The roots of trust are those of this machine, or of SSL_CERT_FILE.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 out=$2

scripts/page.sh needed
mkdir -p "$out"
CGO_ENABLED=0 GOOS=linux scripts/build.sh "$version" "$out/holdfast"
for roots in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
  if [ -s "$roots" ]; then break; fi
done
install -m 0644 "$roots" "$out/ca-certificates.crt" # fails where there are none
mkdir -m 0755 "$out/owned"
mkdir -m 0700 "$out/owned/data"
