#!/bin/sh
# dpkg says "remove", and "upgrade" before another version comes; rpm counts what stays: 0 or 1.
set -e
case "$1" in
remove | 0) if [ -d /run/systemd/system ]; then systemctl disable --now holdfast.service; fi ;;
esac
