#!/bin/sh
# Attacks on a session from outside: clients that die at each step, that send nonsense, floods, another user, kill -9. And from
# inside: what a process that one command left behind can do to the next.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib.sh"
here=$(cd "$(dirname "$0")" && pwd)
root() { "$@"; }
gone() { ! kill -0 "$1" 2>/dev/null; }
before=$(orphans)
cd "$T" || exit 1
for who in root as_user; do
        run() { $who timeout -k 5 60 "$CORDON" "$@"; }
        in_s() { run session run "$S" -q "$@" </dev/null; }
        in_s_with() { n=$1; shift; $who prlimit --nofile="$n" timeout -k 5 60 "$CORDON" session run "$S" -q "$@" </dev/null; }
        count() { run session ls --json | jq -r --arg n "$S" '.[] | select(.name == $n) | .runs'; }
        idle() { [ "$(count)" = 0 ]; }
        busy() { [ "$(count)" = 1 ]; }
        S=a$$-$who
        id=$(run session new "$S")
        keeper=${id%%-*}
        uid=$($who id -u)
        [ "$who" = root ] || uid=$(as_user id -u)

        # Clients.
        if command -v python3 >/dev/null; then
                is "$who: a client that keeps to no rule gets nowhere" "$($who env COMMANDS="3 10 8 4 12" timeout -k 5 100 python3 "$here/helpers/session_peer.py" "$uid" "$id" 2>&1)" ""
                ok "$who: nothing of it is left in the session" soon idle
                is "$who: which takes commands as before" "$(in_s -- echo here)" here
        else
                skip "$who: a client that keeps to no rule" "python3 is not installed"
        fi
        $who "$CORDON" session run "$S" -n -- sh -c 'echo $$ >/tmp/pid; exec sleep 4444' >/dev/null 2>&1 &
        client=$!
        ok "$who: a command runs" soon busy
        victim=$(pgrep -f "session run $S -n -- sh -c" | tail -n 1)
        started() { in_s -- test -s /tmp/pid; }
        ok "$who: and has begun" soon started
        kill -9 "$victim"
        wait $client 2>/dev/null
        ok "$who: it ends with its client" soon idle
        ended() { ! in_s -- sh -c 'kill -0 $(cat /tmp/pid)'; }
        ok "$who: in the box as well" soon ended
        has "$who: a client with fewer descriptors is another" "$(in_s_with 40 -- echo here 2>&1)" "resource limits"
        is "$who: 100 commands leave none behind" "$(before_fds=$(find "/proc/$keeper/fd" | wc -l)
                for _ in $(seq 100); do in_s -- true || echo failed; done; soon idle
                [ "$(find "/proc/$keeper/fd" | wc -l)" -le $((before_fds + 2)) ] && echo same)" same

        # Commands share the box: files, processes, its network. What another user of the box could do is possible here; the walls
        # are the same for all.
        in_s -- sh -c 'echo trap >/tmp/trap; (while :; do pkill -9 -x cat; sleep 0.01; done) >/dev/null 2>&1 & echo $! >/tmp/killer'
        is "$who: what one left behind can kill the next" "$(status in_s -T -- sh -c 'mkfifo /tmp/q$$; exec cat /tmp/q$$')" 137
        in_s -- sh -c 'kill -9 $(cat /tmp/killer)'
        is "$who: and not the session" "$(in_s -- echo on)" on
        is "$who: a fork bomb is ended with the session" "$(in_s --time 1s -- sh -c ':(){ :|:& };:' >/dev/null 2>&1; run session end "$S" >/dev/null 2>&1; ended() { gone "$keeper"; }; soon ended && echo ended)" ended

        # kill -9 of the keeper.
        id=$(run session new "$S")
        keeper=${id%%-*}
        $who "$CORDON" session run "$S" -n -- sleep 5555 >/dev/null 2>"$T/said" &
        client=$!
        ok "$who: another command" soon busy
        payload=$(pgrep -f '^sleep 5555')
        kill -9 "$keeper"
        wait $client
        is "$who: the command ends with its session" "$?" 137
        dead() { for p in $payload; do gone "$p" || return 1; done; }
        ok "$who: really" soon dead
        is "$who: the session is not listed" "$(run session ls --json | jq -r --arg n "$S" '.[] | select(.name == $n)')" ""
        is "$who: its name is free" "$(run session new "$S" >/dev/null && run session end "$S" && echo free)" free
        id=$(run session new "$S")
        kill -TERM "${id%%-*}"
        over() { [ "$(run log --run "$id" --json | jq -r 'select(.kind == "end").result')" = "exited 0" ]; }
        ok "$who: SIGTERM ends it in order, with its record" soon over
done
# Another user.
if [ "$(id -u)" -eq 0 ]; then
        id=$("$CORDON" session new "x$$")
        hasnt "another user does not see it" "$(as_user "$CORDON" session ls --json)" "$id"
        is "cannot run in it" "$(status as_user "$CORDON" session run "$id" -n -- true)" 125
        is "cannot end it" "$(status as_user "$CORDON" session end "$id")" 125
        is "gets no answer from its socket" "$(as_user env COMMANDS="3 10 8 4 12" timeout -k 5 60 python3 "$here/helpers/session_peer.py" 0 "$id" 2>&1 | tail -n 1)" "no answer to a join"
        # One that answers in its place is not believed.
        posed=$(printf '1-1-%016x' $$)
        as_user python3 -c '
import socket, sys, time
s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.bind("\0cordon/0/" + sys.argv[1]); s.listen(8); print("bound", flush=True)
s.settimeout(60)
while True:
    s.accept()' "$posed" >"$T/bound" 2>/dev/null &
        fake=$!
        bound() { grep -q bound "$T/bound"; }
        soon bound
        is "one that poses as a session gets no command" "$(status timeout -k 5 60 "$CORDON" session run "$posed" -n -- true)" 125
        kill "$fake"
        is "it still takes commands of its own" "$("$CORDON" session run "$id" -n -- echo here)" here
        "$CORDON" session end "$id"
else
        skip "another user" "only root can become one"
fi
ok "no control group is left" none_left
done_testing
