#!/bin/sh
# `cordon approve` at a terminal (tmux), `listen` doors, groups, decoys, and boxes that try to answer for themselves.
# alone: `cordon approve` asks about all boxes of this user, also about those of other tests.
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
cp "$here/helpers/approver.py" "$T/approver.py" && chmod 644 "$T/approver.py"
approver="python3 $T/approver.py"
begin() { # ARGUMENT...
        : >"$T/status"
        (timeout 60 "$CORDON" run --time 40s --status-fd 5 "$@" 5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&-) &
        WAITS=$!
}
end() { wait "$WAITS"; }
pending() { "$CORDON" approve --json | jq '.items | length'; }

# ---- a box cannot answer ----
begin --net 'http://web.test/** POST ask within 5s' -- sh -c 'echo BEGAN; curl -sS -o /dev/null -d a=1 http://web.test/ & sleep 1; grep -c @cordon-gate /proc/net/unix; python3 -c "
import socket
s = socket.socket(socket.AF_UNIX)
for u in (0, 65533):
    try:
        s.connect(chr(0) + \"cordon-gate/%d/$RUN\" % u); print(\"REACHED\")
    except OSError as e:
        print(e.strerror)
"; wait'
end
never "a box sees no socket of approvers" "$(cat "$T/out")" REACHED

# ---- cordon approve at a terminal ----
if command -v tmux >/dev/null; then
        S="tmux -S $T/tmux"
        begin --net 'http://web.test/** POST ask' -- sh -c 'curl -sS -o /dev/null -w "%{http_code} " -d a=1 http://web.test/one; curl -sS -o /dev/null -w "%{http_code}" -d a=2 http://web.test/two'
        soon sh -c '[ "$("$CORDON" approve --json | jq ".items | length")" = 1 ]'
        $S -f /dev/null new-session -d -x 120 -y 40 "CORDON_STATE='${CORDON_STATE:-}' '$CORDON' approve; sleep 30" 9>&-
        screen() { $S capture-pane -p; }
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q 'approve?'"
        has "the effect is on the screen" "$(screen)" "POST http://web.test/one"
        $S send-keys w
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q 'nothing has been sent'"
        has "w explains" "$(screen)" "exactly these bytes are sent"
        $S send-keys a
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q '^+ net'"
        has "a prints a change of the policy, and approves nothing" "$(screen)" "+ net http://web.test/** POST"
        is "it still waits" "$(pending)" 1
        $S send-keys y
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q '^approved'"
        soon sh -c '"$CORDON" approve --json | grep -q /two'
        "$CORDON" approve --deny "$("$CORDON" approve --json | jq -r '.items[0].id')" --reason "not this one" >/dev/null 9>&-
        end
        is "one key approves one, --deny denies the next" "$(cat "$T/out")" "200 403"
        has "the reason is in the record" "$("$CORDON" ledger --kind gate --json | grep denied | tail -n 1)" "not this one"
        $S kill-server 2>/dev/null

        begin --net 'http://web.test/** POST ask vary path' -- sh -c 'for i in 1 2 3; do curl -sS -o /dev/null -w "%{http_code} " -d a=1 http://web.test/$i; done'
        soon sh -c '[ "$("$CORDON" approve --json | jq ".items | length")" = 1 ]'
        $S -f /dev/null new-session -d -x 120 -y 40 "CORDON_STATE='${CORDON_STATE:-}' '$CORDON' approve; sleep 30" 9>&-
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q 'approve?'"
        $S send-keys u
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q 'how many'"
        $S send-keys 2 Enter
        soon sh -c '"$CORDON" approve --json | grep -q /3'
        "$CORDON" approve --deny "$("$CORDON" approve --json | jq -r '.items[0].id')" >/dev/null 9>&-
        end
        is "u approves so many like ones, and the next asks" "$(cat "$T/out")" "200 200 403 "
        $S kill-server 2>/dev/null

        begin --net 'http://web.test/** POST touches money cap 9/h ask' -- curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/pay
        soon sh -c '[ "$("$CORDON" approve --json | jq ".items | length")" = 1 ]'
        digits=$("$CORDON" approve --json | jq -r '.items[0].id' | tail -c 5)
        $S -f /dev/null new-session -d -x 120 -y 40 "CORDON_STATE='${CORDON_STATE:-}' '$CORDON' approve; sleep 30" 9>&-
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q 'approve?'"
        $S send-keys y
        soon sh -c "tmux -S $T/tmux capture-pane -p | grep -q 'the last 4 digits'"
        hasnt "a high risk asks for the digits, and refuses nothing before" "$(screen)" "not taken"
        $S send-keys Enter
        soon sh -c "[ \"\$(tmux -S $T/tmux capture-pane -p | grep -c 'the last 4 digits')\" = 2 ]"
        $S send-keys "$digits" Enter
        end
        is "an Enter is no answer, the digits are" "$(cat "$T/out")" 200
        $S kill-server 2>/dev/null
else
        skip "cordon approve at a terminal" "tmux is not installed"
fi
is "without a terminal it says so" "$("$CORDON" approve ls)" "no pending approvals"

# ---- high risk, batch ----
printf 'use base/system\nnet http://web.test/** POST touches money cap 9/h ask vary path\n' >"$T/p"
begin -p "$T/p" -- sh -c 'for i in 1 2 3; do curl -sS -o /dev/null -w "%{http_code} " -d a=1 http://web.test/$i & done; wait'
is "high risk: without the digits no yes" "$($approver --wait 3 --tty yes | jq -r .code)" challenge
ids=$($approver list | jq -c '[.items[].id]')
for id in $(printf '%s' "$ids" | jq -r '.[]'); do $approver show "id=\"$id\"" >/dev/null; done
all=$(printf '%s' "$ids" | jq -j '.[]' | sha256sum | cut -c 61-64)
is "a batch is of like effects, with digits of its own" "$($approver --tty answer "ids=$ids" yes=true "challenge=\"$all\"" | jq -r .code)" decided
end
is "all three left" "$(cat "$T/out")" "200 200 200 "

# ---- listen ----
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
printf 'use base/system\nuse base/python3\nlisten %s ask within 20s\n' "$port" >"$T/p"
begin -p "$T/p" -- python3 -c "
import socket
s = socket.create_server(('127.0.0.1', $port)); print('READY', flush=True)
c, _ = s.accept(); c.sendall(b'hello\n'); c.close()"
soon grep -q READY "$T/out"
(timeout 20 python3 -c "
import socket
print(socket.create_connection(('127.0.0.1', $port)).recv(99).decode())" >"$T/client" 9>&-) &
client=$!
is "a connection to a listen door asks" "$($approver --wait 1 list | jq -r '.items[0].effect')" "a connection to port $port of this host, for the box's port $port"
$approver --tty yes >/dev/null
wait $client
end
is "approved, it connects" "$(head -n 1 "$T/client")" hello

# ---- before the start: run and sock ----
printf 'use base/system\nrun echo ask within 20s\n' >"$T/p"
begin -p "$T/p" -- echo hello
is "a run door with ask shows the command" "$($approver --wait 1 view | jq -r .text | head -n 1)" "start echo hello"
is "and its kind" "$($approver view | jq -r .envelope.kind)" run
is "nothing runs meanwhile" "$(cat "$T/out")" ""
$approver --tty yes >/dev/null
end
is "approved, it runs" "$(cat "$T/out")" hello
has "recorded before it starts" "$("$CORDON" ledger --kind gate | tail -n 1)" ": consumed"
begin -p "$T/p" -- echo hello
$approver --wait 1 no >/dev/null
end
has "denied, the box does not start" "$(cat "$T/out" "$T/err")" "was not approved, so the box does not start"
printf 'use base/system\nrun echo ask within 1s\n' >"$T/p"
begin -p "$T/p" -- echo hello
end
has "nor if nobody answers" "$(cat "$T/out" "$T/err")" "was not approved, so the box does not start"
printf 'use base/system\nrun echo ask\n' >"$T/p"
begin -p "$T/p" -- echo hello
$approver --wait 1 list >/dev/null
kill -TERM "$(pgrep -f "cordon run --time 40s --status-fd 5 -p $T/p" | tail -n 1)"
end
is "a signal ends the wait" "$(cat "$T/out")" ""
printf 'use base/system\nsock %s ask within 20s\n' "$T/sock" >"$T/p"
(timeout 20 python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.bind('$T/sock'); s.listen(); s.accept()[0].sendall(b'hi')" 9>&-) &
soon test -S "$T/sock"
begin -p "$T/p" -- python3 -c "
import socket
s = socket.socket(socket.AF_UNIX); s.connect('$T/sock'); print(s.recv(9).decode())"
is "a sock door asks too" "$($approver --wait 1 view | jq -r .envelope.kind)" socket
$approver --tty yes >/dev/null
end
is "and opens for the run" "$(cat "$T/out")" hi

# ---- two persons ----
if [ "$CORDON_LAB" = root ] && setpriv --reuid=1 --clear-groups true 2>/dev/null; then
        # shellcheck disable=SC2086
        member() { uid=$1; shift; PATH=/usr/bin:/bin setpriv --reuid="$uid" --clear-groups $approver "$@" 2>&1 | jq -r .code; }
        { cat /etc/group; echo 'gaters:x:64999:first,second'; } >"$T/group"
        { cat /etc/passwd; printf 'first:x:60001:60001::/:/bin/sh\nsecond:x:60002:60002::/:/bin/sh\n'; } >"$T/passwd"
        mount --bind "$T/group" /etc/group && mount --bind "$T/passwd" /etc/passwd
        begin --net 'http://web.test/** POST ask by 2 of gaters within 30s' -- curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/
        is "the user of the box is not asked" "$($approver --wait 1 --tty yes | jq -r .code)" not-approver
        is "one member is not enough" "$(member 60001 yes)" counted
        is "and counts once" "$(member 60001 yes)" voted
        is "a stranger is not heard" "$(member 60003 yes)" nothing
        is "the second lets it go" "$(member 60002 yes)" decided
        end
        is "and it leaves" "$(cat "$T/out")" 200
        cp "$here/../../contrib/approve-by-file.py" "$T/by-file.py" && mkdir -m 777 "$T/desk"
        begin --net 'http://web.test/** POST ask by 1 of gaters within 30s' -- curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/
        $approver --wait 1 list >/dev/null
        python3 -c '
import http.server, sys
class Hook(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        open(sys.argv[1] + "/posted", "wb").write(body)
        self.send_response(204)
        self.end_headers()
    def log_message(self, *words):
        pass
s = http.server.HTTPServer(("127.0.0.1", 0), Hook)
s.timeout = 20
open(sys.argv[1] + "/port.new", "w").write(str(s.server_port))
import os
os.rename(sys.argv[1] + "/port.new", sys.argv[1] + "/port")
s.handle_request()' "$T" &
        hook=$!
        soon test -e "$T/port"
        PATH=/usr/bin:/bin setpriv --reuid=60001 --clear-groups python3 "$T/by-file.py" --once "$T/desk" "http://127.0.0.1:$(cat "$T/port")/"
        wait $hook
        is "a webhook gets what waits, with its id" "$(jq -r .item.effect "$T/posted")" "POST http://web.test/"
        for f in "$T"/desk/*.json; do echo "as agreed" >"${f%.json}.yes"; done
        chmod 666 "$T"/desk/*.yes
        has "by file: what waits is a file, and a file answers" "$(PATH=/usr/bin:/bin setpriv --reuid=60001 --clear-groups python3 "$T/by-file.py" --once "$T/desk")" "yes approved"
        end
        is "and it leaves, too" "$(cat "$T/out")" 200
        umount /etc/group /etc/passwd
else
        skip "two persons" "needs root"
fi

# ---- decoys ----
ok "decoys are turned on" "$CORDON" approve decoys on
is "and said" "$("$CORDON" approve stats --json | jq .decoys)" true
kept=${CORDON_STATE:?}/gate/decisions
for i in $(seq 49); do echo "{\"at\":$i,\"uid\":0,\"read_ms\":90000,\"chars\":100,\"template\":$i,\"yes\":true,\"decoy\":false,\"id\":\"$i\",\"door\":\"net a:1 ask\",\"effect\":\"\",\"reason\":\"\"}"; done >"$kept"
begin --net 'http://web.test/** POST ask' -- curl -sS -o /dev/null -w '%{http_code}' -d a=1 http://web.test/
is "every fiftieth prompt has a decoy beside it" "$($approver --wait 2 list | jq -r '[.items[].effect] | sort | join(" ")')" "POST http://web.test/ POST https://collector.invalid/"
decoy=$($approver list | jq -r '.items[] | select(.effect | contains("collector")) | .id')
$approver show "id=\"$decoy\"" >/dev/null
is "a yes to it is told" "$($approver --tty answer "id=\"$decoy\"" yes=true | jq -r .decoy)" true
is "and counts as a miss" "$("$CORDON" approve stats --json | jq '.persons[0].decoy_misses')" 100
$approver --tty yes >/dev/null
end
is "the other is a request like any" "$(cat "$T/out")" 200
has "doctor names the layer" "$("$CORDON" doctor --json | jq -r '.[] | select(.layer == "approvals") | .state')" weak
has "and metrics have the figures" "$("$CORDON" ledger export --format prometheus)" 'cordon_approve_median_seconds{uid='
is "a gate that nobody denied for 90 days is proposed" "$("$CORDON" approve stats --json | jq '.gates[] | select(.door == "net a:1 ask") | .stale')" true
ok "and off" "$CORDON" approve decoys off

# ---- a person who hurries ----
past() { for i in $(seq 40); do echo "{\"at\":$i,\"uid\":0,\"read_ms\":$([ "$i" -le 20 ] && echo "$1" || echo "$2"),\"chars\":300,\"template\":$i,\"yes\":true,\"decoy\":false,\"id\":\"$i\",\"door\":\"net a:1 ask\",\"effect\":\"\",\"reason\":\"\"}"; done >"$kept"; }
past 25000 11000
has "twice as fast for as much text is an alarm" "$("$CORDON" approve stats)" "lately 14.0s faster
  alarm: twice as fast as before"
is "before any answer was too fast" "$("$CORDON" approve stats --json | jq -c '.persons[0] | [.hurries, .flagged]')" "[true,false]"
has "doctor counts it" "$("$CORDON" doctor --json | jq -r '.[] | select(.layer == "approvals") | .detail')" "1 twice as fast as before"
past 25000 24000
hasnt "a steady reader gets none" "$("$CORDON" approve stats)" alarm
past 0 0
has "times are in tenths of a second" "$("$CORDON" approve stats)" "half within 0.1s, nine in ten within 0.1s; lately as before"
done_testing
