#!/bin/sh
# A hostile client of HTTP/2 in a box: what breaks the protocol, or would become another request on the way to a server of HTTP/1.1,
# ends there; floods end their connection; and the broker serves the next one. Each row is an attack and the first answer to it.
. "$(dirname "$0")/lib-net.sh"
ldd "$CORDON_LIBEXEC/cordon-egress" 2>/dev/null | grep -q nghttp2 || { skip "HTTP/2" "this build has no libnghttp2"; done_testing; }
/usr/bin/python3 -c 'import hpack' 2>/dev/null || { skip "HTTP/2" "python3-hpack is not installed"; done_testing; }
cp "$(dirname "$0")/helpers/h2_attacks.py" "$T/attacks.py" && chmod 644 "$T/attacks.py"
rows='plain status 200
path-crlf reset
path-space reset
path-twice reset
path-missing reset
path-empty reset
path-other status 403
path-dots status 421
path-absolute reset
method-crlf reset
method-twice reset
connect status 501
extended-connect reset
scheme-other status 421
authority-other status 421
authority-user status 421
host-other status 400
host-same status 200
host-twice reset
pseudo-late reset
pseudo-unknown reset
name-upper reset
name-colon reset
name-empty reset
value-crlf reset
value-nul reset
connection reset
transfer-encoding reset
upgrade reset
te-gzip reset
length-twice reset
length-short reset
length-long reset
length-minus reset
method-override status 400
push goaway
even-stream goaway
priority-self goaway
window-zero (reset|goaway)
window-overflow goaway
data-first goaway
frame-huge (closed|goaway)
hpack-index goaway
hpack-table goaway
many-fields status 431
hpack-bomb status 431
continuation-flood (closed|goaway)
continuation-other (closed|goaway)
head-too-long status 431
rapid-reset (closed|goaway)
streams (reset 7|status 200)
ping-flood (closed|goaway)
settings-flood (closed|goaway)
preface-wrong closed'
names=$(printf '%s\n' "$rows" | cut -d ' ' -f 1)
for who in root as_user; do
        lab_anew
        # shellcheck disable=SC2086
        box $who --read "$T/attacks.py" --net 'http://web.test/ok/** GET POST' -- /usr/bin/python3 "$T/attacks.py" web.test 80 $names plain
        is "$who: every attack has its answer" "$status" 0
        printf '%s\n' "$rows" | while read -r name want; do
                grep -m 1 "^$name " "$T/out" | grep -Eq "^$name $want( |\$)" || echo "$(grep -m 1 "^$name " "$T/out"), not $want"
        done >"$T/wrong"
        is "$who: and it is this one" "$(cat "$T/wrong")" ""
        is "$who: the broker still serves" "$(tail -n 1 "$T/out")" "plain status 200"
        is "$who: malformed streams are reported" "$(jq -r '[.net.destinations[] | select(.reason == "http2-malformed")] | length' <"$T/status")" 1
        is "$who: and it lives to the end" "$(json .net.broker)" "done"

        # A field of 4 KB that is named by one byte forty times: what leaves is counted, not what came.
        box $who --limit 'egress 32K' --read "$T/attacks.py" --net 'http://web.test/ok/** GET POST' -- /usr/bin/python3 "$T/attacks.py" web.test 80 hpack-leaves
        is "$who: fields that HPACK names by a byte are paid whole" "$(json '.limits_hit | join(" ")')" egress
        is "$who: and no more leaves than the limit" "$(jq '[.net.destinations[].sent] | add <= 32768' <"$T/status")" true
done
done_testing
