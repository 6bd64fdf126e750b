# shellcheck shell=sh disable=SC2016,SC2034,SC2154
# tests/cli/lib-serve.sh - sourced after lib.sh by tests of `cordon serve`: one resident for each user, in a runtime directory of
# its own ($rt).
#   run WORD...              cordon as $who, with that directory
#   serve [OPTION]...        starts the resident of $who, and sets $serve to its pid; what it says is in $T/said
#   serve_by COMMAND...      the same by another command
#   how OPTION...            how a run started: "parked ", "cold WHY"
#   gone PID
# $T/d is for every user. All residents end with the test.
mkdir "$T/d" && chmod 777 "$T/d"
pids=""
trap 'code=$?; for p in $pids; do kill "$p" 2>/dev/null; done; rm -rf "$T"; exit $code' EXIT
run() { $who env XDG_RUNTIME_DIR="$rt" timeout -k 5 60 "$CORDON" "$@" </dev/null; }
serve_by() {
        rm -f "$T/d/pid" "$T/said"
        $who env XDG_RUNTIME_DIR="$rt" sh -c 'echo $$ >"$1"; shift; exec "$@"' sh "$T/d/pid" "$@" >"$T/said" 2>&1 </dev/null &
        soon run serve pool stats >/dev/null 2>&1
        serve=$(cat "$T/d/pid")
        pids="$pids $serve"
}
serve() { serve_by "$CORDON" serve "$@"; }
how() { run run --json "$@" 2>&1 >/dev/null | tail -n 1 | jq -r '.start + " " + (.start_why // "")'; }
gone() { ! kill -0 "$1" 2>/dev/null; }
