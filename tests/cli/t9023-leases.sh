#!/bin/sh
# `limit time T renew N`: a run or a session gets another lease on request, as often as its policy allows; before the end of an
# unrenewed one the command is warned, and what it printed is kept.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
root() { "$@"; }
before=$(orphans)
for who in root as_user; do
        run() { $who timeout -k 5 60 "$CORDON" "$@"; }
        B=l$$-$who
        there() { run ps "$B"; }
        left() { run ps --json "$B" | jq -r .left_ms; }

        # Three leases of a minute each: the sum is counted from the start.
        run run -d --name "$B" --limit 'time 60s renew 2' -- sleep 1000 >/dev/null
        ok "$who: it runs" soon there
        has "$who: a renewal is answered" "$(run session renew "$B")" "1 renewal after this"
        one=$(left)
        is "$who: another lease" "$([ "$one" -gt 60000 ] && [ "$one" -le 121000 ] && echo yes)" yes
        is "$who: as JSON" "$(run session renew --json "$B" | jq -c '[.renewed, .renewals]')" "[2,2]"
        is "$who: then they are spent" "$(status run session renew "$B")" 125
        has "$who: and the reason" "$(cat "$T/err")" "its 2 renewals of time are spent"
        two=$(left)
        is "$who: no more than three" "$([ "$two" -gt 120000 ] && [ "$two" -le 181000 ] && echo yes)" yes
        id=$(run ps --json "$B" | jq -r .run)
        run stop -k "$B"
        is "$who: renewals are recorded" "$(run log --run "$id" --json | jq -r 'select(.kind == "limit" and .result == "renewed") | .target' | paste -s -d ' ')" "time time"

        # A job of three leases finishes.
        run run --json --time 2s --renew 2 -- sh -c 'sleep 3; echo finished' 2>"$T/err-$who" >"$T/out-$who" &
        job=$!
        # Renewed as soon as it is listed, until all are spent.
        mine() { run ps --json | jq -r '.[] | select(.command[2] == "sleep 3; echo finished") | .run'; }
        started() { [ -n "$(mine)" ]; }
        soon started
        r=$(mine)
        is "$who: it is renewed twice" "$(run session renew "$r" >/dev/null; run session renew "$r" | sed 's/.*left, //')" "0 renewals after this"
        wait $job
        is "$who: a job of several leases finishes" "$? $(cat "$T/out-$who")" "0 finished"
        is "$who: and its result counts them" "$(tail -n 1 "$T/err-$who" | jq -c '[.end, .renewed, .renewals]')" '["exited",2,2]'

        # One that nobody renews.
        is "$who: the end of an unrenewed one" "$(status run run --time 4s --renew 1 -- sh -c 'trap "echo saved" TERM; echo begun; (trap "" TERM; exec sleep 1000) & wait; wait')" 124
        is "$who: it was warned, and what it printed is kept" "$(paste -s -d ' ' "$T/out")" "begun saved"
        has "$who: so was its caller" "$(cat "$T/err")" "cordon session renew "
        is "$who: one that ends by the warning" "$(status run run -q --json --time 1s --renew 1 -- sleep 1000)" 124
        is "$who: ended by its limit" "$(tail -n 1 "$T/err" | jq -r .limit)" time
        is "$who: without renewals there is no warning" "$(status run run --time 300ms -- sh -c 'trap "echo saved" TERM; while :; do sleep 0.05; done') $(cat "$T/out")" "124 "

        # Commands of a session, and the session.
        run session new "$B" --limit 'time 60s renew 1' >/dev/null
        run session run "$B" -n -- sleep 1000 2>/dev/null &
        job=$!
        inner() { run ps --json | jq -r --arg s "$(run ps --json "$B" | jq -r .run)" '.[] | select(.in_session == $s) | .run'; }
        started() { [ -n "$(inner)" ]; }
        ok "$who: a command of a session runs" soon started
        r=$(inner)
        has "$who: and is renewed" "$(run session renew "$r")" "0 renewals after this"
        has "$who: as often as the policy says" "$(run session renew "$r" 2>&1)" "its 1 renewal of time is spent"
        has "$who: so is the session" "$(run session renew "$B")" "s of life left, 0 renewals after this"
        has "$who: the list of sessions shows it" "$(run session ls)" "  1/1"
        is "$who: as JSON" "$(run session ls --json | jq -c --arg n "$B" '.[] | select(.name == $n) | [.renewed, .renewals, .left_ms > 86400000]')" "[1,1,true]"
        run session end "$B"
        wait $job
        has "$who: which time is which" "$(run session new "$B" --time 8s --renew 2 2>&1 >/dev/null)" "the session lasts 1d (--life)"
        run session end "$B"
        is "$who: --time is another time, which is not renewed" "$(run session new "$B" --limit 'time 60s renew 1' >/dev/null; run session run "$B" -n --json --time 30s -- true 2>&1 | tail -n 1 | jq -c .renewals)" null
        run session end "$B"
        is "$who: no policy, no renewal" "$(run run -d --name "$B" -- sleep 1000 >/dev/null; soon there; status run session renew "$B")" 125
        has "$who: with a hint" "$(cat "$T/err")" "--renew 3"
        run stop -k "$B"
        has "$who: a box that does not run" "$(run session renew "$B" 2>&1)" "no box named"
done
printf 'limit time 10m renew 3\n' >"$T/a"
printf 'limit time 5m\n' >"$T/b"
has "renewals go with their time" "$("$CORDON" doors -p "$T/a" -p "$T/b")" "up to 5m of time"
is "and are shown" "$("$CORDON" policy show "$T/a" | grep '^limit \(time\|renew\)' | paste -s -d ' ')" "limit time 10m limit renew 3"
has "the worst case counts them" "$("$CORDON" doors -p "$T/a")" "up to 40m of time"
has "wider" "$("$CORDON" policy diff "$T/b" "$T/a")" "+ limit renew 3"
ok "nothing is left" none_left
done_testing
