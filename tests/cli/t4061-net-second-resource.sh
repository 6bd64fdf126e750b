#!/bin/sh
# A header that names a second resource, which the server would read with the broker's credential: refused, told with the line that
# would open it, and let through with that line. The table of headers is in tests/unit/test_egress_named.c.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib-net.sh"
export XDG_CONFIG_HOME="$T/config"
printf %s vault-secret-17 | "$CORDON" vault add gh --env TOKEN >"$T/vault" 2>&1 || fail "the vault takes a credential" "$(cat "$T/vault")"
# put HEADER ARG...: a PUT with the header; the status that the client saw in $T/out
put() {
        header=$1
        shift
        box root "$@" -- curl -sS -m 30 -o /dev/null -w '%{http_code}' -X PUT -H "$header" http://web.test/in/a
}
reasons() { jq -r '[.denials[].reason] - ["no-door"] | unique | join(" ")' "$T/status"; }
door='http://web.test/in/** GET PUT with gh'
: >"$T/lab/auth.log"
lab_anew
put 'x-ms-copy-source: http://web.test/secret/b' --net "$door"
is "what no door opens is not copied from" "$(cat "$T/out") $(reasons)" "403 source-header"
line=$(jq -r '[.denials[] | select(.reason == "source-header") | .permit] | first' "$T/status")
has "the denial has the line that would open it" "$line" "http://web.test/secret/b GET with gh"
for header in 'x-amz-copy-source: /in/b' 'X-Copy-From-Account: other' 'x-vendor-copy-source: in/b'; do
        put "$header" --net "$door"
        is "$header: refused" "$(cat "$T/out") $(reasons)" "400 source-unclear"
done
put 'x-ms-copy-source: http://web.test/open/b' --net "$door" --net 'http://web.test/open/** GET'
is "a door without the credential does not open it" "$(cat "$T/out") $(reasons)" "403 source-header"
is "nothing of all that has left" "$(cat "$T/lab/auth.log")$(lab_packets)" ""
put 'x-ms-copy-source: http://web.test/secret/b' --net "$door" --net 'http://web.test/secret/b GET with gh'
is "with that line it goes" "$(cat "$T/out")" 200
put 'x-ms-copy-source: http://web.test/in/b' --net "$door"
is "as it does from behind its own door" "$(cat "$T/out")" 200
if curl --version | grep -q HTTP2; then
        box root --net "$door" -- curl -sS -m 30 --http2-prior-knowledge -o /dev/null -w '%{http_code}' -X PUT -H 'x-ms-copy-source: http://web.test/secret/b' http://web.test/in/a
        is "in HTTP/2 too" "$(cat "$T/out") $(reasons)" "403 source-header"
fi
done_testing
