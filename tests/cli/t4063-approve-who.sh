#!/bin/sh
# Who may answer what: each kind of effect that waits, and each process that could try to answer it, with a terminal and without. No box
# answers, whatever its wall, nor a confined process of its user, nor another user, nor the process that started it without a person at a
# terminal; then a person does. Over HTTP and MCP: t4064.
# shellcheck disable=SC2016,SC2034,SC2317
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
compile confine
mkdir "$T/look" && chmod 755 "$T/look"
cp "$here/helpers/approver.py" "$here/helpers/mcp_evil.py" "$here/helpers/agent_client.py" "$T/look" && chmod 644 "$T/look"/*
approver="python3 $T/look/approver.py"
cd "$T" || exit 1

# ---- what waits: each begins something, in the background; `went` afterwards says whether it happened ----
start() { # POLICY-LINES COMMAND...: a run of which a part waits
        printf 'use base/system\nuse base/python3\n%s\nread %s\n' "$1" "$T/look" >"$T/p"
        shift
        (timeout 400 "$CORDON" run -q --time 300s -p "$T/p" --cwd / -- "$@" >"$T/out" 2>"$T/err" </dev/null 9>&-) &
        began=$!
}
# The box of a request tries to answer its own, as soon as it is given the name of its socket.
what_request() {
        start 'net http://web.test/** POST ask' sh -c 'curl -sS -d a=1 http://web.test/one & for i in $(seq 2000); do [ ! -e "$0/at" ] || break; sleep 0.1; done; python3 "$0/approver.py" --tty --at "$(cat "$0/at")" yes; wait' "$T/look"
}
what_connection() { start 'net web.test:7001 ask' python3 -c 'import socket; s = socket.create_connection(("web.test", 7001)); s.sendall(b"a"); s.shutdown(1); s.recv(9); print("went")'; }
what_run() { start 'run echo ask' echo went; }
what_sock() {
        rm -f "$T/sock"
        (timeout 400 python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.bind('$T/sock'); s.listen(); s.accept()[0].sendall(b'went')" 9>&-) &
        soon test -S "$T/sock"
        start "sock $T/sock ask" python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.connect('$T/sock'); print(s.recv(9).decode())"
}
what_listen() {
        port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
        start "listen $port ask" python3 -c "
import socket
s = socket.create_server(('127.0.0.1', $port)); print('READY', flush=True)
c, _ = s.accept(); print(c.recv(9).decode())"
        soon grep -q READY "$T/out"
        (timeout 400 python3 -c "
import socket
socket.create_connection(('127.0.0.1', $port)).sendall(b'went')" 9>&-) &
}
what_renew() {
        "$CORDON" run -q -d --name "who$$" --limit 'time 400s renew 3 ask' -- sleep 1000 >/dev/null 9>&-
        soon "$CORDON" ps "who$$"
        (timeout 400 "$CORDON" session renew "who$$" >"$T/out" 2>"$T/err" </dev/null 9>&-; sed -i 's/^.*renewals after this.*$/went/' "$T/out") &
        began=$!
}
what_apply() {
        rm -rf "$T/proj" && mkdir "$T/proj"
        printf 'use base/system\nedit %s ask\n' "$T/proj" >"$T/p"
        "$CORDON" run -q -p "$T/p" --cwd "$T/proj" --status-fd 5 -- sh -c 'echo x >new' 5>"$T/status" 2>/dev/null </dev/null 9>&-
        (timeout 400 "$CORDON" apply "$(jq -r .work.layer "$T/status")" >"$T/out" 2>"$T/err" </dev/null 9>&-; [ ! -e "$T/proj/new" ] || echo went >>"$T/out") &
        began=$!
}
what_session() {
        printf 'use base/system\nrun echo ask\n' >"$T/p"
        (timeout 400 "$CORDON" session new -p "$T/p" "who$$" >"$T/out" 2>"$T/err" </dev/null 9>&-; ! "$CORDON" session run -q "who$$" -- echo went >>"$T/out" 2>/dev/null </dev/null 9>&-) &
        began=$!
}
what_tool() {
        (timeout 400 python3 -c "
import sys
sys.path.insert(0, '$here/helpers')
from mcp_client import Client
evil = '$T/look/mcp_evil.py'
c = Client(['$CORDON', 'mcp', 'wrap', '--name', 'who$$', '--tool', 'echo ask', '--read', evil, '--', 'python3', evil, 'benign'], modern=False)
c.request('tools/list')
print(c.call('echo', text='went')['content'][0]['text'])
c.end()" >"$T/out" 2>"$T/err" </dev/null 9>&-) &
        began=$!
}
what_key() { start 'sign ssh:who ask' sh -c 'python3 "$0/agent_client.py" "$SSH_AUTH_SOCK" many 1 | sed "s/^1 0$/went/"' "$T/look"; }
went() { grep -c -e went -e 'POST /one' "$T/out"; }

# ---- who tries: each runs the words that follow, or ends with 99 where this host has no such thing ----
in_box() { "$CORDON" run -q --use base/system --use base/python3 --read "$T/look" --cwd / "$@" 2>/dev/null </dev/null 9>&-; }
who_box() { in_box -- "$@"; }
who_root_in_box() { in_box --root -- "$@"; }
who_process_wall() { "$CORDON" run -q --wall process -- true 2>/dev/null || return 99; in_box --wall process -- "$@"; }
who_labelled_box() { in_box --label untrusted -- "$@"; }
who_landlocked() { "$T/confine" landlock "$@" 2>/dev/null; }
who_filtered() { "$T/confine" seccomp "$@" 2>/dev/null; }
who_no_new_privs() { setpriv --no-new-privs "$@"; }
who_user_namespace() { [ "$CORDON_LAB" = root ] || return 99; unshare -Ur "$@"; }
who_mount_namespace() { unshare -m "$@"; }
who_network_namespace() { unshare -n "$@"; }
who_pid_namespace() { unshare -fp "$@"; }
who_other_user() { [ "$CORDON_LAB" = root ] || return 99; PATH=/usr/bin:/bin setpriv --reuid=60003 --clear-groups "$@"; }
who_starter() { "$@"; }

# Of each: its answer without a terminal, and with one. The user's own processes are told apart from its person by the terminal alone; what
# makes none has no second column.
cat >"$T/who" <<'W'
box               unreachable unreachable
root_in_box       unreachable -
process_wall      unreachable -
landlocked        closed closed
filtered          closed closed
no_new_privs      closed closed
user_namespace    closed closed
mount_namespace   closed closed
network_namespace unreachable unreachable
pid_namespace     closed closed
other_user        closed closed
starter           no-terminal -
W
whats="request connection run sock listen renew apply session tool"
if command -v ssh-agent >/dev/null && eval "$(ssh-agent -a "$T/agent")" >/dev/null; then
        at_end="kill $SSH_AGENT_PID"
        ssh-keygen -q -t ed25519 -N '' -C who -f "$T/key" && ssh-add -q "$T/key" && whats="$whats key"
else
        skip "use of a key" "no ssh-agent is installed"
fi

# answer WHO [--tty] [KEY=VALUE...]: what the socket says to a yes
answer() {
        who=$1
        shift
        said=$("who_$who" python3 "$T/look/approver.py" "$@" --at "$at" yes 2>/dev/null)
        [ $? -ne 99 ] || { echo none; return; }
        printf '%s' "$said" | tr -d '\r' | jq -r '.code // "nothing"' 2>/dev/null | tail -n 1
}
for what in $whats; do
        : >"$T/out"
        rm -f "$T/look/at"
        "what_$what"
        $approver --wait 1 list >"$T/list"
        run=$(jq -r '.items[0].run // ""' "$T/list" | head -n 1) id=$(jq -r '.items[0].id // ""' "$T/list" | head -n 1)
        [ -n "$run" ] || { fail "$what waits" "$(cat "$T/err")"; wait "$began"; continue; }
        at=cordon-gate/$(id -u)/$run
        while read -r who bare tty; do
                got=$(answer "$who")
                if [ "$got" = none ]; then
                        [ "$what" != run ] || skip "$who" "this host has no such process for us"
                        continue
                fi
                is "$what: $who is not heard" "$got" "$bare"
                [ "$tty" = - ] || is "$what: $who, with a terminal, is not heard" "$(answer "$who" --tty)" "$tty"
        done <"$T/who"
        if [ "$what" = request ]; then
                echo "$at" >"$T/look/at.new" && mv "$T/look/at.new" "$T/look/at"
                tried() { grep -q '"code"' "$T/out"; }
                ok "the box itself tries" soon tried
                is "its own request: it is not heard" "$(sed -n 's/.*"code": "\([a-z]*\)".*/\1/p' "$T/out")" unreachable
        fi
        is "$what: it still waits, and nothing has happened" "$($approver --at "$at" list | jq -r '.items[0].id') $(went)" "$id 0"
        is "$what: of several at once, too, no answer is taken" "$($approver --at "$at" answer "ids=[\"$id\"]" yes=true | jq -r .code)" no-terminal
        is "$what: a person at a terminal is heard" "$($approver --tty --at "$at" yes challenge=typed | tr -d '\r' | jq -r .code)" decided
        wait "$began"
        is "$what: then it happens" "$(went)" 1
        case $what in
        renew) "$CORDON" stop -k "who$$" ;;
        session) "$CORDON" session end "who$$" >/dev/null 2>&1 ;;
        esac
done

# ---- members of a group answer, and none of them is the user of the box ----
if [ "$CORDON_LAB" = root ] && setpriv --reuid=1 --clear-groups true 2>/dev/null; then
        { cat /etc/group; echo 'gaters:x:64999:first,root'; } >"$T/group"
        { cat /etc/passwd; printf 'first:x:60001:60001::/:/bin/sh\n'; } >"$T/passwd"
        mount --bind "$T/group" /etc/group && mount --bind "$T/passwd" /etc/passwd
        start 'run echo ask by 1 of gaters' echo went
        $approver --wait 1 list >"$T/list"
        at=cordon-gate/0/$(jq -r '.items[0].run' "$T/list")
        is "the user of the box is a member, and does not answer its own" "$(answer starter --tty)" not-approver
        is "nor does a stranger" "$(answer other_user --tty)" closed
        is "nor a box of the user" "$(answer box --tty)" unreachable
        mkdir -m 777 "$T/desk"
        cp "$here/../../contrib/approve-by-file.py" "$T/look/by-file.py" && chmod 644 "$T/look/by-file.py"
        python3 "$T/look/by-file.py" --once "$T/desk" >/dev/null 2>&1
        for f in "$T"/desk/*.json; do [ ! -e "$f" ] || echo "as agreed" >"${f%.json}.yes"; done
        hasnt "by file, nor does it" "$(python3 "$T/look/by-file.py" --once "$T/desk" 2>&1)" approved
        is "nothing has happened" "$(went)" 0
        is "another member answers" "$(PATH=/usr/bin:/bin setpriv --reuid=60001 --clear-groups python3 "$T/look/approver.py" --at "$at" yes | jq -r .code)" decided
        wait "$began"
        is "then it happens" "$(went)" 1
        umount /etc/group /etc/passwd
else
        skip "members of a group" "needs root"
fi

# ---- what does not wait has no question that anybody could answer ----
printf 'use base/system\nin doc max 1K ask\n' >"$T/p"
has "a handle does not ask: it is the caller's own" "$("$CORDON" check "$T/p" 2>&1)" "$T/p:2"
printf 'use base/system\nrule endorse x ask\n' >"$T/p"
has "nor does an endorsement: it is a bound of the policy" "$("$CORDON" check "$T/p" 2>&1)" "$T/p:2"
done_testing
