#!/usr/bin/env bash
# Prints the path of an sshd for tests, of Debian's package (see debian.sh). It can be run by any account, and knows
# those of NSS_WRAPPER_PASSWD and NSS_WRAPPER_GROUP, as libnss-wrapper says: an sshd that is not root's lets in its own
# account alone, which may have no shell, or none of the machine's names.
set -euo pipefail
exec "$(dirname "$0")/debian.sh" sshd OpenSSH openssh-server libnss-wrapper <<'RUN'
LD_PRELOAD=libnss_wrapper.so
export LD_PRELOAD
for part in session auth; do # newer ones are made of several programs
  program=$root/usr/lib/openssh/sshd-$part
  name=$(echo "$part" | sed 's/^./\u&/')
  if [ -x "$program" ]; then set -- "$@" -o "Sshd${name}Path=$program"; fi
done
exec "$root/usr/sbin/sshd" "$@"
RUN
