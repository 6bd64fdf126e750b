#!/bin/sh
# Signals to cordon reach the payload; stop and continue; statuses.
# shellcheck disable=SC2013,SC2016,SC2317
. "$(dirname "$0")/lib.sh"
cd "$T" || exit 1
chmod 777 "$T"
if [ "$(id -u)" -eq 0 ]; then user="setpriv --reuid 65533 --regid 65533 --clear-groups"; else user=""; fi
# start PREFIX ARGUMENT...: the keeper's pid in $keeper, output in out
start() {
        prefix=$1
        shift
        rm -f out
        # shellcheck disable=SC2086
        (exec $prefix "$CORDON" run -q --time 20s "$@") >out 2>err </dev/null &
        keeper=$!
}
# until_says TEXT: waits for it in out. A shell that is just making a child may lose a signal by itself: let it settle.
until_says() { soon grep -q "$1" out && sleep 0.05; }
state() { sed -n 's/^State:.\(.\).*/\1/p' "/proc/$1/status"; }
stopped() { [ "$(state "$1")" = T ]; }
longer() { [ "$(wc -l <out)" -gt "$1" ]; } # out has more lines than so many

for who in root user; do
        prefix=""
        [ $who = root ] || prefix=$user
        for wall in namespace process; do
                for sig in INT TERM HUP QUIT USR1 USR2; do
                        start "$prefix" --wall $wall -- sh -c "trap 'echo got $sig; exit 42' $sig; echo ready; while :; do sleep 0.05; done"
                        until_says ready
                        kill -$sig $keeper
                        wait $keeper
                        is "$who, $wall: $sig reaches the payload's trap" "$?:$(tail -n 1 out)" "42:got $sig"
                done
                for sig in INT:130 TERM:143 HUP:129 USR1:138; do
                        start "$prefix" --wall $wall -- sh -c 'echo ready; sleep 10; exit 1'
                        until_says ready
                        kill -"${sig%:*}" $keeper
                        wait $keeper
                        is "$who, $wall: a payload without a trap ends of ${sig%:*}" $? "${sig#*:}"
                done
                start "$prefix" --wall $wall -- sh -c 'trap "" TERM; echo ready; sleep 0.5; exit 7'
                until_says ready
                kill -TERM $keeper
                wait $keeper
                is "$who, $wall: a payload that ignores TERM goes on" $? 7
        done
        # --- nohup ---
        start "env --ignore-signal=HUP $prefix" -- sh -c 'echo ready; sleep 0.5; echo went on; exit 7'
        until_says ready
        kill -HUP $keeper
        wait $keeper
        is "$who: a hangup that the caller ignores ends nothing" "$?:$(tail -n 1 out)" "7:went on"
        # --- stop and continue ---
        # One process: a shell that waits for a child of vfork() is in state D, stopped or not.
        start "$prefix" -- perl -e '$| = 1; print "ready\n"; for (1 .. 600) { print "$_\n"; select(undef, undef, undef, 0.02) }'
        until_says ready
        kill -TSTP $keeper
        soon stopped $keeper
        is "$who: TSTP stops cordon" "$(state $keeper)" T
        init=""
        for p in $(cat "/proc/$keeper/task/$keeper/children"); do [ "$(cat "/proc/$p/comm")" != cordon-init ] || init=$p; done
        payload=$(pgrep -P "$init" -x perl) # where hidden paths are observed, init has another child, which goes on
        soon stopped "$payload"
        is "$who: and the payload" "$(state "$payload")" T
        before=$(wc -l <out)
        sleep 0.2
        is "$who: nothing is written meanwhile" "$(wc -l <out)" "$before"
        kill -CONT $keeper
        ok "$who: CONT lets both go on" soon longer "$before"
        kill -TERM $keeper
        wait $keeper
        is "$who: then TERM ends it" $? 143

        # --- a burst of signals loses neither the run nor the keeper ---
        start "$prefix" -- sh -c 'trap "n=\$((n + 1))" USR1; n=0; echo ready; while [ ! $n -gt 5 ]; do sleep 0.02; done; echo many; exit 9'
        until_says ready
        i=0
        while [ $i -lt 300 ] && kill -USR1 $keeper 2>/dev/null; do i=$((i + 1)); [ $((i % 20)) -ne 0 ] || sleep 0.05; done
        for _ in $(seq 100); do kill -USR1 $keeper 2>/dev/null || break; sleep 0.1; done
        wait $keeper
        is "$who: a burst of signals is survived" "$?:$(tail -n 1 out)" "9:many"
done
# The caller's ignored and blocked signals are not the payload's.
(
        trap '' INT HUP PIPE USR1
        "$CORDON" run -q -- grep -E '^Sig(Blk|Ign)' /proc/self/status </dev/null
) >out
is "no signal is blocked" "$(sed -n 's/^SigBlk:.//p' out)" 0000000000000000
# INT HUP PIPE USR1 are bits 1, 0, 12 and 9
is "ignored signals of the caller are not inherited" "$((0x$(sed -n 's/^SigIgn:.//p' out) & (1 << 1 | 1 << 0 | 1 << 12 | 1 << 9)))" 0
# A caller that ignores SIGCHLD hands that on, and then no child can be waited for: what failed is not called done.
deaf() { python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])' "$CORDON" "$@"; }
"$CORDON" run -q -- true
is "SIGCHLD ignored: the ledger is verified" "$(status deaf ledger verify):$(sed -n '$p' "$T/out")" "0:nothing that is sealed was changed, removed, reordered or added"
is "SIGCHLD ignored: a program that a detached box has not" "$(status deaf run -q --detach -- /none)" 127
echo junk >"$CORDON_STATE/ledger/key"
is "SIGCHLD ignored: a key that cannot be read is not called rotated" "$(status deaf ledger rotate-key):$(sed -n 1p "$T/err")" "125:cordon: error: the ledger's key is not one"
# Behind either wall, and whenever the payload is born: where /proc is closed, the signal itself tells.
for wall in namespace "namespace without cgroup" process; do
        is "$wall: all of them end a payload" "$(trap '' INT HUP PIPE USR1
                for sig in INT HUP PIPE USR1; do "$CORDON" run -q --wall "$wall" -- sh -c "echo began; kill -$sig \$\$; echo $sig is ignored" </dev/null 2>&1; done)" "began
began
began
began"
done
# A signal during the start is not lost.
lost=0
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        start "" -- sleep 15
        sleep "0.00$((i % 10))"
        kill -TERM $keeper
        began=$(date +%s)
        wait $keeper
        [ $(($(date +%s) - began)) -lt 10 ] || lost=$((lost + 1))
done
is "TERM during the start is never lost" $lost 0
done_testing
