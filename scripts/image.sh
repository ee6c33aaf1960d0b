#!/usr/bin/env bash
# Builds the container image of one version, which says what it was made of:
#
#   scripts/image.sh VERSION IMAGE
#
# with docker, or with what BUILDER says: BUILDER='podman build'. It stands on nothing, or on the image BASE. What the
# Dockerfile's own stages would make is made here, so that the image needs no other one and no network, and its binary
# has the same bytes as the archives'.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 image=$2
read -ra builder <<<"${BUILDER:-docker build}"

epoch=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

scripts/imagefiles.sh "$version" "$scratch/out"
find "$scratch/out" -exec touch -h -d "@$epoch" {} +
# A stage ends with an empty line.
sed -e '/^FROM .* AS /,/^$/d' -e 's|--from=build ||' Dockerfile >"$scratch/Dockerfile"

"${builder[@]}" --build-arg BASE="${BASE:-scratch}" --build-arg VERSION="$version" --build-arg REVISION="$(git rev-parse HEAD)" \
  --build-arg CREATED="$(date -u -d "@$epoch" +%Y-%m-%dT%H:%M:%SZ 2>/dev/null || git log -1 --format=%cI)" \
  -t "$image" -f "$scratch/Dockerfile" "$scratch"
