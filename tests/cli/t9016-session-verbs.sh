#!/bin/sh
# `cordon session`: a box that stays, commands in it from other processes, its end and its fork.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
root() { "$@"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
elsewhere cordon-session
trap 'code=$?; remove "$T" "$D"; exit $code' EXIT
before=$(orphans)
for who in root as_user; do
        run() { $who timeout -k 5 60 "$CORDON" "$@"; }
        in_s() { run session run "$S" "$@" </dev/null; }
        rows() { run session ls --json | jq -r --arg n "$1" '.[] | select(.name == $n) | .run'; }
        on_terminal='env'
        [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || on_terminal="setpriv --reuid 65533 --regid 65533 --clear-groups env CORDON_STATE=$T/state-user"
        S=s$$-$who
        mkdir "$D/$who" && echo old >"$D/$who/old"
        [ "$who" = root ] || [ "$(id -u)" -ne 0 ] || chown -R 65533:65533 "$D/$who"
        cd "$D/$who" || exit 1

        id=$(run session new "$S" --edit . 2>"$T/err")
        is "$who: a session is listed under its id and name" "$(rows "$S")" "$id"
        has "$who: as text too" "$(run session ls)" "$S"
        is "$who: a command has its output and its status" "$(in_s -- sh -c 'echo out; exit 3'; echo $?)" "out
3"
        is "$who: standard error is apart" "$(in_s -- sh -c 'echo out; echo err >&2' 2>&1 >/dev/null)" err
        is "$who: input is passed on" "$(echo given | run session run "$S" -- cat)" given
        is "$who: files stay" "$(in_s -- sh -c 'echo 1 >/tmp/f; echo new >new; rm old') $(in_s -- cat /tmp/f new | paste -s -d ' ')" " 1 new"
        ok "$who: not on the host" test ! -e new -a -e old
        is "$who: processes stay" "$(in_s -- sh -c 'sleep 1000 >/dev/null 2>&1 & echo $! >/tmp/pid') $(in_s -- sh -c 'kill -0 $(cat /tmp/pid) && kill $(cat /tmp/pid) && echo there')" " there"
        is "$who: it begins where the caller is" "$(in_s -- pwd)" "$D/$who"
        is "$who: or elsewhere" "$(in_s --cwd /tmp -- pwd)" /tmp
        is "$who: options may stand before the name" "$(run session run -n --cwd /tmp "$S" pwd)" /tmp
        is "$who: a missing program" "$(status in_s -- /no/such)" 127
        is "$who: a signal ends the command" "$(status in_s -- sh -c 'kill -TERM $$')" 143
        is "$who: its time limit" "$(status in_s --time 300ms -- sleep 1000)" 124
        is "$who: its output limit" "$(status in_s --output 64K -- yes)" 124
        in_s --json -- unshare -U true >/dev/null 2>"$T/json"
        is "$who: result and denials as JSON" "$(tail -n 1 "$T/json" | jq -r '.start, .exit, .denials[0].reason' | paste -s -d ' ')" "session 1 namespace"
        in_s --json -- true 2>"$T/json"
        is "$who: denials are of one command" "$(tail -n 1 "$T/json" | jq -r '.denials | length')" 0
        if command -v python3 >/dev/null && command -v setpriv >/dev/null; then
                has "$who: a terminal of its own" "$(terminal $on_terminal timeout -k 5 60 "$CORDON" session run "$S" -- tty)" /dev/pts/
        else
                skip "$who: a terminal of its own" "python3 or setpriv is not installed"
        fi
        for i in 1 2 3 4; do in_s -- sh -c "touch /tmp/b$i; until [ -e /tmp/go ]; do sleep 0.02; done; exit $i" & eval "p$i=$!"; done
        all_there() { in_s -- ls /tmp/b1 /tmp/b2 /tmp/b3 /tmp/b4; }
        ok "$who: four commands run at once" soon all_there
        is "$who: the list counts them" "$(run session ls --json | jq -r --arg n "$S" '.[] | select(.name == $n) | .runs')" 4
        has "$who: ps shows them with their session" "$(run ps --json | jq -r '.[].in_session')" "$id"
        has "$who: no fork meanwhile" "$(run session fork "$S" 2>&1)" "a command is still running in the session"
        in_s -- touch /tmp/go
        got=
        for p in $p1 $p2 $p3 $p4; do
                wait "$p"
                got="$got $?"
        done
        is "$who: each ends with its own status" "$got" " 1 2 3 4"

        # The ledger: each command is a run whose cause is the session.
        run log --run "$id" --json >"$T/log"
        is "$who: the session's start is recorded" "$(jq -r 'select(.kind == "start").id' "$T/log")" "$id.start"
        last=$(in_s --json -- true 2>&1 | tail -n 1 | jq -r .run)
        has "$who: and is the cause of its runs" "$(run log --run "$last" --json | jq -c 'select(.kind == "start")')" "\"$id.start\""

        # A second one with its files.
        fork=$(run session fork "$S" --name "$S-2" 2>"$T/err")
        is "$who: a fork" "$(rows "$S-2")" "$fork"
        is "$who: has the changes of the first" "$(run session run "$S-2" -n -- sh -c 'ls; cat new; echo 2 >new' | paste -s -d ' ')" "new new"
        is "$who: which does not see its own" "$(in_s -- cat new)" new
        is "$who: its /tmp is new" "$(run session run "$S-2" -n -- ls -A /tmp)" ""
        is "$who: one name, one session" "$(status run session new "$S")" 125
        has "$who: and the reason" "$(cat "$T/err")" "already named"

        # Its end.
        $who timeout 60 "$CORDON" session run "$S" -n -- sleep 1000 2>/dev/null &
        client=$!
        busy() { [ "$(run session ls --json | jq -r --arg n "$S" '.[] | select(.name == $n) | .runs')" = 1 ]; }
        ok "$who: a command runs" soon busy
        has "$who: the end tells what was changed" "$(run session end "$S" 2>&1)" "2 changes in an overlay"
        wait $client
        is "$who: and ends what runs" "$?" 137
        is "$who: its end is recorded" "$(run log --run "$id" --json | jq -r 'select(.kind == "end").result')" "exited 0"
        is "$who: the end as JSON" "$(run session end --json "$S-2" | jq -r '.run, .end, .work.entries' | paste -s -d ' ')" "$fork exited 2"
        is "$who: no session is left" "$(rows "$S")$(rows "$S-2")" ""
        is "$who: one that is over takes no command" "$(status in_s -- true)" 125
        has "$who: and says so" "$(cat "$T/err")" "no session named"
        has "$who: an end of one that is over says where its changes are" "$(run session end "$S" 2>&1)" "changes of $S: cordon diff $(short "$id"), then cordon apply $(short "$id")"
        has "$who: and where its end stands" "$(in_s -- true 2>&1)" "cordon ledger show $S"
        is "$who: to programs as well" "$(in_s --json -- true 2>&1 | tail -n 1 | jq -r .error.code)" gone
        is "$who: the changes wait" "$(run diff --name-only "$id" 2>/dev/null | sort | paste -s -d ' ')" "new old"

        # Two overlays, each by its session's name and id.
        is "$who: those of the fork by its own name" "$(run diff --json "$S-2" | jq -r '.run, .box' | paste -s -d ' ')" "$fork $S-2"
        is "$who: and not by the name of the first" "$(run diff --json "$S" | jq -r '.run, .box' | paste -s -d ' ')" "$id $S"
        again=$(run session new "$S" --edit .) && in_s -- touch again && run session end "$S" 2>/dev/null
        for verb in apply "discard --yes"; do
                # shellcheck disable=SC2086
                is "$who: $verb does not choose between two of one name" "$(status run $verb "$S")" 125
                has "$who: and lists the first" "$(cat "$T/err")" "$(short "$id") ("
                has "$who: and the second" "$(cat "$T/err")" "$(short "$again") ("
        done
        run discard --yes "$id" "$fork" "$again" >/dev/null 2>&1
        is "$who: no overlay is left" "$(run diff --list --json)" "[]"

        # Doors that cannot be forked; boxes that are not sessions.
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        for door in "--write ." "--listen $port" ""; do
                # shellcheck disable=SC2086
                id=$(run session new "$S" $door 2>"$T/err") || { skip "$who: no fork with '$door'" "$(cat "$T/err")"; continue; }
                is "$who: no fork with '$door'" "$(status run session fork "$S")" 125
                run session end "$S"
        done
        box=$(run run -d -- sleep 1000)
        has "$who: a box is not a session" "$(run session run "$box" -n -- true 2>&1)" "not a session"
        has "$who: and is not ended as one" "$(run session end "$box" 2>&1)" "not a session"
        run stop -k "$box"

        # What is typed by guess.
        has "$who: start is new" "$(run session start x 2>&1)" "session new"
        has "$who: exec is run" "$(run session exec x 2>&1)" "session run"
        has "$who: the session comes before the command" "$(run session run -- ls 2>&1)" "name a session"
        has "$who: two names are too many" "$(run session new --name "$S" "$S-4" 2>&1)" "a session has one name"
        run session new "$S" --edit . >/dev/null
        has "$who: the list has a head" "$(run session ls)" RUNNING
        fork=$(run session fork "$S" "$S-4" 2>&1)
        is "$who: a fork's name may stand behind" "$(rows "$S-4")" "$fork"
        run session end "$S" "$S-4" 2>/dev/null

        # A shell keeps its session itself.
        is "$who: a shell" "$(echo 'echo $((6 * 7)); exit 5' | run shell 2>/dev/null; echo $?)" "42
5"
        has "$who: says that this directory is not in it" "$(run shell 2>&1 </dev/null)" 'not in the box; add it with: cordon shell --edit .'
        is "$who: its prompt names the box" "$(echo "tr '\\0' '\\n' </proc/\$\$/environ | grep -c '^PS1=.cordon $S-4. '" | run shell --name "$S-4" 2>/dev/null)" 1
        is "$who: not that of a command" "$(run shell -- env </dev/null 2>/dev/null | grep -c PS1)" 0
        has "$who: a directory is no command" "$(run shell . 2>&1 </dev/null)" "hint: cordon shell --edit ."
        has "$who: -c is the shell's" "$(run shell -c 'echo word' 2>&1 </dev/null)" "-- sh -c"
        has "$who: tells of changes" "$(echo 'echo x >in-shell' | run shell --edit . 2>&1)" "1 change in an overlay"
        is "$who: runs a command" "$(run shell --name "$S-3" -- echo word </dev/null)" word
        is "$who: ends with it" "$(rows "$S-3")" ""
        hasnt "$who: times that were not given are not told" "$(run session new "$S-5" --life 1h --renew 2 2>&1 >/dev/null; run session end "$S-5" 2>&1)" "--time"
        has "$who: idle, it ends by itself" "$(run session new "$S" --idle 200ms >/dev/null; ended() { [ -z "$(rows "$S")" ]; }; soon ended && echo ended)" ended
done
ok "no control group is left" none_left
done_testing
