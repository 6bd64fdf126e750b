#!/bin/sh
# tests/escape/run-bombs.sh - every bomb is stopped by its own limit, as root (control groups) and as an ordinary user
# (rlimits and sampling), behind the process wall too, and nothing is left.
# alone: bombs, and a neighbour that must not feel them.
# shellcheck disable=SC2016,SC2317
set -u
cd "$(dirname "$0")/../.." || exit 1
. tests/cli/lib.sh

# each LABEL COMMAND...: runs the bombs and turns their JSON into TAP.
each() {
        label=$1
        shift
        "$@" >"$T/json" 2>"$T/err"
        status=$?
        is "$label: it is JSON" "$(jq -r '.bombs | length' "$T/json" 2>&1)" "$expected"
        jq -r '.bombs[] | [.bomb, .ok, .limit, .how, .inside, .limits_hit, .ms, .neighbour_late_max_us, .host_taken_kib] | map(tostring) | join("|")' \
                "$T/json" >"$T/rows"
        missed=0
        while IFS='|' read -r bomb ok limit how inside hit ms late taken; do
                name="$label: $bomb is stopped by $limit"
                case $ok in
                true) pass "$name ($how $inside)" ;;
                *) missed=1; fail "$name" "$how; inside: $inside; hit: $hit; $ms ms" ;;
                esac
                ok "$label: $bomb ends within 5 s ($ms ms)" test "$ms" -le 5000
                ok "$label: $bomb leaves the neighbour awake (late at most $late us)" test "$late" -lt 1000000
                ok "$label: $bomb leaves the host its memory ($taken KiB taken)" test "$taken" -lt 1048576
        done <"$T/rows"
        is "$label: the exit status tells whether all were stopped" $status $missed
}

if ! command -v jq >/dev/null; then
        skip "the bombs" "jq is not installed"
        done_testing
fi
expected=26
each "as it is" "$CORDON" selftest bombs --json
each "ordinary user" as_user "$CORDON" selftest bombs --json
is "a wall that is none is refused" "$("$CORDON" selftest bombs --wall nonsense output >/dev/null 2>&1; echo $?)" 125
if [ "$(id -u)" -eq 0 ]; then
        each "process wall" "$CORDON" selftest bombs --json --wall process
        # There the kernel counts all processes of the account: one that nobody else uses, also where the tests run twice.
        uid=$((61000 + $$ % 4000))
        mkdir -m 700 "$T/state-lone" && chown $uid:$uid "$T/state-lone"
        lone_user() { setpriv --reuid "$uid" --regid "$uid" --clear-groups env HOME=/nonexistent CORDON_STATE="$T/state-lone" "$@"; }
        each "process wall, ordinary user" lone_user "$CORDON" selftest bombs --json --wall process
        is "only files, segments, connections, watches, events and interfaces are not there to be used up" "$(jq -r '[.bombs[] | select(.how == "got nothing") | .bomb] | sort | join(" ")' "$T/json")" \
                "connections deep-directory disk events inodes interfaces memory-segments memory-tmpfs sparse-file watches zip"
else
        skip "the bombs behind the process wall" "there our own processes count for its limit too"
fi

has "one bomb by name" "$("$CORDON" selftest bombs descriptors)" "(stopped EMFILE"
has "the host's memory is told" "$("$CORDON" selftest bombs output)" "Memory available on the host:"
"$CORDON" selftest bombs nonsense >"$T/out" 2>"$T/err"
is "an unknown bomb is refused" $? 125
has "and the bombs are listed" "$(cat "$T/err")" "deep-directory"
is "no bomb is left running" "$(pgrep -c 'bomb-' || true)" 0
ok "a signal ends the bombs" sh -c '"$1" selftest bombs stopped-self >/dev/null 2>&1 & pid=$!; sleep 0.8; kill -TERM $pid; wait $pid; test $? -eq 143' sh "$CORDON"
is "no box is left" "$("$CORDON" ps --json | grep -c '"name":"bombs"')" 0
done_testing
