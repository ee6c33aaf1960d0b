#!/usr/bin/env bash
# Prints the path of a haproxy for tests: one that is installed, or that of Debian's package (see debian.sh).
set -euo pipefail
type -P haproxy && exit
exec "$(dirname "$0")/debian.sh" haproxy 'HA-\?Proxy version' haproxy libopentracing1 <<'RUN'
exec "$root/usr/sbin/haproxy" "$@"
RUN
