#!/usr/bin/env bash
# Runs a command whose tests start MySQL of Debian unstable where they would else start MariaDB:
#
#     scripts/mysql97.sh scripts/mysql.sh go test ./storage/states
#
# The server's package and the libraries that it needs, from the C library on, are downloaded by apt-get
# with settings of their own and unpacked into the cache. Nothing is installed, and the machine's own
# list of packages stays as it is.
set -euo pipefail
: "${1:?usage: scripts/mysql97.sh COMMAND [ARGUMENT…]}"
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}/mysql-unstable
keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# settings FOLDER: prints apt's settings, which lead to Debian unstable and to files in FOLDER only.
settings() {
  mkdir -p "$1/lists/partial" "$1/archives/partial"
  touch "$1/status"
  echo "deb [signed-by=$keyring] http://deb.debian.org/debian sid main" >"$1/sources.list"
  cat <<END
Dir::State::lists "$1/lists";
Dir::State::status "$1/status";
Dir::Cache "$1";
Dir::Etc::sourcelist "$1/sources.list";
Dir::Etc::sourceparts "/dev/null";
APT::Sandbox::User "";
Acquire::Languages "none";
END
}

# unpack FOLDER: downloads the packages and unpacks them into FOLDER/unpacked.
unpack() {
  settings "$1" >"$1/apt.conf"
  export APT_CONFIG=$1/apt.conf
  apt-get -qq update
  # Perl is for scripts around the server.
  apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks --no-replaces --no-enhances \
    --no-pre-depends mysql-server-core | grep '^[a-z]' | grep -v perl | sort -u >"$1/packages"
  (cd "$1/archives" && xargs apt-get -qq download <"$1/packages")
  mkdir "$1/unpacked"
  for package in "$1"/archives/*.deb; do dpkg -x "$package" "$1/unpacked"; done
}

if [ ! -x "$cache/mysqld" ]; then
  mkdir -p "$(dirname "$cache")"
  work=$(mktemp -d "$cache.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  unpack "$work" >&2
  # The server runs with its own C library and loader, whatever the machine's are. It takes no path of
  # the machine's own for granted, but for where its messages, plugins and files of others are.
  cat >"$work/unpacked/mysqld" <<'END'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
libraries=$root/usr/lib/x86_64-linux-gnu
defaults=--no-defaults
[ "$1" = "$defaults" ] && shift
exec "$libraries/ld-linux-x86-64.so.2" --library-path "$libraries:$root/usr/lib/mysql/private" "$root/usr/sbin/mysqld" \
  $defaults --basedir="$root/usr" --lc-messages-dir="$root/usr/share/mysql" --plugin-dir="$root/usr/lib/mysql/plugin" \
  --secure-file-priv=NULL "$@"
END
  chmod 755 "$work/unpacked" "$work/unpacked/mysqld"
  rm -rf "$cache" && mv "$work/unpacked" "$cache"
fi
unset DB_HOST DB_PORT DB_USER DB_PASSWORD
HOLDFAST_MYSQLD=$cache/mysqld "$@"
