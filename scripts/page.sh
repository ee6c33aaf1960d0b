#!/bin/sh
# Builds the page for `make run`, if Node is there and a source is newer than what was built. Without
# Node it says what is missing: the server serves everything else then. As `page.sh beside` it says in
# two lines what it does, and what npm says in web/build.log: the server's own lines come meanwhile.
# As `page.sh needed` it fails without Node: what is released has the page.
set -eu
cd "$(dirname "$0")/.."
missing() {
  if [ "$how" = needed ]; then
    echo "the page is not built, and what is released has it: $1" >&2
    exit 1
  fi
  echo "the page is not built: $1; the server serves everything else" >&2
  exit 0
}

how=${1-}
built=web/dist/page/index.html
if [ -f "$built" ] && [ -z "$(find web -path web/node_modules -prune -o -path web/dist -prune -o -type f -newer "$built" -print | head -n 1)" ]; then
  exit 0
fi
for program in node npm; do
  command -v "$program" >/dev/null 2>&1 || missing "$program is missing (Node 20 or later has it)"
done
major=$(node -p 'process.versions.node.split(".")[0]')
[ "$major" -ge 20 ] || missing "it takes Node 20 or later, and this is $(node --version)"
if [ "$how" != beside ]; then
  exec make --no-print-directory web
fi
echo "the page is being built, about half a minute; web/build.log has what npm says" >&2
if make --no-print-directory web >web/build.log 2>&1; then
  echo "the page is built" >&2
else
  echo "the page can't be built; see web/build.log" >&2
fi
