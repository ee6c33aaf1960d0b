#!/usr/bin/env bash
# Builds what is released of one version into a folder: for each system and processor an archive,
# for Linux also a .deb and a .rpm, for each binary what it is made of, and SHA256SUMS.
#
#   scripts/packages.sh VERSION FOLDER [SYSTEM/PROCESSOR...]
#
# The same sources, the same Node and the same Go give the same archives: files have the time of the commit. The page is
# built if it is not; without Node that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$1 out=$(realpath -m "$2")
shift 2
targets=("$@")
if [ ${#targets[@]} = 0 ]; then targets=(linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64); fi

SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH CGO_ENABLED=0
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$out"
scripts/page.sh needed

build() { # SYSTEM PROCESSOR FILE
  GOOS=$1 GOARCH=$2 scripts/build.sh "$version" "$3"
}

# Man pages and completions are the same everywhere; whoever builds writes them.
echo "man pages and completions" >&2
build "$(go env GOOS)" "$(go env GOARCH)" "$scratch/own"
"$scratch/own" man "$scratch/man"
mkdir "$scratch/completion"
"$scratch/own" completion bash >"$scratch/completion/holdfast.bash"
"$scratch/own" completion zsh >"$scratch/completion/_holdfast"
"$scratch/own" completion fish >"$scratch/completion/holdfast.fish"
# The tools are of the machine that builds, whatever they build for.
(cd packaging && go build -o "$scratch/sbom" ./sbom && go build -o "$scratch/docs" ./docs && go build -o "$scratch/nfpm" github.com/goreleaser/nfpm/v2/cmd/nfpm)

"$scratch/docs" . "$scratch/doc" "$version"

pack() { # FOLDER ARCHIVE
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -C "$scratch" -cf - "$1" | gzip -9n >"$2"
}

for target in "${targets[@]}"; do
  system=${target%/*} processor=${target#*/}
  name=holdfast_${version#v}_${system}_$processor
  echo "$name" >&2
  mkdir "$scratch/$name"
  program=holdfast
  if [ "$system" = windows ]; then program=holdfast.exe; fi
  build "$system" "$processor" "$scratch/$name/$program"
  "$scratch/sbom" "$scratch/$name/$program" "$version" >"$out/$name.cdx.json"
  cp -r "$scratch/doc/." "$scratch/man" "$scratch/completion" "$scratch/$name/"
  pack "$name" "$out/$name.tar.gz"
  if [ "$system" = linux ]; then
    mkdir -p "$scratch/dist" && rm -rf "$scratch/dist/man"
    cp -r "$scratch/$name/holdfast" "$scratch/man" "$scratch/completion" "$scratch/doc" "$scratch/dist/"
    gzip -9nf "$scratch"/dist/man/*
    for kind in deb rpm; do
      ARCH=$processor VERSION=${version#v} DIST=$scratch/dist "$scratch/nfpm" package -f packaging/nfpm.yaml -p "$kind" -t "$out/$name.$kind" >"$scratch/nfpm.log" || { cat "$scratch/nfpm.log" >&2; exit 1; }
    done
  fi
  rm -rf "${scratch:?}/$name"
done
cd "$out"
sha256sum holdfast_* >SHA256SUMS
