#!/bin/sh
# WebSockets through doors that name them: they work, with and without TLS, no other door opens them, and `until` cuts those that
# are open, whether they talk, listen or are silent. Ends are on full minutes: this test waits for one.
# shellcheck disable=SC2016,SC2317
. "$(dirname "$0")/lib-net.sh"
cp "$(dirname "$0")/helpers/ws_client.py" "$T/ws.py" && chmod 644 "$T/ws.py"
now=$(date +%s)
closes=$(((now / 60 + 1) * 60))
[ $((closes - now)) -ge 20 ] || closes=$((closes + 60))
end=$(date -u -d "@$closes" +%Y-%m-%dT%H:%MZ)
# ws NAME WHO URL MODE...: a client in a box with the doors of $T/NAME
ws() {
        name=$1 who=$2
        shift 2
        : >"$T/$name.status" && chmod 666 "$T/$name.status"
        $who timeout 150 "$CORDON" run --status-fd 5 -p "$T/$name" -- python3 "$T/ws.py" "$@" 5>"$T/$name.status" >"$T/$name.out" 2>"$T/$name.err" </dev/null 9>&-
}
# doors NAME LINE...: its policy
doors() {
        name=$1
        shift
        { printf 'use base/system\nread %s\n' "$T/ws.py" && printf '%s\n' "$@"; } >"$T/$name" && chmod 644 "$T/$name"
}
# of NAME URL FIELD: of the line about one WebSocket
of() { grep -F "$2 " "$T/$1.out" | tr ' ' '\n' | sed -n "s/^$3=//p"; }

schemes="ws:http"
if trust_lab; then schemes="ws:http wss:https"; else skip "wss" "this host has no file of roots"; fi
: >>"$T/lab/ws.log"
pids=
for who in root as_user; do
        for s in $schemes; do
                n="$who-${s%:*}"
                doors "$n" "net ${s#*:}://web.test/talk/$n WEBSOCKET until $end" "net ${s#*:}://web.test/push/$n WEBSOCKET until $end" \
                        "net ${s#*:}://web.test/idle/$n WEBSOCKET until $end" "net ${s#*:}://web.test/free/$n WEBSOCKET"
                ws "$n" $who "${s%:*}://web.test/talk/$n" talk "${s%:*}://web.test/push/$n" listen "${s%:*}://web.test/idle/$n" idle \
                        "${s%:*}://web.test/free/$n" "talk:$((closes + 4 - $(date +%s)))" &
                pids="$pids $!"
        done
done
# --- meanwhile: only by its name ---
for who in root as_user; do
        for s in $schemes; do
                doors "some-$who" "net ${s#*:}://web.test/**"
                ws "some-$who" $who "${s%:*}://web.test/x" talk
                has "$who: a ${s#*:} door without WEBSOCKET opens none" "$(cat "$T/some-$who.out")" "refused HTTP/1.1 403"
                is "$who: and the server hears nothing of it" "$(grep -c ' /x ' "$T/lab/ws.log")" 0
                doors "one-$who" "net ${s%:*}://web.test/only" # = http(s)://web.test/only WEBSOCKET
                ws "one-$who" $who "${s%:*}://web.test/only" talk:1 "${s%:*}://web.test/other" talk
                is "$who: a ${s#*:} door that names it opens its path" "$(of "one-$who" "${s%:*}://web.test/only" end)" ended
                has "$who: and no other" "$(cat "$T/one-$who.out")" "${s%:*}://web.test/other refused HTTP/1.1 403"
        done
        doors "past-$who" "net http://web.test/talk WEBSOCKET until 2001-01-01T00:00Z"
        ws "past-$who" $who ws://web.test/talk talk
        hasnt "$who: one that closed long ago opens nothing" "$(cat "$T/past-$who.out")" frames
done
for p in $pids; do wait "$p"; done
ok "the doors have closed" test "$(date +%s)" -ge "$closes"
for who in root as_user; do
        for s in $schemes; do
                n="$who-${s%:*}"
                for mode in talk push idle; do
                        u="${s%:*}://web.test/$mode/$n"
                        is "$n: a WebSocket that is open is cut when its door closes ($mode)" "$(of "$n" "$u" end)" cut
                        at=$(of "$n" "$u" at)
                        ok "$n: at that time and not before ($mode: $at, $closes)" test "${at%.*}" -ge $((closes - 1)) -a "${at%.*}" -le $((closes + 5))
                        is "$n: and no other begins ($mode)" "$(of "$n" "$u" again)" 403
                done
                ok "$n: until then it worked" test "$(of "$n" "${s%:*}://web.test/talk/$n" frames)" -ge 10
                ok "$n: the server's words came through, too" test "$(of "$n" "${s%:*}://web.test/push/$n" frames)" -ge 10
                is "$n: no frame arrives after that" "$(awk -v at=$((closes + 2)) -v p="/talk/$n" '$2 == p && $3 == "frame" && $1 > at' "$T/lab/ws.log" | wc -l)" 0
                overs() { [ "$(grep -c -e "/talk/$n over" -e "/push/$n over" -e "/idle/$n over" "$T/lab/ws.log")" -ge 3 ]; }
                soon overs
                is "$n: the server sees the end of each" "$(grep -c -e "/talk/$n over" -e "/push/$n over" -e "/idle/$n over" "$T/lab/ws.log")" 3
                is "$n: a door without an end stays open beside them" "$(of "$n" "${s%:*}://web.test/free/$n" end)" ended
                ok "$n: and goes on talking" test "$(awk -v at=$((closes + 2)) -v p="/free/$n" '$2 == p && $3 == "frame" && $1 > at' "$T/lab/ws.log" | wc -l)" -ge 3
                has "$n: it is told" "$(jq -r '[.net.destinations[] | select(.verdict == "deny") | .why] | join(" ")' <"$T/$n.status")" 'door expired (`until`)'
        done
done
done_testing
