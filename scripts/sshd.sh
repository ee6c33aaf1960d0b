#!/usr/bin/env bash
# Prints the path of an sshd for tests. Debian's package is unpacked into the cache with what it needs; the
# machine stays as it is, and no service begins. It can be run by any account, and knows those of
# NSS_WRAPPER_PASSWD and NSS_WRAPPER_GROUP, as libnss-wrapper says: an sshd that is not root's lets in
# its own account alone, which may have no shell, or none of the machine's names.
set -euo pipefail
cache=${HOLDFAST_CLIENTS_CACHE:-${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/clients}/sshd
if [ ! -x "$cache/sshd" ]; then
  mkdir -p "$(dirname "$cache")"
  work=$(mktemp -d "$cache.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  cd "$work"
  mkdir made
  fetch() {
    local needed
    needed=$(apt-cache depends openssh-server | sed -n 's/^ *Depends: \(lib[^<>]*\)$/\1/p' | grep -vx -e libc6 -e 'libpam-.*')
    # shellcheck disable=SC2086
    [ -n "$needed" ] && apt-get download openssh-server libnss-wrapper $needed >&2
  }
  fetch || { apt-get update -q >&2 && fetch; }
  for package in *.deb; do dpkg -x "$package" made; done
  cat >made/sshd <<'RUN'
#!/bin/sh
root=$(dirname "$(readlink -f "$0")")
for libraries in "$root"/usr/lib/*-linux-gnu "$root"/lib/*-linux-gnu; do
  LD_LIBRARY_PATH=$libraries:${LD_LIBRARY_PATH-}
done
LD_PRELOAD=libnss_wrapper.so
export LD_LIBRARY_PATH LD_PRELOAD
for part in session auth; do # newer ones are made of several programs
  program=$root/usr/lib/openssh/sshd-$part
  name=$(echo "$part" | sed 's/^./\u&/')
  if [ -x "$program" ]; then set -- "$@" -o "Sshd${name}Path=$program"; fi
done
exec "$root/usr/sbin/sshd" "$@"
RUN
  chmod 755 made made/sshd
  { ./made/sshd -? 2>&1 || true; } | grep OpenSSH >&2 # it runs
  cd / && rm -rf "$cache" && mv "$work/made" "$cache"
fi
echo "$cache/sshd"
