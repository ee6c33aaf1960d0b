#!/usr/bin/env bash
# Runs a command with a real PostgreSQL at HOLDFAST_POSTGRES_URL: the one there is, else a private one of the machine's
# programs, or of Debian's package (see debian.sh):
#
#     scripts/postgres.sh go test ./storage/sqldb
#
# Where none can be had, the command runs without: its tests on PostgreSQL are skipped. With HOLDFAST_POSTGRES=required,
# and in CI (CI=true), that is an error.
set -euo pipefail
: "${1:?usage: scripts/postgres.sh COMMAND [ARGUMENT…]}"
scripts=$(cd "$(dirname "$0")" && pwd)
if [ "${CI:-}" = true ]; then export HOLDFAST_POSTGRES=required; fi

# unpacked prints the folder of the package's programs. Root's server runs as another user, who can't look into root's
# own folder.
unpacked() {
  if [ "$(id -u)" = 0 ]; then export HOLDFAST_CLIENTS_CACHE=${HOLDFAST_CLIENTS_CACHE:-/var/cache/holdfast/clients}; fi
  local program package
  package=$(apt-cache depends postgresql | sed -n 's/^ *Depends: \(postgresql-[0-9]*\)$/\1/p')
  program=$("$scripts/debian.sh" postgres 'PostgreSQL server' "${package:-postgresql-15}" libsasl2-2 libkrb5-3 libk5crypto3 \
    libkrb5support0 libkeyutils1 <<'RUN'
exec "$root"/usr/lib/postgresql/*/bin/"$(basename "$0")" "$@"
RUN
  ) && ln -sf postgres "$(dirname "$program")/initdb" && dirname "$program"
}

if [ -z "${HOLDFAST_POSTGRES_URL:-}${HOLDFAST_POSTGRES_PROGRAMS:-}" ] && ! compgen -G '/usr/lib/postgresql/*/bin/postgres' >/dev/null &&
  ! type -P postgres >/dev/null && type -P apt-get >/dev/null; then
  if programs=$(unpacked); then export HOLDFAST_POSTGRES_PROGRAMS=$programs; fi
fi
exec "$scripts/with.sh" postgres "$@"
