#!/usr/bin/env bash
# Makes sure that the pinned clients and providers exist and prints where they are, nothing else:
#
#     TOFU=/path/to/tofu
#     TERRAFORM=/path/to/terraform
#     TERRAGRUNT=/path/to/terragrunt
#     PROVIDERS=/path/to/mirror
#
# Arguments name the ones that are wanted, of opentofu, terraform, terragrunt and providers; without any, all are.
#
# test/clients/*/go.mod name the versions. A client comes from the cache, from PATH if it
# is exactly that version, or is built from source into the cache: $HOLDFAST_CLIENTS_CACHE,
# by default holdfast/clients in the user's cache folder. Providers are built likewise, into a
# folder that both clients take as their filesystem_mirror.
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)

wants() { [ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }
wanted=("$@")

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

# is_terragrunt BINARY BANNER: is_version for Terragrunt, whose BANNER is "Terragrunt v1.0.0".
is_terragrunt() {
  [ -x "$1" ] || return 1
  local answer
  answer=$(cd / && TG_NO_COLOR=true "$1" --version 2>/dev/null) || return 1
  [ "${answer%%$'\n'*}" = "terragrunt version ${2#Terragrunt }" ]
}

# is_provider BINARY: whether BINARY runs, and says to people that clients run it.
is_provider() {
  [ -x "$1" ] || return 1
  local answer
  answer=$("$1" 2>&1 </dev/null || true)
  [[ $answer == "This binary is a plugin."* ]]
}

# build FOLDER MODULE NAME TARGET CHECK...: builds beside TARGET and renames, so that TARGET is
# whole or absent, also when interrupted or when two builds run at once. CHECK is called with
# the binary first, then with what follows it here.
build() (
  folder=$1 module=$2 name=$3 target=$4 check=$5
  shift 5
  mkdir -p "$(dirname "$target")"
  work=$(mktemp -d "$(dirname "$target")/build.XXXXXX")
  trap 'rm -rf "$work"' EXIT

  # Without dev=no OpenTofu calls itself "-dev", and Terragrunt is told its version. The others have no
  # such variables, and the linker passes over them.
  cd "$folder"
  if ! GOWORK=off CGO_ENABLED=0 go build -mod=readonly -trimpath \
    -ldflags "-s -w -X $module/version.dev=no -X github.com/gruntwork-io/go-commons/version.Version=${name##* }" -o "$work/client" tool >"$work/log" 2>&1; then
    say "error: building $name failed; the end of what go said:"
    tail -n 20 "$work/log" >&2
    exit 1
  fi
  if ! "$check" "$work/client" "$@"; then
    say "error: what was built in $folder is not $name"
    exit 1
  fi
  mv -f "$work/client" "$target"
)

# client VARIABLE NAME BINARY MODULE PRODUCT DURATION [CHECK]: prints VARIABLE=path.
client() {
  local variable=$1 name=$2 binary=$3 module=$4 product=$5 duration=$6 check=${7:-is_version}
  local folder=$root/test/clients/$name version target on_path
  version=$(pinned_version "$folder" "$module")
  if [ -z "$version" ]; then
    say "error: $folder/go.mod requires no version of $module"
    exit 1
  fi
  target=$cache/$name-$version/$binary
  on_path=$(type -P "$binary" || true)

  if "$check" "$target" "$product v$version"; then
    :
  elif [ -n "$on_path" ] && "$check" "$on_path" "$product v$version"; then
    target=$on_path
  else
    say "building $product $version from source, about $duration the first time, then cached in $(dirname "$target")"
    build "$folder" "$module" "$product v$version" "$target" "$check" "$product v$version"
  fi
  printf '%s=%s\n' "$variable" "$target"
}

if wants opentofu; then client TOFU opentofu tofu github.com/opentofu/opentofu OpenTofu "5 minutes"; fi
if wants terraform; then client TERRAFORM terraform terraform github.com/hashicorp/terraform Terraform "6 minutes"; fi
if wants terragrunt; then
  client TERRAGRUNT terragrunt terragrunt github.com/gruntwork-io/terragrunt Terragrunt "2 minutes" is_terragrunt
fi
if ! wants providers; then exit; fi

# provider NAME MODULE: adds the provider to $mirror, for both clients: each asks a registry of
# its own for it.
provider() {
  local name=$1 module=$2 folder=$root/test/clients/provider-$1 version
  version=$(pinned_version "$folder" "$module")
  if [ -z "$version" ]; then
    say "error: $folder/go.mod requires no version of $module"
    exit 1
  fi
  mirrored hashicorp "$name" "$version" "$module"
}

# mirrored NAMESPACE NAME VERSION MODULE: builds what is in provider-NAME into $mirror.
mirrored() {
  local namespace=$1 name=$2 version=$3 module=$4 platform target other
  platform=$(go env GOOS)_$(go env GOARCH)
  target=$mirror/registry.opentofu.org/$namespace/$name/$version/$platform/terraform-provider-${name}_v$version
  other=${target/registry.opentofu.org/registry.terraform.io}
  if [ ! -x "$target" ]; then
    say "building provider $name $version from source, about a minute the first time, then cached in $mirror"
    build "$root/test/clients/provider-$name" "$module" "provider $name $version" "$target" is_provider
  fi
  if [ ! -x "$other" ]; then
    mkdir -p "$(dirname "$other")"
    ln -f "$target" "$other"
  fi
}

# The folder is named after all versions, and the source of ours, so that it never has others than those.
mirror=$cache/providers-$(cat "$root"/test/clients/provider-*/go.mod "$root"/test/clients/provider-shelf/*.go |
  sha256sum | cut -c1-12)
provider time github.com/hashicorp/terraform-provider-time
provider local github.com/terraform-providers/terraform-provider-local
provider http github.com/terraform-providers/terraform-provider-http
mirrored holdfast shelf 1.0.0 github.com/holdfast/holdfast/test/clients/provider-shelf
printf 'PROVIDERS=%s\n' "$mirror"
