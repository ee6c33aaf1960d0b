#!/usr/bin/env bash
# Builds the container image of one version, which says what it was made of:
#
#   scripts/image.sh VERSION IMAGE
#
# with docker, or with what BUILDER says: BUILDER='podman build'. It stands on nothing, or on the image BASE. The binary is built here, so that the
# image needs no other one and no network: it has the same bytes as the archives. The roots of trust are
# those of this machine, or of SSL_CERT_FILE.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 image=$2
read -ra builder <<<"${BUILDER:-docker build}"

epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

CGO_ENABLED=0 GOOS=linux scripts/build.sh "$version" "$scratch/holdfast"
for roots in "${SSL_CERT_FILE:-}" /etc/ssl/certs/ca-certificates.crt /etc/pki/tls/certs/ca-bundle.crt /etc/ssl/cert.pem; do
  if [ -s "$roots" ]; then break; fi
done
install -m 0644 "$roots" "$scratch/ca-certificates.crt" # fails where there are none
mkdir -m 0755 "$scratch/owned"
mkdir -m 0700 "$scratch/owned/data"
find "$scratch" -exec touch -h -d "@$epoch" {} +

"${builder[@]}" --build-arg BASE="${BASE:-scratch}" --build-arg VERSION="$version" --build-arg REVISION="$(git rev-parse HEAD)" \
  --build-arg CREATED="$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || git log -1 --format=%cI)" \
  -t "$image" -f Dockerfile "$scratch"
