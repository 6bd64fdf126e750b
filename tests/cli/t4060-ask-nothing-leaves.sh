#!/bin/sh
# Nothing leaves before a person has answered: no DNS query, no connection, no TLS hello, no byte. A table of doors that ask, and of
# clients behind them; the lab's name server and the watcher of its link say what left. With a no nothing ever leaves.
# shellcheck disable=SC2016
. "$(dirname "$0")/lib-net.sh"
here=$(cd "$(dirname "$0")" && pwd)
approver="python3 $here/helpers/approver.py"
cp "$here/helpers/ws_client.py" "$T/ws.py" && chmod 644 "$T/ws.py" && chmod 755 "$T"
printf 'place shop live http://web.test/v1/\n' >"$T/places"
trust_lab && tls=yes
export XDG_CONFIG_HOME="$T/config"
printf 'foreign\n' >"$T/foreign"

# Each row: name | doors | the client. ~ stands for a space in an argument.
table() {
        cat <<'ROWS'
plain host|--net web.test:80~ask|curl -sS -m 40 http://web.test/a
wildcard|--net *.wild.test:80~ask|curl -sS -m 40 http://deep.sub.wild.test/a
wildcard beside one for a port that does not ask|--net *.wild.test:8000~ask --net web.test:80|curl -sS -m 40 http://sub.wild.test:8000/a
raw address|--net 11.22.33.44:80~ask|curl -sS -m 40 http://11.22.33.44/a
raw address of IPv6|--net [2a00:1111::44]:80~ask|curl -sS -m 40 http://[2a00:1111::44]/a
URL|--net http://web.test/**~GET~ask|curl -sS -m 40 http://web.test/a
URL with a body|--net http://web.test/**~POST~ask|curl -sS -m 40 -d x=1 http://web.test/echo
body in chunks, and a wait for 100|--net http://web.test/**~POST~ask|curl -sS -m 40 -H Transfer-Encoding:~chunked -H Expect:~100-continue -d x=1 http://web.test/echo
HTTP/2 without TLS|--net http://web.test/**~GET~ask|curl -sS -m 40 --http2-prior-knowledge http://web.test/a
place|--places @T/places --net @shop/**~GET~ask|curl -sS -m 40 http://web.test/v1/a
credential|--net http://web.test/**~GET~with~shop-key~ask|curl -sS -m 40 http://web.test/a
WebSocket|--net http://web.test/**~WEBSOCKET~ask --read @T/ws.py|python3 @T/ws.py ws://web.test/ws talk:1
first|--net *.wild.test:80~ask~first|curl -sS -m 40 http://deep.sub.wild.test/a
labelled|--in mail~label~untrusted --handle mail=@T/foreign --net *.wild.test:80~ask~labelled|curl -sS -m 40 http://deep.sub.wild.test/a
labelled, plain|--in mail~label~untrusted --handle mail=@T/foreign --net web.test:80~ask~labelled|curl -sS -m 40 http://web.test/a
labelled, URL|--in mail~label~untrusted --handle mail=@T/foreign --net http://web.test/**~POST~ask~labelled|curl -sS -m 40 -d x=1 http://web.test/echo
two of three|--rule two --in mail~label~untrusted~private:mail --handle mail=@T/foreign --net *.wild.test:80~ask~labelled|curl -sS -m 40 http://deep.sub.wild.test/a
to declassify|--in mail~label~private:mail --handle mail=@T/foreign --net *.wild.test:80~declassify~private:mail~ask~labelled|curl -sS -m 40 http://deep.sub.wild.test/a
ROWS
        [ -z "${tls:-}" ] || cat <<'ROWS'
URL with TLS|--net https://web.test/**~GET~ask|curl -sS -m 40 https://web.test/a
HTTP/2|--net https://web.test/**~GET~ask|curl -sS -m 40 --http2 https://web.test/a
plain host with TLS|--net web.test:443~ask|curl -sS -m 40 https://web.test/a
ROWS
}
# arguments TEXT: one on each line
arguments() { printf '%s' "$1" | sed "s|@T|$T|g" | tr ' ' '\n' | tr '~' ' '; }
# ask DOORS CLIENT: in the background, until it is asked about
ask() {
        {
                arguments "$1"
                echo
                echo --
                arguments "$2"
                echo
        } >"$T/arguments"
        : >"$T/status"
        (
                set -f
                IFS='
'
                # shellcheck disable=SC2046
                set -- $(cat "$T/arguments")
                unset IFS
                timeout 60 "$CORDON" run --time 50s --status-fd 5 "$@" 5>"$T/status" >"$T/out" 2>"$T/err" </dev/null 9>&-
                echo $? >"$T/code"
        ) &
        WAITS=$!
        $approver --wait 1 view >"$T/shown"
}
left() { echo "$(lab_names)$(lab_packets)"; }

table >"$T/table"
n=0
while IFS='|' read -r name doors client <&7; do
        n=$((n + 1))
        export CORDON_STATE="$T/state-$n" # a person who approves so many so fast is slowed down
        printf %s vault-secret-17 | "$CORDON" vault add shop-key --env SHOP_KEY >"$T/vault" 2>&1 || fail "the vault takes a credential" "$(cat "$T/vault")"
        : >"$T/lab/dns.log"
        lab_anew
        ask "$doors" "$client"
        is "$name: asked" "$(jq -r '.ok' "$T/shown")" true
        is "$name: nothing has left" "$(left)" ""
        $approver no >/dev/null
        wait "$WAITS"
        is "$name: nor does after a no" "$(left) $(jq -r '[.denials[].reason] | unique | map(select(startswith("gate"))) | join(" ")' "$T/status")" " gate-denied"

        ask "$doors" "$client"
        $approver --tty yes challenge=typed >"$T/answer"
        wait "$WAITS"
        is "$name: approved, it goes on" "$(cat "$T/code") $(lab_packets | grep -c '^tcp ' | sed 's/[1-9][0-9]*/left/')" "0 left"
        [ "$(cat "$T/code")" = 0 ] || sed "s/^/# /" "$T/answer" "$T/err" "$T/out"
done 7<"$T/table"

# A credential for one use: a request that was not approved has not used it.
printf %s vault-secret-18 | "$CORDON" vault add once --env ONCE --max-uses 1 >/dev/null 2>&1
ask '--net http://web.test/**~GET~with~once~ask' 'sh -c for~i~in~1~2~3;~do~curl~-sS~-m~40~-o~/dev/null~-w~"%{http_code},"~http://web.test/$i;~done'
$approver no >/dev/null
$approver --wait 1 --tty yes challenge=typed >/dev/null
wait "$WAITS"
is "a no uses no credential, a yes does" "$(cat "$T/out") $(jq -r '[.denials[].reason] | unique - ["no-door"] | join(" ")' "$T/status")" "403,200,403, credential-used-up gate-denied"

# A denial by labels: not even the name.
: >"$T/lab/dns.log"
lab_anew
for door in web.test:80 '*.wild.test:80'; do
        box root --in 'mail label private:mail' --handle "mail=$T/foreign" --net "$door" -- sh -c 'curl -sS -m 20 http://web.test/a; curl -sS -m 20 http://sub.wild.test/a'
        is "$door: what labels deny does not even look its name up" "$(left)" ""
done
done_testing
