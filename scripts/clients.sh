#!/usr/bin/env bash
# Makes sure that the pinned clients exist and prints where they are, nothing else:
#
#     TOFU=/path/to/tofu
#     TERRAFORM=/path/to/terraform
#
# test/clients/*/go.mod name the versions. A client comes from the cache, from PATH if it
# is exactly that version, or is built from source into the cache: $HOLDFAST_CLIENTS_CACHE,
# by default holdfast/clients in the user's cache folder.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

say() { printf '%s\n' "$*" >&2; }

# pinned_version FOLDER MODULE: the version that the small module requires, without the v.
pinned_version() {
  awk -v module="$2" '
    $1 == "require" { $0 = substr($0, length("require") + 1) }
    $1 == module && $2 ~ /^v/ { print substr($2, 2); exit }' "$1/go.mod"
}

# is_version BINARY BANNER: whether BINARY runs and calls itself BANNER, such as "OpenTofu
# v1.12.6". It runs in / so that a version manager can't answer for the current folder only.
is_version() {
  [ -x "$1" ] || return 1
  local answer
  answer=$(cd / && CHECKPOINT_DISABLE=1 TF_CLI_CONFIG_FILE=/dev/null TF_CLI_ARGS='' "$1" version 2>/dev/null) || return 1
  [ "${answer%%$'\n'*}" = "$2" ]
}

# build FOLDER MODULE BANNER TARGET: builds beside TARGET and renames, so that TARGET is
# whole or absent, also when interrupted or when two builds run at once.
build() (
  folder=$1 module=$2 banner=$3 target=$4
  mkdir -p "$(dirname "$target")"
  work=$(mktemp -d "$(dirname "$target")/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT

  # Without dev=no OpenTofu calls itself "-dev". Terraform 1.5.7 has no such variable, and
  # the linker passes over it.
  cd "$folder"
  if ! GOWORK=off CGO_ENABLED=0 go build -mod=readonly -trimpath \
    -ldflags "-s -w -X $module/version.dev=no" -o "$work/client" tool >"$work/log" 2>&1; then
    say "error: building $banner failed; the end of what go said:"
    tail -n 20 "$work/log" >&2
    exit 1
  fi
  if ! is_version "$work/client" "$banner"; then
    say "error: what was built in $folder does not call itself \"$banner\""
    exit 1
  fi
  mv -f "$work/client" "$target"
)

# client VARIABLE NAME BINARY MODULE PRODUCT DURATION: prints VARIABLE=path.
client() {
  local variable=$1 name=$2 binary=$3 module=$4 product=$5 duration=$6
  local folder=$root/test/clients/$name version target on_path
  version=$(pinned_version "$folder" "$module")
  if [ -z "$version" ]; then
    say "error: $folder/go.mod requires no version of $module"
    exit 1
  fi
  target=$cache/$name-$version/$binary
  on_path=$(type -P "$binary" || true)

  if is_version "$target" "$product v$version"; then
    :
  elif [ -n "$on_path" ] && is_version "$on_path" "$product v$version"; then
    target=$on_path
  else
    say "building $product $version from source, about $duration the first time, then cached in $(dirname "$target")"
    build "$folder" "$module" "$product v$version" "$target"
  fi
  printf '%s=%s\n' "$variable" "$target"
}

client TOFU opentofu tofu github.com/opentofu/opentofu OpenTofu "5 minutes"
client TERRAFORM terraform terraform github.com/hashicorp/terraform Terraform "6 minutes"
