#!/usr/bin/env bash
# Prints the path of a pgbouncer for tests: one that is installed, or that of Debian's package (see debian.sh).
set -euo pipefail
type -P pgbouncer && exit
exec "$(dirname "$0")/debian.sh" pgbouncer 'pgbouncer --help' pgbouncer <<'RUN'
exec "$root/usr/sbin/pgbouncer" "$@"
RUN
