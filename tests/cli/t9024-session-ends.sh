#!/bin/sh
# How a session ends: by a limit, by the end of its life, by `cordon stop`, by a signal. Its commands end with it, and say why and
# where its changes are.
# alone: a session that lives for two seconds begins a command in that time
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
root() { "$@"; }
elsewhere cordon-session
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
before=$(orphans)
for who in root as_user; do
        run() { $who timeout -k 5 60 "$CORDON" "$@"; }
        in_s() { run session run "$S" "$@" </dev/null; }
        S=e$$-$who
        mkdir "$D/$who"
        [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 "$D/$who"
        cd "$D/$who" || exit 1

        # Memory, which all commands share.
        id=$(run session new "$S" --edit . --memory 64M)
        is "$who: the session's memory ends a command with it" "$(status in_s --json -- sh -c 'echo kept >f; exec tail /dev/zero')" 124
        has "$who: it says so" "$(cat "$T/err")" 'the session ended: limit `memory` reached'
        has "$who: and where the changes are" "$(cat "$T/err")" "cordon diff $(short "$id")"
        is "$who: as JSON" "$(tail -n 1 "$T/err" | jq -c '[.end, .limit, .session, .session_over]')" "[\"limit\",\"memory\",\"$id\",true]"
        is "$who: they are there" "$(run diff --name-only "$S")" f
        is "$who: the ledger has the limit" "$(run log --run "$id" --json | jq -r 'select(.kind == "limit") | .target + " " + .result')" "memory ended the run"
        run discard --yes "$id" 2>/dev/null

        # Its life.
        id=$(run session new "$S" --life 2s)
        is "$who: the end of its life" "$(status in_s --json -- sleep 1000)" 124
        has "$who: is said" "$(cat "$T/err")" "the session ended after its --life"
        is "$who: as JSON too" "$(tail -n 1 "$T/err" | jq -c '[.limit, .session_over]')" '["time",true]'

        # A command's own limit leaves the session.
        run session new "$S" --edit . >/dev/null
        is "$who: a command's own limit" "$(status in_s --json --time 300ms -- sh -c 'echo 1 >f; exec sleep 1000')" 124
        is "$who: leaves the session" "$(tail -n 1 "$T/err" | jq -c '[.limit, .session_over]')" '["time",false]'
        is "$who: which takes others" "$(in_s -- cat f)" 1

        # While it runs.
        has "$who: diff of a running session, by its name" "$(run diff "$S" 2>"$T/err")" "+1"
        has "$who: says that it runs" "$(cat "$T/err")" "changes so far"
        is "$who: and leaves no copy" "$(run diff --list --json | jq length)" 1
        has "$who: one word with spaces" "$(in_s -- 'echo a | wc' 2>&1)" "cordon session run $S -- sh -c 'echo a | wc'"
        has "$who: a denied file that the command names" "$(in_s -- cat /etc/hostname 2>&1)" "a session with --read /etc/hostname"

        # In a directory whose parent has changes that wait.
        mkdir -p par/child
        [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 par
        (cd par && run run -q --no-stdin --edit . -- sh -c 'echo top >top')
        par=$(run diff --list --json | jq -r '.[] | select(.state == "waiting") | .run')
        (cd par/child && run session new "$S-near" --edit . >/dev/null && run session run "$S-near" -- sh -c 'echo near >near' </dev/null)
        is "$who: diff shows the session of this directory" "$(cd par/child && run diff --name-only 2>"$T/err")" near
        has "$who: and says that it runs" "$(cat "$T/err")" "changes so far"
        for verb in apply discard; do
                said=$(cd par/child && run $verb 2>&1)
                has "$who: $verb names both" "$said" "the session $S-near of this directory still runs, and the changes of $par are of $(pwd -P)/par"
                has "$who: $verb says how either is meant" "$said" "\`cordon session end $S-near\`; or name the others: \`cordon diff $par\`"
        done
        has "$who: apply of a session that runs" "$(run apply "$S-near" 2>&1)" "the session $S-near still runs
cordon: hint: end it first: \`cordon session end $S-near\`"
        ok "$who: nothing was applied" test ! -e par/top -a ! -e par/child/near
        run session end "$S-near" 2>/dev/null
        is "$who: then its changes are meant" "$(cd par/child && run apply >/dev/null 2>&1; cat near)" near
        is "$who: and the others where they are, or by name" "$(cd par && run diff --name-only; run diff --name-only "$par")" "top
top"
        run discard --yes "$par" 2>/dev/null

        # stop
        has "$who: stop tells what became of the changes" "$(run stop "$S" 2>&1)" "1 change in an overlay, 0 flagged: cordon diff "
        is "$who: it is over" "$(run session ls --json | jq -r --arg n "$S" '.[] | select(.name == $n) | .run')" ""
        run discard --yes "$S" 2>/dev/null

        # Its process is killed.
        run session new "$S" --edit . >/dev/null
        run session run "$S" -n -- sh -c 'echo 1 >f; exec sleep 1000' 2>"$T/killed" &
        job=$!
        wrote() { in_s -- cat f; }
        ok "$who: a command runs" soon wrote
        $who kill -9 "$(run ps --json "$S" | jq -r .keeper)"
        wait $job
        is "$who: a session that is killed" "$?" 137
        has "$who: is said as well" "$(cat "$T/killed")" "the session ended and killed this command"
        run discard --yes "$S" 2>/dev/null

        # All at once, as a user that no other test has: sessions are found by uid.
        if [ "$who" = as_user ] && [ "$(id -u)" -eq 0 ]; then
                uid=$((200000 + $$ % 100000))
                mkdir -m 700 "$D/all" && chown $uid:$uid "$D/all" && cd / || exit 1
                run() { setpriv --reuid $uid --regid $uid --clear-groups env HOME=/nonexistent CORDON_STATE="$D/all" timeout -k 5 60 "$CORDON" "$@"; }
                a=$(run session new "$S-a") && b=$(run session new "$S-b")
                is "$who: all sessions are there" "$(run session ls | grep -c -e "$(short "$a")" -e "$(short "$b")")" 2
                is "$who: session end --all" "$(run session end --all --json | jq -r .end | sort | uniq -c | tr -d ' ')" 2exited
                is "$who: none is left" "$(run session ls --json)" "[]"
                run session new "$S-c" >/dev/null
                has "$who: it says how many" "$(run session end --all 2>&1)" "cordon: 1 session ended"
        fi
        is "$who: --all takes no name" "$(status run session end --all "$S")" 125
done
ok "nothing is left" none_left
done_testing
