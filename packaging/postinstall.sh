#!/bin/sh
# Runs as root after the files are in place, at the first installation and at each upgrade.
set -e
# An image without systemd has the command line only: nothing is served there.
if ! command -v systemd-sysusers >/dev/null; then exit 0; fi
systemd-sysusers holdfast.conf
systemd-tmpfiles --create holdfast.conf
if [ -d /run/systemd/system ]; then
  systemctl daemon-reload
  # An upgrade replaces a server that runs; what it executes lives on meanwhile.
  systemctl try-restart holdfast.service
fi
if [ ! -e /etc/holdfast/auth.cfg ]; then
  cat <<'END'
Holdfast is installed, and not started: there is no organization yet. To make one, and start:

    sudo -u holdfast holdfast init --config /etc/holdfast/holdfast.cfg
    sudo systemctl enable --now holdfast
END
fi
