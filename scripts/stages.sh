# Stages of a long command, for scripts that read this file with `.`:
#
#   stage NAME COMMAND…   runs a command or a function, and says how long it took. A stage that fails doesn't keep the
#                         next ones from running.
#   summary               prints all stages with their times; fails if one of them did.
#   unchanged KEY COMMAND…  runs a command unless it has passed before with the same key, which has to say all that its
#                         outcome depends on.
#
# STAGES is a file that stages are noted in: the scripts that a script calls add theirs.

stage() {
  local name=$1 code=0 began=$SECONDS
  shift
  printf '== %s\n' "$name"
  set +e
  (set -e; "$@")
  code=$?
  set -e
  if [ $code = 0 ]; then code=ok; else code="FAILED ($code)"; fi
  printf '%6d s  %s: %s\n' $((SECONDS - began)) "$name" "$code" | tee -a "$STAGES"
}

summary() {
  printf '== stages\n'
  cat "$STAGES"
  printf '%6d s  in all\n' "$SECONDS"
  ! grep -q ': FAILED' "$STAGES"
}

unchanged() {
  local passed=${XDG_CACHE_HOME:-$HOME/.cache}/holdfast/passed/$1
  shift
  if [ -e "$passed" ]; then
    echo "(cached)"
    return
  fi
  "$@"
  mkdir -p "$(dirname "$passed")" && touch "$passed"
  find "$(dirname "$passed")" -type f -mtime +7 -delete
}

# hash prints a digest of the files below the arguments, of their names too.
hash() {
  find "$@" -type f -print0 | LC_ALL=C sort -z | xargs -0 sha256sum | sha256sum | cut -c1-32
}
